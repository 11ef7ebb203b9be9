import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { startCluster } from '@slipway/apiserver';
import { ConfigMap, connect, createClient, loadKubeConfig, systemClock, type KubeObject } from '@slipway/kube';
import { memberLabel } from '@slipway/manifests';
import { operandOperator } from '@slipway/operand';
import { expect, test } from 'vitest';

import { Call, temporaryFolder } from './kit.ts';

/** The folder of `slipway up operand --data` of 0.1.0. */
const folderThen = gunzipSync(await readFile(join(import.meta.dirname, 'upgrade', '0.1.0-cluster.db.gz')));

/** What the example is made of, read while nothing runs. */
async function look(dataDir: string): Promise<Record<string, string>> {
  await using cluster = await startCluster({ dataDir, controllers: 'none' });
  const client = createClient({ transport: cluster.transport, fieldManager: 'test', clock: systemClock });
  const members = ['v1/ConfigMap', 'v1/Namespace', 'apps/v1/Deployment'];
  const rows: [string, string][] = [];
  const add = ({ kind, metadata }: Pick<KubeObject, 'kind' | 'metadata'>) =>
    rows.push([`${kind} ${metadata.name}`, `${metadata.uid} ${metadata.generation ?? ''}`]);
  for (const member of members) {
    const kind = await client.resolve(
      member.slice(0, member.lastIndexOf('/')),
      member.slice(member.lastIndexOf('/') + 1),
    );
    for await (const object of client.list(kind, { labelSelector: memberLabel })) add(object);
  }
  for (const kind of operandOperator.kinds) for await (const object of client.list(kind)) add(object);
  return Object.fromEntries(rows);
}

test('up takes over the folder of a cluster that 0.1.0 kept: all is there, ready, and nothing is made again', async () => {
  await using home = await temporaryFolder();
  const file = join(home.path, 'cluster.db');
  await writeFile(file, folderThen, { mode: 0o644 });
  const before = await look(home.path);
  expect(Object.keys(before)).toHaveLength(7);

  const running = new Call(['up', 'operand', '--port', '0', '--data', home.path], { env: { HOME: home.path } });
  await running.says(/s {2}Operand hello → Ready\n[^]*operand\/hello-operand/);
  const [, kubeconfig] = await running.says(/export KUBECONFIG=(.*)\n/);
  await using cluster = connect(await (await loadKubeConfig({ file: kubeconfig! })).connection());
  // Once this is back, the operators have been through what they found.
  const greeting = { namespace: 'hello', name: 'greeting' };
  await cluster.client.delete(ConfigMap, greeting);
  await running.says(/\+ ConfigMap hello\/greeting is back\n/);
  expect(await running.stop()).toBe(0);
  expect(running.out.match(/^.* \+ .*$/gm)).toHaveLength(1);

  const { 'ConfigMap greeting': _lost, ...kept } = before;
  expect(await look(home.path)).toMatchObject(kept);
  // Who could read it then cannot now.
  expect((await stat(file)).mode & 0o077).toBe(0);
});
