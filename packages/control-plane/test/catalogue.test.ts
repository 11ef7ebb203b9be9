import { loadFiles } from '@slipway/charts';
import { ConfigMap, type KubeObject, Secret } from '@slipway/kube';
import { expect, test } from 'vitest';

import { CloudOrchestrator } from '../src/api/components.ts';
import { catalogueOf, type PartContent } from '../src/cloud-orchestrator/catalogue.ts';
import { cloudOrchestratorComponent } from '../src/cloud-orchestrator/component.ts';
import { componentController } from '../src/component/define-component.ts';
import { ContractStage, targetSubject } from '../src/testing/index.ts';
import { dependenciesOf } from './plain-subject.ts';

const where = { namespace: 'kyverno', name: 'settings' };
const template = `apiVersion: v1
kind: ConfigMap
metadata: { name: settings }
data: { version: {{ .Chart.Version | quote }}, replicas: {{ .Values.replicas | quote }} }
`;

async function chart(version: string, replicas = 1): Promise<PartContent> {
  const files = new Map([
    ['Chart.yaml', `apiVersion: v2\nname: kyverno\nversion: ${version}\n`],
    ['values.yaml', 'replicas: 0\n'],
    ['templates/settings.yaml', template],
  ]);
  const loaded = await loadFiles([...files].map(([name, text]) => ({ name, data: Buffer.from(text) })));
  return { chart: loaded, namespace: where.namespace, values: { replicas } };
}

const plain: KubeObject = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { namespace: 'default', name: 'kyverno' },
  data: { from: 'manifests' },
};

const catalogue = catalogueOf({
  kyverno: {
    '1.0.0': () => chart('1.0.0'),
    '2.0.0': () => chart('2.0.0', 2),
    plain: async () => ({ objects: [plain] }),
    broken: async () => {
      const { chart: good, ...rest } = (await chart('3.0.0')) as Extract<PartContent, { chart: unknown }>;
      return { ...rest, chart: { ...good, metadata: { ...good.metadata, kubeVersion: '>= 99.0.0' } } };
    },
  },
});

async function start(version: string): Promise<ContractStage> {
  const subject = targetSubject(
    {
      type: 'CloudOrchestrator',
      dependsOn: dependenciesOf.CloudOrchestrator,
      spec: { kyverno: { version } },
      otherSpec: {},
      hasMade: async () => true,
      // Records of releases are packed by the machine, in its own time.
      clusterOptions: { time: 'machine' },
    },
    (connect) => componentController(cloudOrchestratorComponent({ connect, work: { catalogue } })),
  );
  const stage = await ContractStage.open(subject);
  await stage.createDependencies();
  await stage.createOwn();
  return stage;
}

const ask = async (stage: ContractStage, version: string | null) =>
  await stage.patchOwn({ spec: { kyverno: version === null ? null : { version } } });
const settings = async ({ cluster }: ContractStage) => (await cluster.client.get(ConfigMap, where))?.data;
const releases = async ({ cluster }: ContractStage): Promise<string[]> => {
  const found: string[] = [];
  for await (const { metadata } of cluster.client.list(Secret, { namespace: where.namespace }))
    found.push(metadata.name!);
  return found.filter((name) => name.startsWith('sh.helm.release.')).sort();
};

test('a chart of the catalogue becomes a release, follows its version, and goes with the component', async () => {
  await using stage = await start('1.0.0');
  await stage.settled();
  expect(await settings(stage)).toEqual({ version: '1.0.0', replicas: '1' });
  expect(
    (await stage.cluster.client.get(CloudOrchestrator, { namespace: 'default', name: 'contract' }))?.status,
  ).toMatchObject({ componentsEnabled: 1, componentsHealthy: 1 });
  await stage.patchOwn({ metadata: { annotations: { 'openmcp.cloud/operation': 'reconcile' } } });
  await stage.until(
    'it was asked again',
    async () => !(await stage.own())?.metadata.annotations?.['openmcp.cloud/operation'],
  );
  await stage.settled();
  expect(await releases(stage), 'asked again, nothing is done again').toEqual(['sh.helm.release.v1.kyverno.v1']);

  await ask(stage, '2.0.0');
  await stage.until('it is upgraded', async () => (await settings(stage))?.['version'] === '2.0.0');
  await stage.settled();
  expect(await settings(stage)).toEqual({ version: '2.0.0', replicas: '2' });
  expect(await releases(stage)).toEqual(['sh.helm.release.v1.kyverno.v1', 'sh.helm.release.v1.kyverno.v2']);

  await stage.deleteOwn();
  await stage.until('it is gone', async () => !(await stage.own()));
  expect(await settings(stage)).toBeUndefined();
  expect(await releases(stage)).toEqual([]);
});

test('a version made of manifests takes the place of one made of a chart, and the other way round', async () => {
  await using stage = await start('1.0.0');
  await stage.settled();
  const manifests = async () => await stage.cluster.client.get(ConfigMap, { namespace: 'default', name: 'kyverno' });
  await ask(stage, 'plain');
  await stage.until('the manifests are there', manifests);
  await stage.settled();
  expect([await settings(stage), await releases(stage)]).toEqual([undefined, []]);
  await ask(stage, '2.0.0');
  await stage.until('the chart is there', async () => await settings(stage));
  await stage.settled();
  expect(await manifests()).toBeUndefined();
  await ask(stage, null);
  await stage.until('it is gone', async () => !(await settings(stage)));
});

test('what somebody changes or deletes of the manifests on a control plane is mended at once', async () => {
  await using stage = await start('plain');
  await stage.settled();
  const { client } = stage.cluster;
  const name = { namespace: 'default', name: 'kyverno' };
  await client.patch(ConfigMap, name, { type: 'merge', body: { data: { from: 'somebody' } } });
  await stage.until('it is as before', async () => (await client.get(ConfigMap, name))?.data?.['from'] === 'manifests');
  await client.delete(ConfigMap, name);
  await stage.until('it is there again', () => client.get(ConfigMap, name));
});

test('a chart that cannot be installed is a condition that says why', async () => {
  await using stage = await start('broken');
  const condition = await stage.until('the condition says so', async () =>
    (await stage.own())?.status?.conditions?.find(
      ({ status, message }) => status === 'False' && message?.includes('99'),
    ),
  );
  expect(condition).toMatchObject({ reason: 'COCoreClusterInteractionProblem' });
  expect(condition.message).toContain('kyverno could not be installed');
});
