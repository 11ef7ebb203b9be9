import { createServer } from 'node:net';

import {
  ConfigMap,
  Conditions,
  Event,
  defineKind,
  isNotFound,
  Lease,
  ready,
  Type,
  ValidatingWebhookConfiguration,
  type KubeObject,
} from '@slipway/kube';
import {
  allow,
  controller,
  conversionWebhook,
  generationChanged,
  invalid,
  mutatingWebhook,
  validatingWebhook,
  type Controller,
} from '@slipway/runtime';
import { testCluster, type TestCluster } from '@slipway/testing';
import { describe, expect, test } from 'vitest';

const Sheet = defineKind({
  group: 'runtime.example.com',
  version: 'v1',
  kind: 'Sheet',
  scope: 'Namespaced',
  spec: Type.Object({ text: Type.String() }),
  status: Type.Object({ observed: Type.Optional(Type.String()), conditions: Type.Optional(Conditions) }),
});

const key = { namespace: 'default', name: 'first' };

function sheet(text: string, more: Partial<KubeObject['metadata']> = {}) {
  return {
    apiVersion: 'runtime.example.com/v1' as const,
    kind: 'Sheet' as const,
    metadata: { ...key, ...more },
    spec: { text },
  };
}

/** Keeps a ConfigMap with the text of each Sheet. */
const copying = controller({
  name: 'copying',
  for: Sheet,
  owns: [ConfigMap],
  async reconcile({ cache, client, events }, at) {
    const found = await cache.get(Sheet, at);
    if (!found || found.metadata.deletionTimestamp) return;
    const copy = {
      apiVersion: 'v1' as const,
      kind: 'ConfigMap' as const,
      metadata: at,
      data: { text: found.spec.text },
    };
    await client.apply(copy, { owner: found });
    if (found.status?.observed === found.spec.text) return;
    await client.setStatus(found, {
      observed: found.spec.text,
      conditions: [ready(true, 'Copied', 'the copy is there')],
    });
    events.normal(found, 'Copied', `copied ${found.spec.text.length} characters`);
  },
});

function copyOf(cluster: TestCluster): Promise<string | undefined> {
  return cluster.client.get(ConfigMap, key).then((found) => found?.data?.['text']);
}

/** For `eventually`, whose check must not wait itself: virtual time stands still meanwhile. */
function settled(promise: Promise<unknown>): () => boolean {
  let done = false;
  void promise.then(() => (done = true));
  return () => done;
}

describe('controllers on a cluster', () => {
  test('follow their objects and put right what others do to the objects they own', async () => {
    await using cluster = await testCluster({ kinds: [Sheet] });
    const { client } = cluster;
    await cluster.run([copying]);
    await client.create(sheet('one'));
    await cluster.eventually('the copy', async () => (await copyOf(cluster)) === 'one');
    await cluster.eventually('the status', async () => (await client.get(Sheet, key))?.status?.observed === 'one');
    await client.patch(ConfigMap, key, { type: 'merge', body: { data: { text: 'scribbled over' } } });
    await cluster.eventually('the copy is put right', async () => (await copyOf(cluster)) === 'one');
    await client.delete(ConfigMap, key);
    await cluster.eventually('the copy is back', async () => (await copyOf(cluster)) === 'one');
    await client.patch(Sheet, key, { type: 'merge', body: { spec: { text: 'two' } } });
    await cluster.eventually('the copy follows', async () => (await copyOf(cluster)) === 'two');
    const { uid } = (await client.get(Sheet, key))!.metadata;
    expect((await client.get(ConfigMap, key))?.metadata.ownerReferences).toMatchObject([
      { kind: 'Sheet', name: 'first', uid, controller: true },
    ]);
  });

  test('write events that people find by the object', async () => {
    await using cluster = await testCluster({ kinds: [Sheet] });
    await cluster.run([copying]);
    const { uid } = (await cluster.client.create(sheet('hello'))).metadata;
    const event = await cluster.eventually('the event', async () => {
      for await (const found of cluster.client.list(Event, { namespace: 'default' })) {
        if (found.regarding?.uid === uid) return found;
      }
      return undefined;
    });
    expect(event).toMatchObject({ type: 'Normal', note: 'copied 5 characters', action: 'Reconcile' });
    expect(event.regarding).toMatchObject({ ...key, apiVersion: 'runtime.example.com/v1' });
  });

  test('read what they have just written', async () => {
    const seen: (string | undefined)[] = [];
    const counting = controller({
      name: 'counting',
      for: Sheet,
      predicates: [generationChanged],
      reads: [{ kind: ConfigMap, scope: { namespaces: ['default'] } }],
      async reconcile({ cache, client }, at) {
        for (let i = 0; i < 5; i += 1) {
          const data = { text: String(i) };
          await client.apply({ apiVersion: 'v1', kind: 'ConfigMap', metadata: at, data });
          seen.push((await cache.get(ConfigMap, at))?.data?.['text']);
        }
        await client.delete(ConfigMap, at);
        seen.push((await cache.get(ConfigMap, at))?.data?.['text']);
      },
    });
    await using cluster = await testCluster({ kinds: [Sheet] });
    await cluster.run([counting]);
    await cluster.client.create(sheet('x'));
    await cluster.eventually('all is read', () => seen.length >= 6);
    expect(seen.slice(0, 6)).toEqual(['0', '1', '2', '3', '4', undefined]);
  });

  test('finish their part of a deletion and leave the finalizers of others alone', async () => {
    const finished: string[] = [];
    const finishing: Controller = controller({
      name: 'finishing',
      for: Sheet,
      finalize: {
        finalizer: 'runtime.example.com/finishing',
        run: (_context, object) => void finished.push(object.metadata.name ?? ''),
      },
      reconcile: () => undefined,
    });
    await using cluster = await testCluster({ kinds: [Sheet] });
    const { client } = cluster;
    await cluster.run([finishing]);
    await client.create(sheet('x', { finalizers: ['example.com/theirs'] }));
    const finalizers = async () => (await client.get(Sheet, key))?.metadata.finalizers;
    await cluster.eventually('its finalizer', async () => (await finalizers())?.length === 2);
    await client.delete(Sheet, key);
    await cluster.eventually('its part is done', async () => (await finalizers())?.length === 1);
    expect(await finalizers()).toEqual(['example.com/theirs']);
    expect(finished).toEqual(['first']);
    await client.patch(Sheet, key, { type: 'merge', body: { metadata: { finalizers: [] } } });
    await cluster.eventually('it is gone', async () => (await client.get(Sheet, key)) === undefined);
  });

  test('work in one process at a time, and the next one takes over when the first stops', async () => {
    const worked: string[] = [];
    const worker = (name: string) =>
      controller({ name: 'worker', for: Sheet, reconcile: (_context, at) => void worked.push(`${name} ${at.name}`) });
    await using cluster = await testCluster({ kinds: [Sheet] });
    const { client } = cluster;
    const leaderElection = { namespace: 'default', name: 'worker' };
    const first = await cluster.run([worker('first')], { leaderElection });
    await cluster.eventually('the first leads', settled(first.manager.elected));
    const second = await cluster.run([worker('second')], { leaderElection });
    await cluster.eventually('the second is ready', settled(second.manager.ready));
    await client.create(sheet('x'));
    await cluster.eventually('the first works', () => worked.length > 0);
    expect(worked).toEqual(['first first']);
    await first.stop();
    await cluster.eventually('the second leads', settled(second.manager.elected));
    await cluster.eventually('the second works', () => worked.includes('second first'));
    expect((await client.get(Lease, leaderElection))?.spec?.leaseTransitions).toBe(1);
  });
});

