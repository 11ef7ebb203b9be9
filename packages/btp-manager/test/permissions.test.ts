import { join } from 'node:path';
import {
  ClusterRole,
  ClusterRoleBinding,
  ConfigMap,
  createClient,
  CustomResourceDefinition,
  Deployment,
  isNotFound,
  Job,
  MutatingWebhookConfiguration,
  NetworkPolicy,
  Pod,
  PriorityClass,
  Role,
  RoleBinding,
  Secret,
  Service,
  ServiceAccount,
  ValidatingWebhookConfiguration,
  type Client,
  type Kind,
  type KubeObject,
  type ObjectKey,
  type PolicyRule,
} from '@slipway/kube';
import { parseManifests } from '@slipway/manifests';
import {
  entriesIn,
  entriesOf,
  grant,
  onReference,
  ruleOf,
  skipped,
  type TestCluster,
  type TestManager,
  underTest,
} from '@slipway/testing';
import { describe, expect, test } from 'vitest';

import { BtpOperator, ServiceBinding, ServiceInstance } from '../src/api.ts';
import { caBundleProbeController } from '../src/ca-bundle-probe/controller.ts';
import { btpManager } from '../src/operator.ts';
import { permissionsForFolder } from '../src/permissions-for.ts';
import { handedOn } from '../src/permissions.ts';
import { ModuleLoader } from '../src/resources/load.ts';
import {
  btpCluster,
  btpController,
  btpOperator,
  isGone,
  namespace,
  primary,
  reaches,
  requiredSecret,
  seededCertificates,
  testSettings,
  type BtpTestCluster,
} from './kit.ts';
import { ManagerTransport } from './manager-transport.ts';
import { originalLayout } from './original-layout.ts';
import { wholeLife } from './whole-life.ts';

const enforced = { embedded: { authorization: 'RBAC' } } as const;

/** What the chart gives every manager, whichever operators it runs. */
const common: readonly PolicyRule[] = [
  { apiGroups: ['events.k8s.io'], resources: ['events'], verbs: ['create', 'update', 'patch'] },
];

interface UnderTest {
  readonly manager: TestManager;
  /** Entries the manager was refused. */
  readonly refused: ReadonlySet<string>;
  /** Everything it said: log lines and status. */
  readonly said: () => string;
}

/** A manager with every option that makes it do more, as the user whose role is under test. */
async function runUnderRole(
  cluster: BtpTestCluster,
  onRefused: (entries: readonly string[]) => Promise<void> = async () => undefined,
  data: Readonly<Record<string, string>> = {},
): Promise<UnderTest> {
  const refused = new Set<string>();
  const statuses: string[] = [];
  const { embedded } = cluster;
  const transport = new ManagerTransport(embedded ? embedded.transportFor({ user: underTest }) : cluster.transport(), {
    ...(embedded ? {} : { headers: { 'impersonate-user': underTest.name } }),
    async answered({ resource }, { status, message, sent }) {
      if (resource === 'btpoperators/status') statuses.push(sent);
      if (status !== 403) return;
      const entries = entriesIn(message);
      for (const entry of entries) refused.add(entry);
      await onRefused(entries);
    },
  });
  await effective(cluster, transport);
  // Many refusals, one after another: not five minutes for each.
  const pause = onReference ? '300ms' : '10s';
  const settings = testSettings({
    ProcessingStateRequeueInterval: pause,
    ReadyStateRequeueInterval: pause,
    HardDeleteTimeout: '1s',
    HardDeleteCheckInterval: '1s',
    ...data,
  });
  const manager = await cluster.run(
    [btpController({ settings, singleton: 'oldest' }), caBundleProbeController({ image: 'probe:1', settings })],
    { cluster: { transport } },
  );
  const plain = (_key: string, value: unknown): unknown => (value instanceof Error ? value.message : value);
  return { manager, refused, said: () => JSON.stringify([manager.logs, statuses], plain) };
}

/** A real server notices a changed role a moment later. */
async function effective(cluster: TestCluster, transport: ManagerTransport): Promise<void> {
  if (cluster.embedded) return;
  const rules = (await cluster.client.get(ClusterRole, { name: 'under-test' }))?.rules?.filter(
    ({ resources }) => resources?.includes('secrets') === true,
  );
  const client = createClient({ transport, fieldManager: 'test' });
  for (const entry of entriesOf(rules ?? []).slice(0, 1)) {
    const [verb] = entry.split(' ');
    const body = { spec: { resourceAttributes: { group: '', resource: 'secrets', verb } } };
    await cluster.eventually('the role is in force', async () => {
      const review = await client.request({
        method: 'POST',
        path: '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews',
        body: { apiVersion: 'authorization.k8s.io/v1', kind: 'SelfSubjectAccessReview', ...body },
      });
      return (review as { status?: { allowed?: boolean } }).status?.allowed;
    });
  }
}

