import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type CommandContext, systemClock, type Terminal } from '@slipway/kube/command';
import { expect, test } from 'vitest';

import { decryptFile } from '../decrypt-file.ts';
import { generateAgeKey } from '../keys/age-keys.ts';
import { encrypt } from '../sops-file.ts';
import { editCommand } from './edit.ts';

type Flags = NonNullable<typeof editCommand.flags>;

test('a mistake is told, and the editor that would cover it waits for Enter', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'sops-edit-'));
  try {
    const { identity, recipient } = await generateAgeKey();
    const path = join(folder, 'a.yaml');
    await writeFile(path, await encrypt('word: hunter2\n', { format: 'yaml', recipients: [recipient] }));
    const editor = join(folder, 'editor.mjs');
    const [broken, mended] = ['word: [', 'word: hunter3\n'].map((text) => JSON.stringify(text));
    await writeFile(
      editor,
      `import { readFileSync, writeFileSync } from 'node:fs';
       const path = process.argv[2];
       writeFileSync(path, readFileSync(path, 'utf8') === ${broken} ? ${mended} : ${broken});`,
    );
    const said: string[] = [];
    const env = { SOPS_AGE_KEY: identity, SOPS_EDITOR: `${process.execPath} ${editor}`, HOME: folder };
    const terminal = {
      err: (text: string) => said.push(text),
      askHidden: async (question: string) => void said.push(question),
      interactive: true,
      env,
      cwd: folder,
      clock: systemClock,
      signal: new AbortController().signal,
    } as unknown as Terminal;
    await editCommand.run!({ args: ['a.yaml'], flags: {}, terminal } as unknown as CommandContext<Flags>);
    expect(said).toEqual([expect.stringMatching(/^a\.yaml: not valid YAML.* opened again/), 'press Enter']);
    expect((await decryptFile(path, { env, home: folder })).toString()).toBe('word: hunter3\n');
    expect(await readFile(path, 'utf8')).toContain('ENC[');
  } finally {
    await rm(folder, { recursive: true });
  }
});
