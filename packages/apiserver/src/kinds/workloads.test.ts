import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { asTable, mergePatch, startFixture, type Fixture, type Send } from './server-fixture.ts';

let fixture: Fixture;
const send: Send = (...request) => fixture.send(...request);
beforeAll(async () => {
  fixture = await startFixture();
});
afterAll(() => fixture.stop());

const apps = '/apis/apps/v1/namespaces/default';
const batch = '/apis/batch/v1/namespaces/default';

function workload(kind: string, name: string, spec: object = {}) {
  return {
    apiVersion: 'apps/v1',
    kind,
    metadata: { name },
    spec: {
      selector: { matchLabels: { app: name } },
      template: { metadata: { labels: { app: name } }, spec: { containers: [{ name: 'c', image: 'x:1' }] } },
      ...spec,
    },
  };
}

const podSpec = {
  containers: [
    {
      name: 'c',
      image: 'x:1',
      resources: {},
      terminationMessagePath: '/dev/termination-log',
      terminationMessagePolicy: 'File',
      imagePullPolicy: 'IfNotPresent',
    },
  ],
  restartPolicy: 'Always',
  terminationGracePeriodSeconds: 30,
  dnsPolicy: 'ClusterFirst',
  securityContext: {},
  schedulerName: 'default-scheduler',
};

describe('defaults of workloads', () => {
  it('fills a Deployment as the real server does', async () => {
    const { status, body } = await send('POST', `${apps}/deployments`, {
      ...workload('Deployment', 'web'),
      status: { replicas: 5 },
    });
    expect(status).toBe(201);
    expect(body.metadata.generation).toBe(1);
    expect(body['status']).toEqual({});
    expect(body['spec']).toEqual({
      replicas: 1,
      selector: { matchLabels: { app: 'web' } },
      template: { metadata: { labels: { app: 'web' } }, spec: podSpec },
      strategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: '25%', maxSurge: '25%' } },
      revisionHistoryLimit: 10,
      progressDeadlineSeconds: 600,
    });
  });

  it('fills a StatefulSet and its claim templates', async () => {
    const claim = {
      metadata: { name: 'd' },
      spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1024Mi' } } },
    };
    const { body } = await send(
      'POST',
      `${apps}/statefulsets`,
      workload('StatefulSet', 'ss', { serviceName: 's2', volumeClaimTemplates: [claim] }),
    );
    expect(body['spec']).toMatchObject({
      podManagementPolicy: 'OrderedReady',
      updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 0 } },
      persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Retain', whenScaled: 'Retain' },
      volumeClaimTemplates: [
        {
          kind: 'PersistentVolumeClaim',
          apiVersion: 'v1',
          metadata: { name: 'd' },
          spec: {
            accessModes: ['ReadWriteOnce'],
            resources: { requests: { storage: '1Gi' } },
            volumeMode: 'Filesystem',
          },
          status: { phase: 'Pending' },
        },
      ],
    });
    expect(body['status']).toEqual({ replicas: 0, availableReplicas: 0 });
  });

  it('counts the template generation of a DaemonSet', async () => {
    const { body } = await send('POST', `${apps}/daemonsets`, workload('DaemonSet', 'ds'));
    const annotation = 'deprecated.daemonset.template.generation';
    expect(body.metadata.annotations).toEqual({ [annotation]: '1' });
    const template = { spec: { template: { metadata: { annotations: { a: 'b' } } } } };
    const changed = await send('PATCH', `${apps}/daemonsets/ds`, template, mergePatch);
    expect(changed.body.metadata.annotations).toEqual({ [annotation]: '2' });
  });

  it('selects the pods of a Job by its uid', async () => {
    const { body } = await send('POST', `${batch}/jobs`, {
      metadata: { name: 'j' },
      spec: { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'x' }] } } },
    });
    const uid = body.metadata.uid!;
    const labels = {
      'batch.kubernetes.io/controller-uid': uid,
      'batch.kubernetes.io/job-name': 'j',
      'controller-uid': uid,
      'job-name': 'j',
    };
    expect(body.metadata.labels).toEqual(labels);
    expect(body['spec']).toMatchObject({
      parallelism: 1,
      completions: 1,
      backoffLimit: 6,
      selector: { matchLabels: { 'batch.kubernetes.io/controller-uid': uid } },
      manualSelector: false,
      template: { metadata: { labels } },
      completionMode: 'NonIndexed',
      suspend: false,
      podReplacementPolicy: 'TerminatingOrFailed',
    });
  });
});

