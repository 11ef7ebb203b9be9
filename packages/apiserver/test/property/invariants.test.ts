import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startCluster, type ApiObject, type Cluster } from '../../src/index.ts';
import { testClient, type TestClient } from '../../src/test-client.ts';
import type { Send } from '../differential/case.ts';
import { collections, operations } from './operations.ts';
import { anythingCrd, widgetCrd } from './widget-crd.ts';

type Method = Parameters<TestClient['send']>[0];

let cluster: Cluster;
let client: TestClient;
beforeAll(async () => {
  cluster = await startCluster({ controllers: 'none', crds: [widgetCrd, anythingCrd] as unknown as ApiObject[] });
  client = testClient(cluster);
});
afterAll(() => cluster.stop());

/** Everything of both kinds in a namespace, by kind and name. */
async function stateOf(ns: string): Promise<Map<string, ApiObject>> {
  const state = new Map<string, ApiObject>();
  for (const [kind, path] of Object.entries(collections)) {
    const { body } = await client.get(path.replace('{ns}', ns));
    for (const item of body.items) state.set(`${kind} ${item.metadata.name}`, item);
  }
  return state;
}

function withoutVersion(object: ApiObject): unknown {
  const { metadata, apiVersion: _version, kind: _kind, ...rest } = object;
  return { ...rest, metadata: { ...metadata, resourceVersion: '' } };
}

/** Lists of built-in kinds do not repeat the kind in every item. */
function asListed(object: ApiObject): unknown {
  const { apiVersion: _version, kind: _kind, ...rest } = object;
  return rest;
}

/** What a new generation stands for: all but metadata and status, and being deleted. */
function intent(object: ApiObject): unknown {
  const { metadata, status: _status, apiVersion: _version, kind: _kind, ...rest } = object;
  return { ...rest, deleted: metadata.deletionTimestamp !== undefined };
}

function checkObject(before: ApiObject | undefined, after: ApiObject, what: string): void {
  const { resourceVersion, generation, uid } = after.metadata;
  const isCounted = !what.startsWith('ConfigMap');
  if (before?.metadata.uid !== uid) {
    expect({ what, generation }).toEqual({ what, generation: isCounted ? 1 : undefined });
    return;
  }
  if (before?.metadata.resourceVersion === resourceVersion) {
    expect(after).toEqual(before);
    return;
  }
  // A new version with nothing new in it would wake every watcher for nothing.
  expect(withoutVersion(after)).not.toEqual(withoutVersion(before!));
  expect(Number(resourceVersion)).toBeGreaterThan(Number(before!.metadata.resourceVersion));
  if (!isCounted) return;
  const same = isDeepStrictEqual(intent(before!), intent(after));
  expect({ what, generation }).toEqual({ what, generation: before!.metadata.generation! + (same ? 0 : 1) });
}

async function perform(request: Send, ns: string, variables: Record<string, string>): Promise<number> {
  const fill = (text: string) => text.replaceAll(/\{(ns|current)\}/g, (_, key: string) => variables[key] ?? ns);
  const { method, path, headers, body } = request;
  const filled = body === undefined ? undefined : (JSON.parse(fill(JSON.stringify(body))) as unknown);
  const answer = await client.send(method as Method, fill(path), filled, { ...headers });
  for (const [key, read] of Object.entries(request.save ?? {})) variables[key] = String(read(answer.body));
  return answer.status;
}

/** What a client knows that lists once and then only watches. */
function replayed(first: ReadonlyMap<string, ApiObject>, kind: string, events: readonly WatchEvent[]): ApiObject[] {
  const known = new Map([...first].filter(([key]) => key.startsWith(`${kind} `)));
  let last = 0;
  for (const { type, object } of events) {
    const version = Number(object.metadata.resourceVersion);
    expect(version).toBeGreaterThan(last);
    last = version;
    const key = `${kind} ${object.metadata.name}`;
    expect({ type, key, known: known.has(key) }).toEqual({ type, key, known: type !== 'ADDED' });
    if (type === 'DELETED') known.delete(key);
    else known.set(key, object);
  }
  return [...known.values()];
}

interface WatchEvent {
  readonly type: string;
  readonly object: ApiObject;
}

const byName = (a: ApiObject, b: ApiObject) => (a.metadata.name! < b.metadata.name! ? -1 : 1);

it('whatever is done, versions, generations and watches tell the truth', { timeout: 300_000 }, async () => {
  let run = 0;
  await fc.assert(
    fc.asyncProperty(operations, async (done) => {
      run += 1;
      const ns = `run-${run}`;
      await client.post('/api/v1/namespaces', { metadata: { name: ns } });
      const first = await stateOf(ns);
      const start = cluster.revision;
      const variables: Record<string, string> = {};
      let before = first;
      for (const request of done.flat()) {
        const { revision } = cluster;
        const status = await perform(request, ns, variables);
        expect(status).toBeLessThan(600);
        if (status >= 400 || request.method === 'GET' || request.path.includes('dryRun=All')) {
          const { label } = request;
          expect({ label, revision: cluster.revision }).toEqual({ label, revision });
        }
        const after = await stateOf(ns);
        for (const [key, object] of after) checkObject(before.get(key), object, key);
        before = after;
      }
      for (const [kind, path] of Object.entries(collections)) {
        const watch = await client.watch(`${path.replace('{ns}', ns)}?watch=true&resourceVersion=${start}`);
        watch.abort();
        const told = replayed(first, kind, watch.events).toSorted(byName).map(asListed);
        const is = [...before].filter(([key]) => key.startsWith(`${kind} `)).map(([, object]) => object);
        expect(told).toEqual(is.toSorted(byName).map(asListed));
      }
    }),
    { seed: 20_261_115, numRuns: 30 },
  );
});
