import { expect, test } from 'vitest';

import { landscaperComponent } from '../src/landscaper/component.ts';
import { LandscaperV2 } from '../src/landscaper/kinds.ts';
import { componentController } from '../src/component/define-component.ts';
import { ContractStage, targetSubject } from '../src/testing/index.ts';
import { lookEveryMs } from './look-every.ts';
import { dependenciesOf } from './plain-subject.ts';

const key = { namespace: 'default', name: 'contract' };

async function start(): Promise<ContractStage> {
  const subject = targetSubject(
    {
      type: 'Landscaper',
      dependsOn: dependenciesOf.Landscaper,
      spec: { deployers: ['helm'] },
      otherSpec: {},
      hasMade: async ({ client }) => (await client.get(LandscaperV2, key)) !== undefined,
      clusterOptions: { kinds: [LandscaperV2] },
    },
    (connect) => componentController(landscaperComponent({ connect, version: 'v1.2.3', lookEveryMs })),
  );
  const stage = await ContractStage.open(subject);
  await stage.createDependencies();
  await stage.createOwn();
  await stage.patchOwn({ metadata: { labels: { 'architecture.openmcp.cloud/version': 'v2' } } });
  return stage;
}

/** Plays the service of the second architecture. */
async function report({ cluster: { client } }: ContractStage, phase: string, conditions: object[] = []): Promise<void> {
  const { metadata } = (await client.get(LandscaperV2, key))!;
  const body = { status: { phase, conditions, observedGeneration: metadata.generation } };
  await client.patch(LandscaperV2, key, { type: 'merge', body }, { subresource: 'status' });
}

const conditionOf = async (stage: ContractStage, type: string) =>
  (await stage.own())?.status?.conditions?.find((condition) => condition.type === type);

test('the second architecture gets a Landscaper with a version and our labels, and its conditions come back', async () => {
  await using stage = await start();
  const { client } = stage.cluster;
  const made = await stage.until('it is made', async () => await client.get(LandscaperV2, key));
  expect(made.spec).toEqual({ version: 'v1.2.3' });
  expect(made.metadata.labels).toEqual({
    'v1.openmcp.cloud/mcp-name': 'contract',
    'v1.openmcp.cloud/mcp-namespace': 'default',
  });
  await stage.until(
    'it waits',
    async () => (await conditionOf(stage, 'LandscaperHealthy'))?.reason === 'WaitingForLaaS',
  );
  await report(stage, 'Progressing', [{ type: 'Installed', status: 'False', reason: 'Pulling', message: 'an image' }]);
  // Nothing wakes it: it looks again from time to time.
  await stage.until('its condition is exported', async () => {
    const exported = await conditionOf(stage, 'LSv2_Installed');
    return exported?.reason === 'Pulling' && exported.message === 'an image';
  });
  await report(stage, 'Ready', [{ type: 'Installed', status: 'True' }]);
  await stage.settled();
  expect(await conditionOf(stage, 'LandscaperV2ResourceCreatedOrUpdated')).toMatchObject({ status: 'True' });
});

test('a Landscaper of the second architecture that does not go yet is waited for', async () => {
  await using stage = await start();
  const { client } = stage.cluster;
  await stage.until('it is made', async () => await client.get(LandscaperV2, key));
  await report(stage, 'Ready');
  await stage.settled();
  const hold = (finalizers: string[]) =>
    client.patch(LandscaperV2, key, { type: 'merge', body: { metadata: { finalizers } } });
  await hold(['example.com/service']);
  await stage.deleteOwn();
  await stage.until('it says so', async () => {
    const condition = await conditionOf(stage, 'LandscaperV2ResourceDeleted');
    return condition?.status === 'False' && condition.reason === 'WaitingForLaaS';
  });
  await hold([]);
  await stage.until('it is gone', async () => !(await stage.own()));
  expect(await client.get(LandscaperV2, key)).toBeUndefined();
});
