import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import type { Client, KubeObject } from '@slipway/kube';

import { isApplied } from '../life.ts';
import { platformWorld } from '../platform-kit.ts';

/**
 * Records what this version leaves behind of a platform, on the cluster and in Git: `record.ts 0.2.0`. The next version has
 * to take it over; what older versions have left stays as it was recorded.
 */
const [version] = process.argv.slice(2);
if (version === undefined) throw new Error('which version? For example: record.ts 0.2.0');

await using world = await platformWorld();
const { client } = world.cluster;
const before = new Set((await everything(client)).map(({ metadata }) => metadata.uid));
await world.cluster.run([world.controller()]);
await world.cluster.eventually('it is installed', () => isApplied(world));
const team = { 'env/teams/blue/settings.yaml': 'spec: {}\n' };
const commit = await world.git.push(team, 'a team');
await world.cluster.eventually('the team is there', () => isApplied(world, commit));

const left = (await everything(client)).filter(({ metadata }) => !before.has(metadata.uid)).map(lasting);
const lines = left.toSorted((a, b) => rank(a) - rank(b)).map((object) => `${JSON.stringify(object)}\n`);
await writeFile(join(import.meta.dirname, `${version}.jsonl.gz`), gzipSync(lines.join('')));
const bundle = join(import.meta.dirname, `${version}.bundle`);
await promisify(execFile)('git', ['bundle', 'create', bundle, '--all'], { cwd: world.git.server.repository });

/** Everything but what the cluster makes by itself. */
async function everything(of: Client): Promise<KubeObject[]> {
  const objects: KubeObject[] = [];
  for (const resource of await of.discover({ fresh: true })) {
    if (!resource.preferred || !resource.verbs.includes('list') || /^(events|leases)$/.test(resource.plural)) continue;
    const apiVersion = resource.group ? `${resource.group}/${resource.version}` : resource.version;
    for await (const object of of.list({ ...resource, apiVersion })) {
      const { name } = object.metadata;
      const isGiven = name === 'kube-root-ca.crt' || (object.kind === 'ServiceAccount' && name === 'default');
      if (!isGiven) objects.push(object);
    }
  }
  return objects;
}

function lasting(object: KubeObject): KubeObject {
  const { resourceVersion: _version, creationTimestamp: _time, ...metadata } = object.metadata;
  return { ...object, metadata };
}

/** Definitions and namespaces first: the others need them. */
function rank({ kind }: KubeObject): number {
  return kind === 'CustomResourceDefinition' ? 0 : kind === 'Namespace' ? 1 : 2;
}