describe('checks of workloads', () => {
  it('says both things that are wrong with a changed selector', async () => {
    await send('POST', `${apps}/deployments`, workload('Deployment', 'fixed'));
    const { status, body } = await send(
      'PATCH',
      `${apps}/deployments/fixed`,
      { spec: { selector: { matchLabels: { app: 'other' } } } },
      mergePatch,
    );
    expect(status).toBe(422);
    expect(body['message']).toBe(
      'Deployment.apps "fixed" is invalid: [spec.template.metadata.labels: Invalid value: {"app":"fixed"}: `selector` does not match template `labels`, spec.selector: Invalid value: {"matchLabels":{"app":"other"}}: field is immutable]',
    );
  });

  /** What the real server names, with `reason field` for each. */
  it.each([
    ['Deployment', { matchLabels: { a: '!' } }, ['Invalid spec.selector', 'Invalid spec.selector.matchLabels']],
    ['ReplicaSet', { matchLabels: { a: '!' } }, ['Invalid spec.selector', 'Invalid spec.selector.matchLabels']],
    ['StatefulSet', { matchLabels: { a: '!' } }, ['Invalid spec.selector', 'Invalid spec.selector.matchLabels']],
    ['DaemonSet', { matchLabels: { a: '!' } }, ['Invalid spec.selector.matchLabels']],
    ['Deployment', undefined, ['Invalid spec.template.metadata.labels', 'Required spec.selector']],
    ['StatefulSet', undefined, ['Invalid spec.template.metadata.labels', 'Required spec.selector']],
    ['DaemonSet', undefined, ['Invalid spec.template.metadata.labels']],
  ])('of a %s with the selector %j names the fields the real server names', async (kind, selector, named) => {
    const { status, body } = await send(
      'POST',
      `${apps}/${kind.toLowerCase()}s?dryRun=All`,
      workload(kind, 'selected', { selector }),
    );
    const { causes } = body['details'] as { causes: { reason: string; field: string }[] };
    expect(status).toBe(422);
    expect(causes.map(({ reason, field }) => `${reason.replace('FieldValue', '')} ${field}`).sort()).toEqual(named);
  });

  it('needs containers', async () => {
    const empty = workload('Deployment', 'empty', {
      template: { metadata: { labels: { app: 'empty' } }, spec: { containers: [] } },
    });
    const { body } = await send('POST', `${apps}/deployments`, empty);
    expect(body['message']).toBe('Deployment.apps "empty" is invalid: spec.template.spec.containers: Required value');
  });

  it('keeps the service name of a StatefulSet', async () => {
    await send('POST', `${apps}/statefulsets`, workload('StatefulSet', 'named', { serviceName: 's' }));
    const { body } = await send('PATCH', `${apps}/statefulsets/named`, { spec: { serviceName: 'other' } }, mergePatch);
    expect(body['message']).toBe(
      `StatefulSet.apps "named" is invalid: spec: Forbidden: updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden`,
    );
  });

  it.each([
    ['bad', 'expected exactly 5 fields, found 1: [bad]'],
    ['61 * * * *', 'end of range (61) above maximum (59): 61'],
  ])('refuses the schedule %j', async (schedule, problem) => {
    const { body } = await send('POST', `${batch}/cronjobs`, {
      metadata: { name: 'cj' },
      spec: {
        schedule,
        jobTemplate: {
          spec: { template: { spec: { restartPolicy: 'OnFailure', containers: [{ name: 'c', image: 'x' }] } } },
        },
      },
    });
    expect(body['message']).toBe(
      `CronJob.batch "cj" is invalid: spec.schedule: Invalid value: ${JSON.stringify(schedule)}: ${problem}`,
    );
  });

  it('needs a restart policy that ends for Jobs', async () => {
    const { body } = await send('POST', `${batch}/jobs`, {
      metadata: { name: 'endless' },
      spec: { template: { spec: { containers: [{ name: 'c', image: 'x' }] } } },
    });
    expect(body['message']).toBe(
      'Job.batch "endless" is invalid: spec.template.spec.restartPolicy: Required value: valid values: "OnFailure", "Never"',
    );
  });
});

it('shows a Deployment as kubectl expects it', async () => {
  await send('POST', `${apps}/deployments`, workload('Deployment', 'shown', { replicas: 4 }));
  const { body } = await send('GET', `${apps}/deployments/shown`, undefined, asTable);
  const cells = (body['rows'] as { cells: unknown[] }[])[0]!.cells;
  expect(cells.toSpliced(4, 1)).toEqual(['shown', '0/4', 0, 0, 'c', 'x:1', 'app=shown']);
});
