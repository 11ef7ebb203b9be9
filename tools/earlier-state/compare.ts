import { execFileSync } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { gunzipSync } from 'node:zlib';
import { startCluster } from '@slipway/apiserver';
import { createClient, systemClock, type KubeObject } from '@slipway/kube';
import { keptObjects, settledText } from '@slipway/testing';

import { runUntilReady } from '../fresh-clone/run-until-ready.ts';

/**
 * The upgrade tests take over what 0.1.0 has left. This shows that it has: runs `slipway up` of that commit, out of its own
 * clone with its own dependencies, and compares every object that is kept with the one that code makes today.
 */
const commit = 'd452070138a05639708d1467b3e6a7bc4cf56f63';
const repository = join(import.meta.dirname, '..', '..');
const packages = join(repository, 'packages');

const folder = await mkdtemp(join(tmpdir(), 'slipway-earlier-'));
try {
  const made = await asLeftBy(await checkedOut(commit));
  const kept = {
    operand: await keptObjects(join(packages, 'operand', 'test', 'upgrade', '0.1.0.jsonl')),
    'btp-manager': await keptObjects(join(packages, 'btp-manager', 'test', 'upgrade', '0.1.0.jsonl')),
    cli: await unpacked(join(packages, 'cli', 'test', 'upgrade', '0.1.0-cluster.db.gz')),
  };
  for (const [name, objects] of Object.entries(kept)) {
    const others = objects.filter((object) => !isSame(object, made.get(idOf(object)))).map(idOf);
    console.log(`${name}: ${objects.length - others.length} of ${objects.length} objects are as 0.1.0 makes them`);
    if (others.length > 0) process.exitCode = 1;
    for (const id of others) console.log(`  another: ${id}`);
  }
} finally {
  await rm(folder, { recursive: true, force: true });
}

async function checkedOut(of: string): Promise<string> {
  const clone = join(folder, 'slipway');
  execFileSync('git', ['clone', '--quiet', '--no-checkout', repository, clone], { stdio: 'inherit' });
  execFileSync('git', ['checkout', '--quiet', of], { cwd: clone, stdio: 'inherit' });
  execFileSync('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], { cwd: clone, stdio: 'inherit' });
  return clone;
}

/** Everything on a cluster on which the examples of that code became ready. */
async function asLeftBy(clone: string): Promise<Map<string, KubeObject>> {
  const data = join(folder, 'data');
  await runUntilReady(`npm run slipway -- up --port 0 --data ${data}`, clone, { ...process.env, HOME: folder });
  return new Map((await objectsIn(data)).map((object) => [idOf(object), object]));
}

async function unpacked(file: string): Promise<KubeObject[]> {
  const data = await mkdtemp(join(folder, 'kept-'));
  await writeFile(join(data, 'cluster.db'), gunzipSync(await readFile(file)));
  const objects = await objectsIn(data);
  // What the cluster has by itself says nothing about who used it.
  return objects.filter(({ metadata }) => metadata.managedFields?.some(({ manager }) => manager?.includes('slipway')));
}

async function objectsIn(dataDir: string): Promise<KubeObject[]> {
  await using cluster = await startCluster({ dataDir, controllers: 'none' });
  const client = createClient({ transport: cluster.transport, fieldManager: 'compare', clock: systemClock });
  const found: KubeObject[] = [];
  for (const resource of await client.discover()) {
    if (!resource.preferred || !resource.verbs.includes('list') || resource.plural === 'events') continue;
    const apiVersion = resource.group ? `${resource.group}/${resource.version}` : resource.version;
    for await (const object of client.list({ ...resource, apiVersion }))
      found.push({ ...object, apiVersion, kind: resource.kind });
  }
  return found;
}

/** Whether everything that is kept of an object is so in the other one: what a cluster writes by itself was left out. */
function isSame(kept: KubeObject, made: KubeObject | undefined): boolean {
  if (!made) return false;
  const [ours, theirs] = [kept, made].map(
    (object) => JSON.parse(settledText(object), withoutGiven) as Record<string, unknown>,
  );
  return Object.keys(ours!).every((field) => isDeepStrictEqual(ours![field], theirs![field]));
}

/** Addresses and keys are each cluster's own. */
function withoutGiven(field: string, value: unknown): unknown {
  return /^(clusterIPs?|caBundle)$/.test(field) ? undefined : value;
}

function idOf({ apiVersion, kind, metadata: { namespace = '', name } }: KubeObject): string {
  return `${apiVersion} ${kind} ${namespace}/${name}`;
}
