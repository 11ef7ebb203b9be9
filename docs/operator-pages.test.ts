import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { kindText, toCustomResourceDefinition, type DefinedKind } from '@slipway/kube';
import type { Controller, OperatorDescription } from '@slipway/runtime';
import { onReference, skipped, testCluster } from '@slipway/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';

const installed = resolve(import.meta.dirname, '..', 'node_modules');
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'slipway-pages-'));
  await symlink(installed, join(folder, 'node_modules'));
});
afterAll(() => rm(folder, { recursive: true }));

/** What the code blocks of a page export, each a module of its own with the imports it shows. */
async function modulesOf(page: string): Promise<Readonly<Record<string, unknown>>> {
  const text = await readFile(join(import.meta.dirname, page), 'utf8');
  const exported: Record<string, unknown> = {};
  for (const [index, [, code = '']] of [...text.matchAll(/^```ts\n(.*?)^```$/gms)].entries()) {
    const file = join(folder, `${page}-${index}.ts`);
    await writeFile(file, code);
    Object.assign(exported, await import(pathToFileURL(file).href));
  }
  return exported;
}

const embeddedOnly = skipped(
  onReference,
  'on the real API server: the pages about operators, which are about the embedded one',
);

test.skipIf(embeddedOnly)('operator-description.md: the operator of the page does what its flag says', async () => {
  const { myOperator } = (await modulesOf('operator-description.md')) as { myOperator: OperatorDescription };
  expect(myOperator.kinds.map(kindText)).toEqual(['Greeting.v1.example.com']);
  expect(myOperator.webhooks).toHaveLength(1);
  await using cluster = await testCluster({ kinds: myOperator.kinds });
  await cluster.run(myOperator.controllers({ flags: { tone: 'Ahoy' }, env: {} }));
  const key = { namespace: 'default', name: 'first' };
  await cluster.client.create({ apiVersion: 'example.com/v1', kind: 'Greeting', metadata: key, spec: { who: 'ship' } });
  const ConfigMap = await cluster.client.resolve('v1', 'ConfigMap');
  const written = await cluster.eventually('the ConfigMap', () => cluster.client.get(ConfigMap, key));
  expect(written['data']).toEqual({ text: 'Ahoy, ship!' });
});

test.skipIf(embeddedOnly)('versions.md: an old object is read in the new version', async () => {
  const { Boat, BoatV1, boatConversion, readsOldAsNew } = (await modulesOf('versions.md')) as {
    Boat: DefinedKind;
    BoatV1: DefinedKind;
    boatConversion: NonNullable<OperatorDescription['webhooks']>[number];
    readsOldAsNew: (operator: OperatorDescription, old: DefinedKind, current: DefinedKind) => Promise<unknown>;
  };
  const { spec } = toCustomResourceDefinition(Boat);
  expect(spec.versions.map(({ name, storage }) => [name, storage])).toEqual([
    ['v2', true],
    ['v1', false],
  ]);
  const operator: OperatorDescription = {
    name: 'boats',
    title: 'Boats',
    summary: 'Boats.',
    kinds: [Boat],
    permissions: [],
    webhooks: [boatConversion],
    examples: [],
    reasons: [],
    controllers: () => [],
  };
  expect(await readsOldAsNew(operator, BoatV1, Boat)).toEqual({ crew: ['ann', 'bob'] });
});

test.skipIf(embeddedOnly)('testing-operators.md: every function of the page does what it says', async () => {
  const { greets, sweep, refuses, recorded, Greeting, greetings } = (await modulesOf('testing-operators.md')) as {
    greets: () => Promise<string>;
    sweep: () => Promise<{ points: number }>;
    refuses: () => Promise<boolean>;
    recorded: (cluster: unknown, controllers: readonly Controller[], life: () => Promise<void>) => Promise<void>;
    Greeting: DefinedKind;
    greetings: Controller;
  };
  expect(await greets()).toBe('Hello, world!');
  expect((await sweep()).points).toBeGreaterThan(0);
  expect(await refuses()).toBe(true);
  await using cluster = await testCluster({ kinds: [Greeting] });
  // Nothing is greeted in this life, so the rights to write are too much.
  await expect(recorded(cluster, [greetings], async () => undefined)).rejects.toThrow('too much');
});
