import { readFile } from 'node:fs/promises';
import { gunzipSync } from 'node:zlib';
import type { Client, KubeObject, ObjectMeta } from '@slipway/kube';

/** Objects an earlier version has left, kept in a file: one in each line, packed where the name says so. For `restoreObjects`. */
export async function keptObjects(file: string): Promise<KubeObject[]> {
  const bytes = await readFile(file);
  const text = (file.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString('utf8');
  return text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as KubeObject);
}

/** What the cluster now says of each of these objects, by kind and name; of one that is gone `undefined` is told. */
export async function nowOf<T>(
  client: Client,
  objects: readonly KubeObject[],
  tell: (metadata: ObjectMeta | undefined) => T,
): Promise<Record<string, T>> {
  const found = objects.map(async ({ apiVersion, kind, metadata: { name = '', namespace } }) => {
    const key = namespace === undefined ? { name } : { name, namespace };
    const live = await client.get(await client.resolve(apiVersion, kind), key);
    return [`${kind} ${namespace ?? ''}/${name}`, tell(live?.metadata)] as const;
  });
  return Object.fromEntries(await Promise.all(found));
}
