import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

import { startCluster } from '@slipway/apiserver';
import {
  createClient,
  Event,
  Lease,
  Secret,
  toCustomResourceDefinition,
  ValidatingWebhookConfiguration,
} from '@slipway/kube';
import { memoryLogger, startManager } from '@slipway/runtime';
import { VirtualClock } from '@slipway/testing';
import { expect, test } from 'vitest';

import { everything, Greeting, pokes, production, run, testIt, tryItOut } from './tutorial.ts';

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

test('every code block of the README imports what it uses of ours', async () => {
  const readme = await readFile(join(import.meta.dirname, '..', 'README.md'), 'utf8');
  const tutorial = await readFile(join(import.meta.dirname, 'tutorial.ts'), 'utf8');
  const importsOf = (code: string) =>
    new Map(
      [...code.matchAll(/^import \{([^}]*)\} from '([^']+)';$/gm)].flatMap(([, names = '', from = '']) =>
        names.split(',').flatMap((name) => {
          const imported = name.replace('type ', '').trim();
          return imported === '' ? [] : [[imported, from] as const];
        }),
      ),
    );
  const known = importsOf(tutorial);
  for (const [, block = ''] of readme.matchAll(/```ts\n(.*?)```/gs)) {
    const code = block.replaceAll(/^import [^;]*;$|'[^']*'|`[^`]*`|\/\/.*$/gm, '');
    const used = [...known].filter(([name]) => new RegExp(`(?<![\\w.])${name}\\b(?!:)`).test(code));
    expect(importsOf(block)).toEqual(new Map(used));
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

test('the production options start, write their webhook configuration and stop on a signal', async () => {
  await using cluster = await startCluster();
  const { transport } = cluster;
  const client = createClient({ transport, fieldManager: 'test' });
  await client.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'greetings' } });
  await client.create(toCustomResourceDefinition(Greeting));
  const log = memoryLogger();
  // The first thing a controller says is that its workers start: by then everything is up.
  const onController = (message: string) => {
    if (message === 'starting workers') process.kill(process.pid, 'SIGUSR2');
  };
  // Any free ports: the test may not be alone on the machine.
  const free = { port: 0, host: '127.0.0.1' };
  const running = run({
    ...production,
    cluster: { transport },
    health: free,
    metrics: free,
    webhooks: { ...production.webhooks!, ...free },
    signals: ['SIGUSR2'],
    log: { ...log, with: (fields) => ({ ...log.with(fields), info: onController }) },
  });
  await running;
  const lease = await client.get(Lease, { namespace: 'default', name: 'greeting' });
  expect(lease?.spec?.holderIdentity).toBe('');
  const configuration = await client.get(ValidatingWebhookConfiguration, { name: 'greetings' });
  expect(configuration?.webhooks?.[0]?.clientConfig).toMatchObject({
    service: { namespace: 'greetings', name: 'greetings', path: '/validate-example-com-v1-greeting' },
    caBundle: expect.any(String),
  });
  expect(log.entries.map(({ message }) => message)).toContain('stopped');
});
