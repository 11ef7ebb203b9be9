/** The code of the README, as one program. `readme.test.ts` runs it and checks that the README shows nothing else. */
import { startCluster } from '@slipway/apiserver';
import { ConfigMap, createClient, defineKind, minutes, Secret, toCustomResourceDefinition, Type } from '@slipway/kube';
import {
  ChannelSource,
  controller,
  generationChanged,
  invalid,
  type ManagerOptions,
  memoryLogger,
  mutatingWebhook,
  requeueAfter,
  startManager,
  TerminalError,
  timerSource,
  validatingWebhook,
} from '@slipway/runtime';
import { VirtualClock } from '@slipway/testing';

export const Greeting = defineKind({
  group: 'example.com',
  version: 'v1',
  kind: 'Greeting',
  scope: 'Namespaced',
  spec: Type.Object({ who: Type.String() }),
  status: Type.Object({ text: Type.Optional(Type.String()) }),
});

export const greetings = controller({
  name: 'greeting',
  for: Greeting,
  owns: [ConfigMap],
  async reconcile({ cache, client, log }, key) {
    const greeting = await cache.get(Greeting, key);
    if (!greeting) return; // deleted: what it owned goes with it

    const text = `Hello, ${greeting.spec.who}!`;
    await client.apply(
      { apiVersion: 'v1', kind: 'ConfigMap', metadata: { ...key }, data: { text } },
      { owner: greeting },
    );
    await client.setStatus(greeting, { text });
    log.info('greeted');
  },
});

export async function tryItOut(): Promise<string | undefined> {
  await using cluster = await startCluster();
  const client = createClient({ transport: cluster.transport, fieldManager: 'me' });
  await client.create(toCustomResourceDefinition(Greeting));

  await using manager = await startManager({
    controllers: [greetings],
    cluster: { transport: cluster.transport },
    log: memoryLogger(),
  });
  await manager.ready;

  await client.create({
    apiVersion: 'example.com/v1',
    kind: 'Greeting',
    metadata: { namespace: 'default', name: 'first' },
    spec: { who: 'world' },
  });
  for await (const { object } of client.watch(Greeting, { namespace: 'default', resourceVersion: '0' })) {
    const { status } = object as { status?: { text?: string } };
    if (status?.text) return status.text;
  }
  return undefined;
}

export async function testIt(): Promise<string | undefined> {
  const clock = new VirtualClock();
  await using cluster = await startCluster({ clock });
  const client = createClient({ transport: cluster.transport, fieldManager: 'test', clock });
  await client.create(toCustomResourceDefinition(Greeting));
  const log = memoryLogger();
  await using manager = await startManager({
    controllers: [greetings],
    cluster: { transport: cluster.transport },
    leaderElection: true,
    clock,
    log,
  });
  const key = { namespace: 'default', name: 'first' };
  await client.create({ apiVersion: 'example.com/v1', kind: 'Greeting', metadata: key, spec: { who: 'test' } });
  await clock.runUntil(async () => (await client.get(ConfigMap, key)) !== undefined);
  await clock.advance(minutes(2)); // a moment, for you
  await manager.elected;
  return (await client.get(ConfigMap, key))?.data?.['text'];
}

export const pokes = new ChannelSource();

export const everything = controller({
  name: 'everything',
  for: Greeting,
  predicates: [generationChanged], // not when only the status changed
  watches: [
    {
      kind: Secret, // metadata only, unless you ask for more
      map: (event) => (event.meta.labels?.['greeting'] ? [{ ...event.key, name: event.meta.labels['greeting'] }] : []),
    },
  ],
  reads: [{ kind: ConfigMap, scope: { labelSelector: { app: 'greeting' } } }],
  sources: [pokes, timerSource({ everyMs: minutes(5), keys: () => [{ namespace: 'default', name: 'daily' }] })],
  concurrency: 4,
  reconcileTimeoutMs: minutes(1),
  finalize: {
    finalizer: 'example.com/greeting',
    async run({ events }, greeting) {
      events.normal(greeting, 'Farewell', `goodbye, ${greeting.spec.who}`);
    },
  },
  async reconcile({ cache, events, failures }, key) {
    const greeting = await cache.get(Greeting, key);
    if (!greeting) return;
    if (greeting.spec.who === '') throw new TerminalError('spec.who is empty: name somebody'); // no retry mends it
    if (failures > 3) events.warning(greeting, 'Struggling', 'this is taking longer than it should');
    return requeueAfter(minutes(10));
  },
});

export const hooks = [
  mutatingWebhook({
    name: 'mutate.greetings.example.com',
    kind: Greeting,
    mutate({ object }) {
      object.spec.who = object.spec.who.trim(); // the patch is computed for you
    },
  }),
  validatingWebhook({
    name: 'validate.greetings.example.com',
    kind: Greeting,
    validate: ({ object }) =>
      invalid(object.spec.who === 'nobody' ? [{ field: 'spec.who', message: 'must be somebody' }] : []),
  }),
];

export const production: ManagerOptions = {
  // `cluster` left out: the one we run in, or the one of the kubeconfig
  controllers: [greetings],
  leaderElection: true, // a Lease named after the first controller
  health: { port: 8081 }, // /healthz and /readyz
  metrics: { port: 8080, requireToken: true }, // /metrics, with controller-runtime's names; only for tokens that may get it
  webhooks: {
    webhooks: hooks,
    address: { service: { namespace: 'greetings', name: 'greetings' } },
    configuration: 'greetings', // writes the configuration objects, CA included, and keeps certificates fresh
  },
  signals: true, // SIGTERM and SIGINT stop it in good order
  lastResort: true, // and so does an error nobody caught, with its stack in the log
  gracefulStopMs: 30_000,
};

export async function run(options: ManagerOptions = production): Promise<void> {
  await using manager = await startManager(options);
  await manager.stopped;
}
