import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { CommandError, defineCommand, type Terminal } from '@slipway/kube/command';

import { findAgeIdentities } from '../keys/key-lookup.ts';
import { decrypt, edit } from '../sops-file.ts';
import { explained, fileArgument, fileFlags, readSealedFile, replaceFile } from './sealed-file.ts';

/** `slipway sops edit`. */
export const editCommand = defineCommand({
  arguments: fileArgument,
  flags: { 'input-type': fileFlags['input-type'] },
  examples: [{ line: 'slipway sops edit env/secrets.yaml', comment: 'in $SOPS_EDITOR, $EDITOR or vi' }],
  async run({ terminal, args, flags }) {
    const file = await readSealedFile(terminal, args[0]!, flags['input-type']);
    const format = file.format.name;
    const identities = await explained(file.name, async () => await findAgeIdentities({ env: terminal.env }));
    const plain = await explained(file.name, async () => await decrypt(file.content, { format, identities }));
    // mkdtemp makes a folder that only its owner can enter.
    const folder = await mkdtemp(join(tmpdir(), 'slipway-sops-'));
    try {
      const copy = join(folder, basename(file.path));
      await writeFile(copy, plain, { mode: 0o600 });
      await openEditor(terminal, copy);
      const changed = await readFile(copy);
      if (changed.equals(plain)) {
        terminal.err(`${file.name}: nothing changed\n`);
        return;
      }
      const options = { format, identities, clock: terminal.clock };
      await replaceFile(file.path, await explained(file.name, async () => await edit(file.content, changed, options)));
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  },
});

async function openEditor(terminal: Terminal, path: string): Promise<void> {
  const [program = 'vi', ...args] = (terminal.env['SOPS_EDITOR'] ?? terminal.env['EDITOR'] ?? 'vi').split(/\s+/);
  const child = spawn(program, [...args, path], { stdio: 'inherit', env: { ...terminal.env } });
  const code = await new Promise<number | null>((done, fail) => {
    child.once('close', done).once('error', (cause) => {
      fail(new CommandError(`cannot start the editor ${program}`, { hint: 'set EDITOR', cause }));
    });
  });
  if (code !== 0)
    throw new CommandError(`the editor ${program} ended with ${String(code)}`, { hint: 'the file is as it was' });
}
