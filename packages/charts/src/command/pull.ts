import { mkdir, stat, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { CommandError, defineCommand } from '@slipway/kube/command';

import { readArchive } from '../chart/archive.ts';
import { loadFiles } from '../chart/load.ts';
import { chartFlags, openRepositories, referenceTo } from './chart-flags.ts';
import { explained } from './release-flags.ts';

const notChecked = 'provenance files are not read; every archive is checked against the digest of its repository';

/** `slipway chart pull`. */
export const pullCommand = defineCommand({
  arguments: [
    {
      name: 'chart',
      summary: 'repository/name, oci://host/path/name, or a name with --repo',
      required: true,
      repeated: true,
    },
  ],
  flags: {
    ...chartFlags,
    destination: { type: 'string', short: 'd', value: 'folder', summary: 'where to put it', default: '.' },
    untardir: { type: 'string', value: 'folder', summary: 'where to unpack it, below --destination', perCall: true },
    untar: { type: 'boolean', summary: 'unpack it into a folder of its name' },
  },
  knownElsewhere: { '--prov': notChecked, '--verify': notChecked, '--keyring': notChecked },
  examples: [
    { line: 'slipway chart pull oci://registry.example.com/charts/web --version ^1.2' },
    { line: 'slipway chart pull web --repo https://charts.example.com --untar' },
  ],
  async run({ terminal, args, flags }) {
    await explained(async () => {
      await using repositories = await openRepositories(terminal, flags);
      const folder = resolve(terminal.cwd, flags.destination, (flags.untar && flags.untardir) || '.');
      for (const chart of args) {
        const { archive, fileName, digest } = await repositories.pull(referenceTo(chart, flags), terminal.signal);
        const target = flags.untar ? await unpack(archive, folder) : await save(archive, join(folder, fileName));
        terminal.out(`Pulled: ${chart}\nDigest: ${digest}\nFile: ${target}\n`);
      }
    });
  },
});

async function save(archive: Uint8Array, file: string): Promise<string> {
  // A chart that cannot be read is not worth a file.
  await loadFiles(await readArchive(archive));
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, archive);
  return file;
}

async function unpack(archive: Uint8Array, folder: string): Promise<string> {
  const files = await readArchive(archive);
  const { metadata } = await loadFiles(files);
  const target = join(folder, metadata.name);
  if (await stat(target).catch(() => undefined))
    throw new CommandError(`${target} is already there`, { hint: 'remove it, or choose another --destination' });
  for (const { name, data } of files) {
    const file = join(target, name);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, data);
  }
  return target;
}