describe('webhooks on a cluster', () => {
  /** Its address stands in the configurations before it listens. */
  async function freePort(): Promise<number> {
    const probe = createServer();
    await new Promise<void>((resolve) => probe.listen(0, '127.0.0.1', resolve));
    const { port } = probe.address() as { port: number };
    await new Promise((resolve) => probe.close(resolve));
    return port;
  }

  test('the API server asks them: it refuses, changes and converts as they say', async () => {
    const port = await freePort();
    const url = `https://127.0.0.1:${port}`;
    const Old = defineKind({
      group: 'runtime.example.com',
      version: 'v1',
      kind: 'Note',
      scope: 'Namespaced',
      spec: Type.Object({ text: Type.String() }),
    });
    const New = defineKind({
      group: 'runtime.example.com',
      version: 'v2',
      kind: 'Note',
      scope: 'Namespaced',
      spec: Type.Object({ lines: Type.Array(Type.String()) }),
      versions: [{ version: 'v1', spec: Old.definition.spec }],
    });
    await using cluster = await testCluster({ kinds: [New], time: 'machine' });
    const { client } = cluster;
    const running = await cluster.run([], {
      name: 'hooks',
      webhooks: {
        port,
        host: '127.0.0.1',
        address: { url },
        configuration: 'hooks-runtime-test',
        certificates: { secret: { namespace: 'default', name: 'hooks-runtime-test' } },
        webhooks: [
          mutatingWebhook({
            name: 'mutate.notes.runtime.example.com',
            kind: New,
            mutate({ object }) {
              object.spec.lines.push('signed');
            },
          }),
          validatingWebhook({
            name: 'validate.notes.runtime.example.com',
            kind: New,
            validate: ({ object }) =>
              object.spec.lines.includes('forbidden')
                ? invalid([{ field: 'spec.lines', message: 'not this' }])
                : allow('it is a fine note'),
          }),
          conversionWebhook({
            group: 'runtime.example.com',
            kind: 'Note',
            plural: 'notes',
            convert(object, apiVersion) {
              const spec = object['spec'] as { text?: string; lines?: string[] };
              const converted = apiVersion.endsWith('/v2')
                ? { lines: spec.text!.split(' ') }
                : { text: spec.lines!.join(' ') };
              return { ...object, apiVersion, spec: converted };
            },
          }),
        ],
      },
    });
    await cluster.eventually('the webhooks serve', settled(running.manager.ready));
    const note = (name: string, text: string) =>
      client.create({
        apiVersion: 'runtime.example.com/v1' as const,
        kind: 'Note' as const,
        metadata: { namespace: 'default', name },
        spec: { text },
      });
    // The API server needs a moment to notice the configurations.
    const refusal = await cluster.eventually('the refusal', () =>
      note('bad', 'something forbidden').then(
        async () => {
          await client.delete(Old, { namespace: 'default', name: 'bad' });
          return undefined;
        },
        (error: unknown) => (String(error).includes('not this') ? (error as Error) : undefined),
      ),
    );
    expect(refusal.message).toContain('spec.lines: not this');
    expect((await note('good', 'hello world')).spec.text).toBe('hello world signed');
    const stored = await client.get(New, { namespace: 'default', name: 'good' });
    expect(stored?.spec.lines).toEqual(['hello', 'world', 'signed']);
    await client.delete(New, { namespace: 'default', name: 'good' });
    await client.delete(ValidatingWebhookConfiguration, { name: 'hooks-runtime-test' }).catch((error: unknown) => {
      if (!isNotFound(error)) throw error;
    });
  });
});
