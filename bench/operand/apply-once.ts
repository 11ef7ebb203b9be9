/** One pass of `applySet` as a program, like `kubectl apply`: `apply-once --kubeconfig F --apply F [--delete F]`. */
import { readFile } from 'node:fs/promises';
import { enableCompileCache } from 'node:module';
import { parseArgs } from 'node:util';

// As the `slipway` command does.
enableCompileCache();
const { connect, findConnection } = await import('@slipway/kube');
const { applySet, membershipOf, parseManifests, pruneMembers, refOf } = await import('@slipway/manifests');

const { values } = parseArgs({
  options: { kubeconfig: { type: 'string' }, apply: { type: 'string' }, delete: { type: 'string' } },
});
const read = async (file: string) => parseManifests(await readFile(file, 'utf8'), { source: file });
await using cluster = connect(await findConnection({ file: values.kubeconfig! }), { fieldManager: 'bench' });
const { client } = cluster;

const begin = performance.now();
const result = await applySet({
  client,
  objects: await read(values.apply!),
  fieldManager: 'bench',
  membership: membershipOf('bench'),
  gate: () => false,
});
if (result.state === 'failed')
  throw new Error(JSON.stringify(result.members.filter(({ action }) => action === 'failed')));
if (values.delete !== undefined) {
  const left = (await read(values.delete)).map((object) => refOf(object));
  const pruned = await pruneMembers({ client, entries: left, membership: membershipOf('bench') });
  if (pruned.state !== 'pruned') throw new Error(JSON.stringify(pruned));
}
process.stdout.write(`${JSON.stringify({ event: 'done', passMs: performance.now() - begin })}\n`);
