import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { startCluster } from '@slipway/apiserver';

import { runUntilReady } from '../fresh-clone/run-until-ready.ts';
import type { Packed } from '../pack/pack.ts';
import { must, type Place } from './programs.ts';

const page = join(import.meta.dirname, '..', '..', 'docs', 'your-first-operator.md');

/**
 * The way of somebody who writes an operator, from an empty folder: begins a project, changes its kind as
 * docs/your-first-operator.md does, tests it, runs it, installs it and takes it off, lets it grow. What would come from the
 * registry once it is published comes from the tarballs.
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
  await changeKind(project);
  await must(project, 'npm', 'run', 'check');
  await must(project, 'npm', 'test');
  await must(project, 'npm', 'run', 'chart');
  await must(project, 'npx', 'slipway', 'chart', 'template', 'my-operator', './chart');
  console.log('    $ npx slipway up --operator . --port 0');
  const ready = /Website default\/first → Ready/;
  await runUntilReady('npx slipway up --operator . --port 0', project.cwd, project.env, [ready]);
  await installOnCluster(project);

  for (const what of ['kind', 'webhook', 'version']) await must(project, 'npx', 'slipway', 'add', what, 'Boat');
  await must(project, 'npm', 'run', 'check');
  await must(project, 'npm', 'test');
  console.log('    $ npx slipway up --operator . --port 0');
  await runUntilReady('npx slipway up --operator . --port 0', project.cwd, project.env, [
    ready,
    /Boat default\/first → Ready/,
  ]);
}

/** Writes the files of the page. */
async function changeKind({ cwd }: Place): Promise<void> {
  const files = (await readFile(page, 'utf8')).matchAll(/^```ts\n\/\/ (\S+)\n(.*?)^```$/gms);
  for (const [, file = '', text = ''] of files) await writeFile(join(cwd, file), text);
}

/** Onto a cluster whose pods are simulated: its image is nowhere. */
async function installOnCluster(project: Place): Promise<void> {
  await using cluster = await startCluster({ port: 0, controllers: 'workloads' });
  const kubeconfig = join(project.cwd, '..', 'kubeconfig');
  await cluster.writeKubeconfig(kubeconfig);
  const slipway = (...argv: string[]) =>
    must({ ...project, env: { ...project.env, KUBECONFIG: kubeconfig } }, 'npx', 'slipway', ...argv, '--operator', '.');
  await slipway('check');
  await slipway('install', '--image', 'registry.example.com/my-operator:0.1.0');
  const { out } = await slipway('status', '-A');
  if (out !== 'nothing is managed yet\n') throw new Error(`status after the installation says:\n${out}`);
  await slipway('uninstall');
}