describe('permissions', () => {
  test('are enough for everything the manager does', async () => {
    await using cluster = await btpCluster([namespace('creds'), ...furniture()], enforced);
    await grant(cluster, [...btpManager.permissions, ...common]);
    const { refused, said } = await runUnderRole(cluster);
    await wholeLife(cluster);
    expect([...refused]).toEqual([]);
    expect(said()).not.toMatch(/forbidden/i);
  });

  test('each single one is refused until it is given', async () => {
    await using cluster = await btpCluster([namespace('creds'), ...furniture()], enforced);
    // It begins with nothing at all and gets what it was refused, one after another.
    const given = new Set<string>();
    await grant(cluster, []);
    await runUnderRole(cluster, async (entries) => {
      for (const entry of entries) given.add(entry);
      await grant(cluster, [...given].map(ruleOf));
      // So that it tries again at once: the pauses between its tries grow.
      const body = { metadata: { annotations: { given: String(given.size) } } };
      await cluster.client.patch(BtpOperator, primary, { type: 'merge', body }).catch(ignoreNotFound);
    });
    await wholeLife(cluster);
    const declared = new Set(entriesOf([...btpManager.permissions]));
    expect([...given].filter((entry) => !declared.has(entry))).toEqual([]);
    expect([...declared].filter((entry) => !given.has(entry))).toEqual([]);
  });

  // The test before says as much; this one takes longer and belongs to the lanes that may.
  const short = skipped(
    !onReference && process.env['SLIPWAY_SWEEP'] !== 'full',
    'the manager without each of its rules; needs SLIPWAY_SWEEP=full or the real API server',
  );
  test.skipIf(short)(
    'without any one rule the manager fails, and says what it lacks',
    async () => {
      await using cluster = await btpCluster([namespace('creds'), ...furniture()], enforced);
      const harmless: string[] = [];
      // It hands on a rule for events that it needs itself to tell its own, as every manager does.
      const everybodys = new Set(entriesOf(common));
      for (const rule of btpManager.permissions) {
        if (entriesOf([rule]).every((entry) => everybodys.has(entry))) continue;
        const without = btpManager.permissions.filter((other) => other !== rule);
        await grant(cluster, [...without, ...common]);
        const { manager, refused, said } = await runUnderRole(cluster);
        const isSaid = () => /forbidden/i.test(said());
        await wholeLife(stoppedWhen(cluster, isSaid)).catch((error: unknown) => {
          if (!isSaid()) throw error;
        });
        if (!isSaid()) harmless.push(ruleText(rule));
        const left = new Set(entriesOf(without));
        expect([...refused].filter((entry) => left.has(entry))).toEqual([]);
        expect(entriesOf([rule])).toEqual(expect.arrayContaining([...refused]));
        await manager.stop();
        await clear(cluster);
      }
      expect(harmless).toEqual([]);
    },
    240_000,
  );

  const checkout = process.env['BTP_MANAGER_CHECKOUT'];
  test.each([
    { what: "in the shape of the original's", of: originalLayout },
    ...(checkout ? [{ what: 'of the original itself', of: async () => ({ folder: checkout, ...kept }) }] : []),
  ])('a set $what works under the role that is computed for it', async ({ of }) => {
    await using layout = await of();
    await using cluster = await btpCluster(furniture(), enforced);
    await grant(cluster, [...(await permissionsForFolder(layout.folder)), ...common]);
    const { refused, said } = await runUnderRole(cluster, undefined, {
      ChartPath: join(layout.folder, 'module-chart', 'chart'),
      ResourcesPath: join(layout.folder, 'module-resources'),
      ManagerResourcesPath: join(layout.folder, 'manager-resources'),
    });
    await cluster.client.create(btpOperator());
    expect((await reaches(cluster, 'ReconcileSucceeded')).status?.chartVersion).toBe('v0.11.10');
    expect(await cluster.client.get(PriorityClass, { name: 'btp-manager-kyma-priority' })).toBeDefined();
    await cluster.client.delete(BtpOperator, primary);
    await isGone(cluster);
    expect([...refused]).toEqual([]);
    expect(said()).not.toMatch(/forbidden/i);
  });
  if (!checkout)
    skipped(
      true,
      'the manifests of the original itself; needs BTP_MANAGER_CHECKOUT, a checkout of kyma-project/btp-manager',
    );

  test('cover what is handed on to the service operator', async () => {
    const { apply } = await new ModuleLoader().load(testSettings());
    const wanted = apply
      .filter(({ kind }) => kind === 'ClusterRole' || kind === 'Role')
      .flatMap((role) => entriesOf(role['rules'] as PolicyRule[]));
    expect(new Set(entriesOf(handedOn))).toEqual(new Set(wanted));
  });
});

