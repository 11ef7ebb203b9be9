import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

import { startCluster } from '@slipway/apiserver';
import { createClient, Event, Secret, toCustomResourceDefinition } from '@slipway/kube';
import { controller, memoryLogger, startManager } from '@slipway/runtime';
import { VirtualClock } from '@slipway/testing';
import { expect, test } from 'vitest';

import { everything, Greeting, greetings, hooks, pokes, production, testIt, tryItOut } from './tutorial.ts';

const squeezed = (text: string): string => text.replaceAll(/\s+/g, ' ').trim();

test('every code block of the README is in the tutorial', async () => {
  const readme = await readFile(join(import.meta.dirname, '..', 'README.md'), 'utf8');
  const tutorial = squeezed(await readFile(join(import.meta.dirname, 'tutorial.ts'), 'utf8')).replaceAll('export ', '');
  const blocks = [...readme.matchAll(/```ts\n(.*?)```/gs)].map(([, code = '']) => code);
  expect(blocks.length).toBeGreaterThanOrEqual(6);
  for (const block of blocks) {
    const code = block.replaceAll(/^import [^;]*;$/gm, '');
    expect(tutorial).toContain(squeezed(code));
  }
});

test('trying it out says hello', async () => {
  expect(await tryItOut()).toBe('Hello, world!');
});

test('testing it on virtual time says hello', async () => {
  expect(await testIt()).toBe('Hello, test!');
});

test('the second controller: finalizer, secret mapping, channel and terminal error', async () => {
  const clock = new VirtualClock();
  await using cluster = await startCluster({ clock });
  const { transport } = cluster;
  const client = createClient({ transport, fieldManager: 'test', clock });
  await client.create(toCustomResourceDefinition(Greeting));
  const log = memoryLogger();
  await using _manager = await startManager({ controllers: [everything], cluster: { transport }, clock, log });
  const key = { namespace: 'default', name: 'first' };
  await client.create({ apiVersion: 'example.com/v1', kind: 'Greeting', metadata: key, spec: { who: '' } });
  const complaints = () => log.entries.filter(({ message }) => message.includes('failed for good')).length;
  await clock.runUntil(() => complaints() === 1);
  pokes.push(key);
  await clock.runUntil(() => complaints() === 2);
  await client.create({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { namespace: 'default', name: 'related', labels: { greeting: 'first' } },
  });
  await clock.runUntil(() => complaints() === 3);
  expect((await client.get(Secret, { namespace: 'default', name: 'related' }))?.metadata.name).toBe('related');
  await client.delete(Greeting, key);
  await clock.runUntil(async () => (await client.get(Greeting, key)) === undefined);
  await clock.advance(10_000);
  const reasons = (await Array.fromAsync(client.list(Event, { namespace: 'default' }))).map(({ reason }) => reason);
  expect(reasons).toEqual(['Farewell']);
});

test('the production options start', async () => {
  await using cluster = await startCluster();
  const { transport } = cluster;
  await createClient({ transport, fieldManager: 'test' }).create({
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: 'greetings' },
  });
  await createClient({ transport, fieldManager: 'test' }).create(toCustomResourceDefinition(Greeting));
  expect(controller).toBeDefined();
  expect(hooks.map(({ path }) => path)).toEqual([
    '/mutate-example-com-v1-greeting',
    '/validate-example-com-v1-greeting',
  ]);
  await using manager = await production({ transport });
  await manager.elected;
  await manager.ready;
  expect(manager.ports).toEqual({ health: 8081, metrics: 8080, webhooks: 9443 });
  expect(greetings.name).toBe('greeting');
});
