import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

import { runUntilReady } from '../fresh-clone/run-until-ready.ts';
import type { Packed } from '../pack/pack.ts';
import { must, type Place } from './programs.ts';

/**
 * The way of somebody who writes an operator, from an empty folder: begins a project, tests it, runs it, lets it grow. What
 * would come from the registry once it is published comes from the tarballs.
 */
export async function tryScaffold(place: Place, packed: readonly Packed[]): Promise<void> {
  const creator = { ...place, cwd: join(place.cwd, 'creator') };
  await mkdir(creator.cwd);
  await writeFile(join(creator.cwd, 'package.json'), '{ "private": true }');
  const needed = packed.filter(({ name }) => /^create-slipway$|\/(scaffold|kube)$/.test(name));
  await must(creator, 'npm', 'install', '--engine-strict', '--loglevel=error', ...needed.map(({ tarball }) => tarball));
  await must(creator, 'npx', 'create-slipway', 'my-operator', '--tarballs', dirname(packed[0]!.tarball));

  const project = { ...place, cwd: join(creator.cwd, 'my-operator') };
  await must(project, 'npm', 'install', '--engine-strict', '--loglevel=error');
  await must(project, 'npm', 'test');
  await must(project, 'npm', 'run', 'check');
  await must(project, 'npm', 'run', 'chart');
  await must(project, 'npx', 'slipway', 'chart', 'template', 'my-operator', './chart');
  console.log('    $ npx slipway up --operator . --port 0');
  const ready = /Website default\/first → Ready/;
  await runUntilReady('npx slipway up --operator . --port 0', project.cwd, project.env, [ready]);

  for (const what of ['kind', 'webhook', 'version']) await must(project, 'npx', 'slipway', 'add', what, 'Boat');
  await must(project, 'npm', 'run', 'check');
  await must(project, 'npm', 'test');
  console.log('    $ npx slipway up --operator . --port 0');
  await runUntilReady('npx slipway up --operator . --port 0', project.cwd, project.env, [
    ready,
    /Boat default\/first → Ready/,
  ]);
}