function ruleText({ apiGroups = [], resources = [] }: PolicyRule): string {
  return `${resources.join(', ')} in "${apiGroups.join('", "')}"`;
}

/** Nothing to clear away. */
const kept: AsyncDisposable = { [Symbol.asyncDispose]: async () => undefined };

const furniture = () => [requiredSecret(), ...seededCertificates()];

/** For the next manager: everything of the last one goes, without asking it. */
async function clear({ client }: TestCluster): Promise<void> {
  const free = async (kind: Kind, key: ObjectKey) => {
    await client.patch(kind, key, { type: 'merge', body: { metadata: { finalizers: null } } });
    await client.delete(kind, key);
  };
  for (const kind of [BtpOperator, ServiceBinding, ServiceInstance] as Kind[])
    for (const { metadata } of await found(client, kind))
      await free(kind, { namespace: metadata.namespace, name: metadata.name! }).catch(ignoreNotFound);
  for (const kind of [
    MutatingWebhookConfiguration,
    ValidatingWebhookConfiguration,
    ClusterRole,
    ClusterRoleBinding,
    PriorityClass,
  ])
    await client.deleteCollection(kind as Kind, { labelSelector: 'app.kubernetes.io/managed-by=btp-manager' });
  const gracePeriodSeconds = 0;
  for (const kind of [
    Deployment,
    Job,
    Pod,
    Secret,
    ConfigMap,
    Service,
    ServiceAccount,
    NetworkPolicy,
    Role,
    RoleBinding,
  ])
    for (const where of ['kyma-system', 'creds'])
      await client.deleteCollection(kind as Kind, {
        namespace: where,
        propagationPolicy: 'Background',
        gracePeriodSeconds,
      });
  await client.deleteCollection(CustomResourceDefinition, {
    labelSelector: 'app.kubernetes.io/managed-by=btp-manager',
  });
  for (const object of furniture()) await client.create(object);
}

async function found(client: Client, kind: Kind): Promise<KubeObject[]> {
  try {
    return (await client.listPage(kind)).items;
  } catch (error) {
    ignoreNotFound(error);
    return [];
  }
}

function ignoreNotFound(error: unknown): void {
  if (!isNotFound(error)) throw error;
}

/** The same cluster, on which every wait ends, with an error, as soon as `over` says so. */
function stoppedWhen(cluster: BtpTestCluster, over: () => boolean): BtpTestCluster {
  const stopped = Symbol('stopped');
  return {
    ...cluster,
    async eventually(what, check, options) {
      const found = await cluster.eventually(what, async () => (over() ? stopped : await check()), options);
      if (found === stopped) throw new Error(`stopped while waiting: ${what}`);
      return found as never;
    },
  };
}

describe('the description of the operator', () => {
  test('refuses flags that cannot be used, and names them', () => {
    const env = { SAP_BTP_SERVICE_OPERATOR: 'x' };
    expect(() => btpManager.controllers({ flags: { singleton: 'youngest' }, env })).toThrow('neither fixed nor oldest');
    expect(() => btpManager.controllers({ flags: { 'ready-timeout': 'x' }, env })).toThrow('--ready-timeout');
    expect(btpManager.controllers({ flags: {}, env })).toHaveLength(1);
  });

  test('says at start that there is no image to install, with the reason the status would give', () => {
    expect(btpManager.obstacle!({ flags: {}, env: {} })).toMatch(
      /^PreparingInstallInfoFailed: .*SAP_BTP_SERVICE_OPERATOR/,
    );
    expect(btpManager.obstacle!({ flags: {}, env: { SAP_BTP_SERVICE_OPERATOR: 'x' } })).toBeUndefined();
    expect(btpManager.obstacle!({ flags: { 'service-operator-image': 'x' }, env: {} })).toBeUndefined();
  });

  test('has an example that can be applied', () => {
    for (const { manifest } of btpManager.examples)
      expect(parseManifests(manifest).map(({ kind }) => kind)).toEqual(['Namespace', 'Secret', 'BtpOperator']);
  });

  test('names no folder of this machine', () => {
    const { manifestsDir: _folder, ...rest } = btpManager;
    expect(JSON.stringify(rest)).not.toContain(import.meta.dirname.slice(0, 6));
  });
});
