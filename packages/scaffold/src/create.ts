import { readdir, readFile } from 'node:fs/promises';
import { basename, join, relative, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { CommandError, exitCodes, type Terminal } from '@slipway/kube';

import { checkGroup, checkProjectName, kindNames, wrong } from './names.ts';
import { createProject } from './project.ts';

const help = `Begins a Kubernetes operator in TypeScript.

Usage: npm create slipway <folder> -- [options]

Options:
  --kind <Kind>      a kind it has; may be repeated (default: Website)
  --group <domain>   the API group of its kinds (default: example.org)
  --webhook          each kind gets a webhook that refuses
  --second-version   each kind gets a second version, with conversion
  --tarballs <dir>   take Slipway from tarballs (npm run pack in a clone) instead of the registry
  --help             print this

Examples:
  $ npm create slipway my-operator
  $ npm create slipway harbour -- --kind Boat --kind Pier --group sea.example.org --webhook
`;

/** `npm create slipway`: one command line, the exit code. */
export async function runCreate(
  argv: readonly string[],
  terminal: Pick<Terminal, 'out' | 'err' | 'cwd'>,
): Promise<number> {
  try {
    await create(argv, terminal);
    return exitCodes.ok;
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    terminal.err(`create-slipway: ${error.message}\n${error.hint ? `  ${error.hint}\n` : ''}`);
    return error.exitCode;
  }
}

async function create(argv: readonly string[], { out, cwd }: Pick<Terminal, 'out' | 'cwd'>): Promise<void> {
  const { values, positionals } = parsed(argv);
  if (values.help) {
    out(help);
    return;
  }
  const [given, ...others] = positionals;
  if (given === undefined || others.length > 0)
    throw wrong('say the one folder the operator begins in', 'npm create slipway my-operator');
  const folder = resolve(cwd, given);
  const name = checkProjectName(basename(folder));
  const kinds = (values.kind ?? ['Website']).map(kindNames);
  refuseTwins(kinds.map(({ kebab }) => kebab));
  const group = checkGroup(values.group ?? 'example.org');
  await refuseFilled(folder, given);
  await createProject(folder, {
    name,
    group,
    kinds,
    webhook: values.webhook ?? false,
    secondVersion: values['second-version'] ?? false,
    versions: values.tarballs === undefined ? await ownVersions() : await fromTarballs(resolve(cwd, values.tarballs)),
  });
  const kindsText = kinds.map(({ kind }) => kind).join(', ');
  out(`${name} with ${kindsText} is in ${relative(cwd, folder) || '.'}. Next:

  cd ${relative(cwd, folder) || '.'}
  npm install
  npm test
  npx slipway up --operator .
`);
  if (values.tarballs === undefined)
    out(
      '\nnpm install takes Slipway from the registry. Where it is not found there, begin again with --tarballs DIR (--help).\n',
    );
}

function parsed(argv: readonly string[]) {
  try {
    return parseArgs({
      args: [...argv],
      allowPositionals: true,
      options: {
        kind: { type: 'string', multiple: true },
        group: { type: 'string' },
        webhook: { type: 'boolean' },
        'second-version': { type: 'boolean' },
        tarballs: { type: 'string' },
        help: { type: 'boolean', short: 'h' },
      },
    });
  } catch (error) {
    throw wrong((error as Error).message.split('. ')[0]!, 'npm create slipway -- --help lists the options');
  }
}

function refuseTwins(names: readonly string[]): void {
  const twin = names.find((name, index) => names.indexOf(name) !== index);
  if (twin !== undefined) throw wrong(`the kind ${twin} is there twice`, 'give each kind a name of its own');
}

async function refuseFilled(folder: string, given: string): Promise<void> {
  const files = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw wrong(`${given} cannot be used: ${error.message}`, 'name a folder that is empty or not there yet');
  });
  // A repository that was just made is as good as empty.
  if (files.some((file) => file !== '.git'))
    throw wrong(`${given} is not empty`, 'name a folder that is empty or not there yet');
}

/** A project depends on the release that wrote it, and on the tools it was tried with. */
async function ownVersions(): Promise<Record<string, string>> {
  const { version } = JSON.parse(await readFile(join(import.meta.dirname, '..', 'package.json'), 'utf8')) as {
    version: string;
  };
  const own = ['@slipway/kube', '@slipway/runtime', '@slipway/testing', 'slipway'].map((name) => [name, version]);
  return Object.fromEntries(own) as Record<string, string>;
}

/** All packages of a release as files: what they need of each other is then there, too. */
async function fromTarballs(folder: string): Promise<Record<string, string>> {
  const files = await readdir(folder).catch(() => []);
  const versions: Record<string, string> = {};
  for (const file of files) {
    const name = /^slipway-(?:([a-z][a-z-]*)-)?\d[^/]*\.tgz$/.exec(file);
    if (name) versions[name[1] === undefined ? 'slipway' : `@slipway/${name[1]}`] = `file:${join(folder, file)}`;
  }
  if (versions['slipway'] === undefined)
    throw wrong(
      `there are no tarballs of Slipway in ${folder}`,
      'npm run pack in a clone makes them, in dist/tarballs',
    );
  return versions;
}
