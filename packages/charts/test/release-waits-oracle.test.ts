import {
  type Kind,
  Deployment,
  Job,
  type KubeObject,
  Namespace,
  PersistentVolumeClaim,
  Pod,
  ReplicaSet,
  Service,
  StatefulSet,
} from '@slipway/kube';
import { onReference, skipped } from '@slipway/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { installRelease, upgradeRelease } from '../src/index.ts';
import { type HelmBench, openHelmBench } from './helm-bench.ts';

const without = skipped(!onReference, 'what --wait is content with, beside helm: needs the real API server');

const files = {
  'Chart.yaml': 'apiVersion: v2\nname: shop\nversion: 1.0.0\n',
  'templates/all.yaml': '{{ .Values.object }}\n',
};

const containers = 'containers: [{name: a, image: a}]';
const template = `selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {${containers}}}`;
const object = (apiVersion: string, kind: string, spec: string): string =>
  `apiVersion: ${apiVersion}\nkind: ${kind}\nmetadata: {name: once}\nspec: {${spec}}\n`;
const deployment = object('apps/v1', 'Deployment', template);
const job = (more = ''): string =>
  object('batch/v1', 'Job', `${more}template: {spec: {restartPolicy: Never, ${containers}}}`);
const pod = object('v1', 'Pod', containers);
const claim = object(
  'v1',
  'PersistentVolumeClaim',
  'accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}',
);
const since = '2026-01-01T00:00:00Z';
const holds = (type: string, more: object = {}) => ({ conditions: [{ type, status: 'True', ...more }] });
const whole = {
  observedGeneration: 1,
  replicas: 1,
  updatedReplicas: 1,
  readyReplicas: 1,
  availableReplicas: 1,
  ...holds('Available'),
};

interface Case {
  readonly what: string;
  readonly text: string;
  readonly kind: Kind;
  readonly status?: object;
  readonly jobs?: boolean;
}

const cases: readonly Case[] = [
  {
    what: 'a Service without an address',
    text: object('v1', 'Service', 'type: LoadBalancer, ports: [{port: 80}]'),
    kind: Service,
  },
  { what: 'a Deployment nobody works on', text: deployment, kind: Deployment },
  {
    what: 'a Deployment that is as it should be',
    text: deployment,
    kind: Deployment,
    status: {
      ...whole,
      conditions: [...whole.conditions, { type: 'Progressing', status: 'True', reason: 'NewReplicaSetAvailable' }],
    },
  },
  { what: 'a Deployment with old replicas', text: deployment, kind: Deployment, status: { ...whole, replicas: 2 } },
  { what: 'a paused Deployment', text: deployment.replace('spec: {', 'spec: {paused: true, '), kind: Deployment },
  { what: 'a ReplicaSet nobody works on', text: object('apps/v1', 'ReplicaSet', template), kind: ReplicaSet },
  {
    what: 'a StatefulSet nobody works on',
    text: object('apps/v1', 'StatefulSet', `serviceName: a, ${template}`),
    kind: StatefulSet,
  },
  {
    what: 'a StatefulSet whose pods are replaced by hand',
    text: object('apps/v1', 'StatefulSet', `updateStrategy: {type: OnDelete}, serviceName: a, ${template}`),
    kind: StatefulSet,
  },
  { what: 'a Pod nobody runs', text: pod, kind: Pod },
  { what: 'a Pod that is not ready', text: pod, kind: Pod, status: { phase: 'Running' } },
  { what: 'a Pod that is ready', text: pod, kind: Pod, status: { phase: 'Running', ...holds('Ready') } },
  { what: 'a Pod that ended well', text: pod, kind: Pod, status: { phase: 'Succeeded' } },
  { what: 'a Pod that ended badly', text: pod, kind: Pod, status: { phase: 'Failed' } },
  { what: 'a claim without a volume', text: claim, kind: PersistentVolumeClaim, status: { phase: 'Pending' } },
  { what: 'a Job that has not begun', text: job(), kind: Job },
  { what: 'a Job that runs', text: job(), kind: Job, status: { startTime: since, active: 1 } },
  {
    what: 'a Job that runs, where its end counts',
    text: job(),
    kind: Job,
    status: { startTime: since, active: 1 },
    jobs: true,
  },
  // Without that, kstatus is content with one that is suspended, and so are we; helm waits in vain for its beginning.
  {
    what: 'a Job that is suspended, where its end counts',
    text: job('suspend: true, '),
    kind: Job,
    status: holds('Suspended'),
    jobs: true,
  },
];

describe.skipIf(without)('--wait is content when helm is', { timeout: 120_000 }, () => {
  let bench: HelmBench;
  let namespaces = 0;
  beforeAll(async () => {
    bench = await openHelmBench(files);
  });
  afterAll(async () => await bench?.[Symbol.asyncDispose]());

  test.each(cases.map((each) => [each.what, each] as const))('with %s', async (_, each) => {
    const namespace = `waits-${(namespaces += 1)}`;
    const { client, context, chart, chartFolder, helm4 } = bench;
    await client.create({ apiVersion: 'v1', kind: Namespace.kind, metadata: { name: namespace } });
    const values = { object: each.text };
    await installRelease(context, chart, { name: 'shop', namespace, values });
    if (each.status) {
      const { metadata } = (await client.get(each.kind, { namespace, name: 'once' })) as KubeObject;
      const status = {
        ...each.status,
        ...('observedGeneration' in each.status ? { observedGeneration: metadata.generation } : {}),
      };
      const body = { type: 'merge', body: { status } } as const;
      await client.patch(each.kind, { namespace, name: 'once' }, body, { subresource: 'status' });
    }
    const wait = { wait: true, waitForJobs: each.jobs ?? false, timeoutMs: 3_000 };
    const flags = ['--wait', '--timeout=3s', ...(each.jobs ? ['--wait-for-jobs'] : []), '--namespace', namespace];
    const didIt = async (work: () => Promise<unknown>): Promise<boolean> =>
      await work().then(
        () => true,
        () => false,
      );
    const ours = await didIt(async () => await upgradeRelease(context, chart, { name: 'shop', namespace, ...wait }));
    const theirs = await didIt(
      async () => await bench.helm(helm4, 'upgrade', 'shop', chartFolder, '--reuse-values', ...flags),
    );
    expect(ours).toBe(theirs);
  });
});
