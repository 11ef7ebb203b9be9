import { ConfigMap, defineKind, Secret, Type } from '@slipway/kube';
import { controller, permissionsOf, type Reconcile } from '@slipway/runtime';
import { expect, test } from 'vitest';

import { PermissionRecorder, testCluster } from '../src/index.ts';

const Note = defineKind({
  group: 'recorder.example.org',
  version: 'v1',
  kind: 'Note',
  scope: 'Namespaced',
  spec: Type.Object({ text: Type.String() }),
  status: Type.Object({ written: Type.Optional(Type.Boolean()) }),
});
const key = { namespace: 'default', name: 'first' };

/** Leads a note through its life and returns what was seen. */
async function recorded(reconcile: Reconcile) {
  const notes = controller({ name: 'note', for: Note, owns: [ConfigMap], reconcile });
  const recorder = new PermissionRecorder();
  await using cluster = await testCluster({ kinds: [Note] });
  await using _manager = await cluster.run([notes], {
    cluster: { transport: recorder.recording(cluster.transport()) },
  });
  await cluster.client.create({ apiVersion: Note.apiVersion, kind: 'Note', metadata: key, spec: { text: 'hello' } });
  await cluster.eventually('it is written', async () => (await cluster.client.get(Note, key))?.status?.written);
  return { recorder, permissions: permissionsOf([notes]) };
}

const write: Reconcile = async ({ cache, client }, { name, namespace }) => {
  const note = await cache.get(Note, { name, namespace });
  if (!note) return;
  const data = { text: note.spec.text };
  await client.apply({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace }, data }, { owner: note });
  await client.setStatus(note, { written: true });
};

test('a reconciler that does what it declares needs exactly what is derived', async () => {
  const { recorder, permissions } = await recorded(write);
  expect(recorder.compare(permissions)).toEqual({ missing: [], excess: [] });
  recorder.verify(permissions);
});

test('a call that no declaration shows is missing, and named with the rule to add', async () => {
  const { recorder, permissions } = await recorded(async (context, note) => {
    await context.client.delete(Secret, { namespace: 'default', name: 'old' });
    await write(context, note);
  });
  const rule = { apiGroups: [''], resources: ['secrets'], verbs: ['delete'] };
  expect(recorder.compare(permissions)).toEqual({ missing: [rule], excess: [] });
  expect(() => recorder.verify(permissions)).toThrow(
    /missing, the operator did this and may not:\n- apiGroups:\n {4}- ""\n {2}resources:\n {4}- secrets\n {2}verbs:\n {4}- delete\n/,
  );
  recorder.verify([...permissions, rule]);
});

test('what was never done is too much, also beside what was', async () => {
  const { recorder, permissions } = await recorded(write);
  const wide = { apiGroups: [''], resources: ['configmaps', 'secrets'], verbs: ['patch', 'delete'] };
  const { missing, excess } = recorder.compare([...permissions, wide]);
  expect(missing).toEqual([]);
  expect(excess).toEqual([
    { apiGroups: [''], resources: ['configmaps'], verbs: ['delete'] },
    { apiGroups: [''], resources: ['secrets'], verbs: ['patch', 'delete'] },
  ]);
  expect(() => recorder.verify([...permissions, wide])).toThrow('too much, the operator may do this and never did:');
});

test('a rule for other names does not cover an object, and one for any name does', async () => {
  const { recorder, permissions } = await recorded(async (context, note) => {
    await context.client.get(Secret, { namespace: 'default', name: 'mine' });
    await write(context, note);
  });
  const ofName = (name: string) => ({ apiGroups: [''], resources: ['secrets'], verbs: ['get'], resourceNames: [name] });
  recorder.verify([...permissions, ofName('mine')]);
  expect(recorder.compare([...permissions, ofName('other')])).toMatchObject({
    missing: [{ resources: ['secrets'] }],
    excess: [{ resources: ['secrets'] }],
  });
  expect(recorder.compare([{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }])).toEqual({ missing: [], excess: [] });
});
