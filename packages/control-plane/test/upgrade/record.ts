import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Client, KubeObject, ObjectMeta } from '@slipway/kube';

import { key, Landscape, mcp } from '../landscape.ts';

/**
 * Keeps what the present version makes of a control plane with one of everything, for later versions to take over:
 * `npx node packages/control-plane/test/upgrade/record.ts VERSION`, before that version is released.
 */
const [version] = process.argv.slice(2);
if (!version) throw new Error('give the version this is the state of');

/** Everything there is, but for what comes and goes with every cluster. */
async function objectsOn(client: Client): Promise<KubeObject[]> {
  const found: KubeObject[] = [];
  for (const resource of await client.discover({ fresh: true })) {
    const passing = resource.plural === 'events' || resource.plural === 'leases' || resource.plural === 'endpoints';
    if (!resource.preferred || !resource.verbs.includes('list') || passing) continue;
    const apiVersion = resource.group ? `${resource.group}/${resource.version}` : resource.version;
    for await (const object of client.list({ ...resource, apiVersion }))
      found.push({ ...object, apiVersion, kind: resource.kind, metadata: lasting(object.metadata) });
  }
  return found;
}

function lasting({ resourceVersion: _version, creationTimestamp: _made, ...metadata }: ObjectMeta): ObjectMeta {
  return metadata;
}

const idOf = ({ kind, metadata: { namespace = '', name } }: KubeObject): string => `${kind} ${namespace}/${name}`;
/** What every namespace gets by itself. */
const isOfTheCluster = ({ metadata: { name } }: KubeObject): boolean =>
  name === 'kube-root-ca.crt' || name === 'default';
/** What others can only live in comes first. */
const isNamespace = ({ kind }: KubeObject): number => (kind === 'Namespace' ? 0 : 1);

await using landscape = await Landscape.open();
const clusters = { onboarding: landscape.cluster.client, target: landscape.target };
const before = new Set((await Promise.all(Object.values(clusters).map(objectsOn))).flat().map(idOf));
await landscape.cluster.client.create(mcp());
await landscape.run();
await landscape.ready(key.name);
await landscape.cluster.advance(60_000);
for (const [name, client] of Object.entries(clusters)) {
  const made = (await objectsOn(client)).filter((object) => !before.has(idOf(object)) && !isOfTheCluster(object));
  const lines = made.toSorted((a, b) => isNamespace(a) - isNamespace(b)).map((object) => JSON.stringify(object));
  await writeFile(join(import.meta.dirname, `${version}-${name}.jsonl`), `${lines.join('\n')}\n`);
}
