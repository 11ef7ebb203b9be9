import { createClient, days } from '@slipway/kube';
import {
  entriesOf,
  givenWhenRefused,
  onReference,
  RefusalTransport,
  skipped,
  type TestCluster,
  unexpected,
  unneeded,
} from '@slipway/testing';
import { expect, test } from 'vitest';

import { APIServer } from '../src/api/components.ts';
import { apiServerComponent } from '../src/api-server/component.ts';
import { hostedProvider } from '../src/api-server/providers/hosted/provider.ts';
import { componentController } from '../src/component/define-component.ts';
import { controlPlaneOperator } from '../src/operator.ts';
import { hostPermissions } from '../src/permissions.ts';
import { apiServer, hostCluster, key, lookNow, settings, StandIn, version, whenIs } from './hosted-kit.ts';

const embeddedOnly = skipped(
  onReference,
  'on the real API server: the rights on a host cluster one by one, which need a host apart from the onboarding cluster',
);

/** A cluster that runs pods, and nothing else. */
async function host({ clock }: TestCluster) {
  const { startCluster } = await import('@slipway/apiserver');
  const embedded = await startCluster({ clock, authorization: 'RBAC', controllers: 'workloads' });
  const transport = () => embedded.transportFor({});
  const client = createClient({ transport: transport(), fieldManager: 'test', clock });
  return { embedded, transport, client, [Symbol.asyncDispose]: () => embedded.stop() };
}

test.skipIf(embeddedOnly)('each single permission on the host cluster is refused until it is given', async () => {
  await using onboarding = await hostCluster();
  await using where = await host(onboarding);
  await using standIn = await StandIn.start();
  const { given, give } = await givenWhenRefused(where);
  const transport = new RefusalTransport(where, {
    async onRefused(entry) {
      await give(entry);
      // So that it tries again at once: the pauses between its tries grow.
      await lookNow(onboarding).catch(() => undefined);
    },
  });
  const asOperator = createClient({ transport, fieldManager: 'control-plane', clock: onboarding.clock });
  const operate = async (changes: Partial<typeof settings>) => {
    const provider = hostedProvider({
      settings: { ...settings, ...changes },
      connect: standIn.connect,
      host: async () => asOperator,
      lookMs: days(1),
    });
    return await onboarding.run([componentController(apiServerComponent({ provider, connect: standIn.connect }))]);
  };
  const { client } = onboarding;

  // A life in which the operator does everything it can do there: made, renewed, upgraded, removed.
  const first = await operate({});
  await client.create(apiServer());
  await onboarding.eventually('it runs', () => whenIs(onboarding, version));
  await first.stop();
  const annotations = { 'balancer.example/kind': 'inside' };
  await operate({
    version: '1.37.0',
    service: { ...settings.service, annotations },
    certificateLifeMs: days(1800),
  });
  await onboarding.eventually('it is upgraded', () => whenIs(onboarding, '1.37.0'));
  await client.delete(APIServer, key);
  await onboarding.eventually('it is gone', async () => (await client.get(APIServer, key)) === undefined);

  expect(unexpected(given, hostPermissions)).toEqual([]);
  expect(unneeded(given, hostPermissions)).toEqual([]);
});

test('`slipway rbac control-plane --cluster host` prints them', async () => {
  const [variant] = controlPlaneOperator.permissionVariants!;
  expect(entriesOf(await variant!.permissions('host'))).toEqual(entriesOf(hostPermissions));
});
