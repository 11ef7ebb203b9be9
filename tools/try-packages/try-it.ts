import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { bundle } from '../bundle/bundle.ts';
import { runUntilReady } from '../fresh-clone/run-until-ready.ts';
import { pack, type Packed } from '../pack/pack.ts';
import { checkTypes, loadEverything, makeConsumer } from './consumer.ts';
import { environmentOf, nodeFromNpm } from './node-from-npm.ts';
import { call, must } from './programs.ts';
import { tryScaffold } from './scaffold.ts';
import { tarballProblems } from './tarballs.ts';

/**
 * What users of the packages do, in empty folders: installs the tarballs on every Node that is promised, compiles against
 * them, runs the tests of the example and the command, and tries the Nodes that are too old.
 */
const promised = ['22.19.0', '24.21.0', process.versions.node];
const tooOld = ['16.20.2', '20.20.2'];
const repository = join(import.meta.dirname, '..', '..');

const folder = await mkdtemp(join(tmpdir(), 'slipway-packages-'));
try {
  const packed = await step('pack', () => pack(join(folder, 'dist')));
  await step('what the tarballs hold, and npm publish --dry-run', () => inspect(packed));
  for (const version of promised) await step(`Node ${version}`, () => tryOut(version, packed));
  await step(`an operator of one's own, on Node ${promised[0]}`, async () =>
    tryScaffold(await placeOn(promised[0]!, 'own'), packed),
  );
  await step('Nodes that are too old', refuse);
} finally {
  // After a failure other packages may still be on their way; the failure is what has to be seen.
  await rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
}

async function step<T>(name: string, work: () => Promise<T>): Promise<T> {
  console.log(`packages: ${name}`);
  const started = performance.now();
  const result = await work();
  console.log(`    ok, ${((performance.now() - started) / 1000).toFixed(0)} s`);
  return result;
}

async function inspect(packed: readonly Packed[]): Promise<void> {
  const problems = (await Promise.all(packed.map((each) => tarballProblems(each)))).flat();
  if (problems.length > 0) throw new Error(problems.join('\n'));
  for (const { name, bytes, files, tarball } of packed) {
    console.log(`    ${name}: ${files.length} files, ${(bytes / 1e3).toFixed(0)} kB`);
    const { err } = await must({ cwd: folder, env: process.env }, 'npm', 'publish', '--dry-run', tarball);
    const warnings = err.split('\n').filter((line) => /^npm warn/i.test(line) && !expected.test(line));
    if (warnings.length > 0) throw new Error(`${name}: npm would publish it with warnings:\n${warnings.join('\n')}`);
  }
}

/** Whoever tries publishing need not be able to do it. */
const expected = /requires you to be logged in|Unknown (?:user|env|project) config/;

async function tryOut(version: string, packed: readonly Packed[]): Promise<void> {
  const place = await placeOn(version);
  const { devDependencies } = JSON.parse(await readFile(join(repository, 'package.json'), 'utf8')) as {
    devDependencies: Record<string, string>;
  };
  await makeConsumer(place, packed, {
    typescript: devDependencies['typescript']!,
    vitest: devDependencies['vitest']!,
    nodeTypes: version.split('.')[0]!,
  });
  await checkTypes(place, packed, join(repository, 'examples', 'website'));
  await loadEverything(place);
  await must(place, 'npx', 'vitest', 'run', 'website.test.ts');
  console.log('    $ npx slipway up --port 0');
  await runUntilReady('npx slipway up --port 0', place.cwd, place.env);
}

/** One line with the Node that was found and the one that is needed, from both programs, installed, and from the bundle. */
async function refuse(): Promise<void> {
  const { file } = await bundle({ directory: join(folder, 'bundle') });
  const installed = join(folder, `on-${promised[0]}`, 'node_modules');
  const programs = [join(installed, 'slipway', 'slipway.cjs'), join(installed, 'create-slipway', 'create-slipway.cjs')];
  for (const version of tooOld) {
    const place = await placeOn(version);
    for (const program of [...programs, file]) {
      const { code, out, err } = await call(place, 'node', program, 'version');
      const line = /^slipway needs Node 22\.19\.0 or newer, and this is Node (\S+): .*\n$/.exec(err);
      if (code !== 1 || out !== '' || line?.[1] !== version)
        throw new Error(`${program} on Node ${version} ended with ${code} and said:\n${out}${err}`);
    }
  }
}

async function placeOn(version: string, what = 'on') {
  const node = await nodeFromNpm(version, join(folder, 'nodes'));
  const cwd = join(folder, `${what}-${version}`);
  await mkdir(cwd);
  return { cwd, env: environmentOf(node, folder) };
}
