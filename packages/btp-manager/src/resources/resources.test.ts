import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { KubeObject } from '@slipway/kube';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

import { Refusal } from '../reasons.ts';
import { settingsFromFlags } from '../settings/settings.ts';
import { ModuleLoader, type ModuleFiles } from './load.ts';
import { manifestsDir } from '../manifests-dir.ts';
import { prepareResources, withCaBundle, type Preparation } from './prepare.ts';
import { credentialsNamespace, requireCredentials, requireSecret } from './required-secret.ts';

const settings = settingsFromFlags();
const encode = (text: string) => Buffer.from(text).toString('base64');
const data = {
  clientid: encode('id'),
  clientsecret: encode('hush'),
  sm_url: encode('https://sm'),
  tokenurl: encode('https://token'),
  cluster_id: encode('cluster-1'),
};
const secretOf = (content: Record<string, string>, labels: Record<string, string> = {}) => ({
  apiVersion: 'v1' as const,
  kind: 'Secret' as const,
  metadata: { name: 'sap-btp-manager', namespace: 'kyma-system', labels },
  data: content,
});

async function refusalOf(work: () => unknown): Promise<Refusal> {
  try {
    await work();
  } catch (error) {
    if (error instanceof Refusal) return error;
    throw error;
  }
  throw new Error('was not refused');
}

describe('the required Secret', () => {
  test('without the label it counts as missing, and the message says so', async () => {
    expect((await refusalOf(() => requireSecret(undefined, settings))).message).toBe(
      'sap-btp-manager Secret in kyma-system namespace not found',
    );
    const refusal = await refusalOf(() => requireSecret(secretOf(data), settings));
    expect(refusal.reason).toBe('MissingSecret');
    expect(refusal.message).toContain('app.kubernetes.io/managed-by: kcp-kyma-environment-broker');
    for (const value of ['kcp-kyma-environment-broker', 'btp-manager'])
      expect(requireSecret(secretOf(data, { 'app.kubernetes.io/managed-by': value }), settings)).toBeDefined();
  });

  test('missing keys and empty values are named in order', async () => {
    const { clientsecret: _secret, tokenurl: _url, ...rest } = data;
    const refusal = await refusalOf(() => requireCredentials(secretOf({ ...rest, sm_url: '' }), settings));
    expect(refusal).toMatchObject({
      reason: 'InvalidSecret',
      message: 'key(s) clientsecret, tokenurl not found, missing value(s) for sm_url key(s)',
    });
  });

  test('says where the credentials go', () => {
    expect(requireCredentials(secretOf(data), settings)).toMatchObject({
      clusterId: 'cluster-1',
      namespace: 'kyma-system',
    });
    expect(credentialsNamespace(secretOf({ credentials_namespace: encode('elsewhere') }), settings)).toBe('elsewhere');
    expect(credentialsNamespace(secretOf({ credentials_namespace: '' }), settings)).toBe('kyma-system');
  });
});

describe('the module on disk', () => {
  let folder: string;
  let paths: { chartPath: string; resourcesPath: string; managerResourcesPath: string };

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'btp-'));
    await cp(manifestsDir, folder, { recursive: true });
    paths = {
      chartPath: join(folder, 'module-chart', 'chart'),
      resourcesPath: join(folder, 'module-resources'),
      managerResourcesPath: join(folder, 'manager-resources'),
    };
  });
  afterEach(() => rm(folder, { recursive: true }));

  test('holds the fifteen objects of the module and four network policies', async () => {
    const files = await new ModuleLoader().load(paths);
    expect(files.chartVersion).toBe('v0.11.10');
    expect(files.outdated).toEqual([]);
    expect(files.networkPolicies).toHaveLength(4);
    expect(files.apply.map((object) => `${object.kind} ${object.metadata.name}`).sort()).toEqual([
      'ClusterRole sap-btp-operator-manager-role',
      'ClusterRoleBinding sap-btp-operator-manager-rolebinding',
      'ConfigMap sap-btp-operator-config',
      'CustomResourceDefinition servicebindings.services.cloud.sap.com',
      'CustomResourceDefinition serviceinstances.services.cloud.sap.com',
      'Deployment sap-btp-operator-controller-manager',
      'MutatingWebhookConfiguration sap-btp-operator-mutating-webhook-configuration',
      'PriorityClass btp-manager-kyma-priority',
      'Role sap-btp-operator-leader-election-role',
      'RoleBinding sap-btp-operator-leader-election-rolebinding',
      'Secret sap-btp-service-operator',
      'Service sap-btp-operator-controller-manager-metrics-service',
      'Service sap-btp-operator-webhook-service',
      'ServiceAccount sap-btp-operator',
      'ValidatingWebhookConfiguration sap-btp-operator-validating-webhook-configuration',
    ]);
  });

  test('is read again only when a file changes', async () => {
    const loader = new ModuleLoader();
    const first = await loader.load(paths);
    expect(await loader.load(paths)).toBe(first);
    await writeFile(join(paths.chartPath, 'Chart.yaml'), 'version: 0.12.0\n');
    expect((await loader.load(paths)).chartVersion).toBe('0.12.0');
  });

  test('ChartPathEmpty: no path, or no Chart.yaml there', async () => {
    expect((await refusalOf(() => new ModuleLoader().load({ ...paths, chartPath: '' }))).reason).toBe('ChartPathEmpty');
    await rm(join(paths.chartPath, 'Chart.yaml'));
    const refusal = await refusalOf(() => new ModuleLoader().load(paths));
    expect(refusal.reason).toBe('ChartPathEmpty');
    expect(refusal.message).toContain('Chart.yaml cannot be read: ENOENT');
  });

  test('InconsistentChart: a mistake is named by file, line and field', async () => {
    const file = join(paths.resourcesPath, 'apply', 'broken.yml');
    await writeFile(
      file,
      'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n---\napiVersion: v1\nkind: ConfigMap\n',
    );
    const refusal = await refusalOf(() => new ModuleLoader().load(paths));
    expect(refusal.reason).toBe('InconsistentChart');
    expect(refusal.message).toContain(`${file}, document 2, line 5`);
    await writeFile(file, 'a: b: c\n');
    expect((await refusalOf(() => new ModuleLoader().load(paths))).message).toContain(`${file}, document 1, line 1`);
  });

  test('InconsistentChart: a folder is missing, or the version', async () => {
    await writeFile(join(paths.chartPath, 'Chart.yaml'), 'name: x\n');
    expect((await refusalOf(() => new ModuleLoader().load(paths))).message).toContain('Chart.yaml: version is missing');
    await rm(join(paths.resourcesPath, 'delete'), { recursive: true });
    expect((await refusalOf(() => new ModuleLoader().load(paths))).reason).toBe('InconsistentChart');
  });
});

describe('preparing the resources', () => {
  let files: ModuleFiles;
  beforeEach(async () => void (files = await new ModuleLoader().load(settings)));

  const prepare = (change: Partial<Preparation> = {}) =>
    prepareResources({
      files,
      settings,
      credentials: { data, clusterId: 'cluster-1', namespace: 'kyma-system' },
      images: { serviceOperator: 'operator:1' },
      clusterScoped: new Set([
        'rbac.authorization.k8s.io/v1/ClusterRole',
        'rbac.authorization.k8s.io/v1/ClusterRoleBinding',
      ]),
      networkPolicies: true,
      ...change,
    });
  const one = (objects: readonly KubeObject[], kind: string, name?: string) =>
    objects.find((object) => object.kind === kind && (name === undefined || object.metadata.name === name))!;

  test('every object gets the labels and the namespace', () => {
    const objects = prepare({ settings: { ...settings, chartNamespace: 'elsewhere' } });
    expect(objects).toHaveLength(19);
    for (const object of objects) {
      expect(object.metadata.labels).toMatchObject({
        'app.kubernetes.io/managed-by': 'btp-manager',
        'chart-version': 'v0.11.10',
        'kyma-project.io/module': 'btp-operator',
      });
    }
    expect(one(objects, 'Deployment').metadata.namespace).toBe('elsewhere');
    expect(one(objects, 'NetworkPolicy').metadata.namespace).toBe('elsewhere');
    expect(one(objects, 'ClusterRole').metadata.namespace).toBeUndefined();
    expect(one(objects, 'ClusterRoleBinding')['subjects']).toMatchObject([{ namespace: 'elsewhere' }]);
    expect(one(objects, 'ValidatingWebhookConfiguration')['webhooks']).toMatchObject([
      { clientConfig: { service: { namespace: 'elsewhere' } } },
      { clientConfig: { service: { namespace: 'elsewhere' } } },
    ]);
  });

  test('the ConfigMap and the Secret get what the required Secret says', () => {
    const objects = prepare({
      credentials: {
        data: { ...data, extra: encode('x'), tokenurlsuffix: encode('/t'), credentials_namespace: encode('creds') },
        clusterId: 'cluster-1',
        namespace: 'creds',
      },
    });
    expect(one(objects, 'ConfigMap')['data']).toEqual({
      CLUSTER_ID: 'cluster-1',
      RELEASE_NAMESPACE: 'creds',
      MANAGEMENT_NAMESPACE: 'creds',
      ENABLE_LIMITED_CACHE: 'true',
      ALLOW_CLUSTER_ACCESS: 'true',
    });
    const secret = one(objects, 'Secret');
    expect(secret.metadata.namespace).toBe('creds');
    expect(secret['data']).toEqual({
      clientid: data.clientid,
      clientsecret: data.clientsecret,
      sm_url: data.sm_url,
      tokenurl: data.tokenurl,
      tokenurlsuffix: encode('/t'),
      extra: encode('x'),
    });
  });

  test('images come from the environment', async () => {
    const deployment = one(prepare(), 'Deployment') as KubeObject & Record<string, never>;
    expect(deployment['spec']).toMatchObject({
      template: {
        metadata: { labels: { 'kyma-project.io/module': 'btp-operator' } },
        spec: { containers: [{ name: 'manager', image: 'operator:1' }] },
      },
    });
    const withProxy = {
      ...files,
      apply: files.apply.map((object) =>
        object.kind === 'Deployment'
          ? {
              ...object,
              spec: {
                ...(object['spec'] as object),
                template: { spec: { containers: [{ name: 'kube-rbac-proxy' }, { name: 'manager' }] } },
              },
            }
          : object,
      ),
    };
    const images = { serviceOperator: 'operator:1', rbacProxy: 'proxy:2' };
    expect(one(prepare({ files: withProxy, images }), 'Deployment')['spec']).toMatchObject({
      template: { spec: { containers: [{ image: 'proxy:2' }, { image: 'operator:1' }] } },
    });
    const refusal = await refusalOf(() => prepare({ files: withProxy }));
    expect(refusal.reason).toBe('PreparingInstallInfoFailed');
    expect(refusal.message).toContain('set KUBE_RBAC_PROXY');
  });

  test('a change of the configuration changes the pods, a change of the credentials does not', () => {
    const template = (objects: KubeObject[]) =>
      JSON.stringify((one(objects, 'Deployment')['spec'] as { template: unknown }).template);
    const before = template(prepare());
    const credentials = { data, clusterId: 'cluster-1', namespace: 'kyma-system' };
    expect(template(prepare({ credentials: { ...credentials, clusterId: 'cluster-2' } }))).not.toBe(before);
    expect(template(prepare({ credentials: { ...credentials, namespace: 'other' } }))).not.toBe(before);
    const rotated = { ...credentials, data: { ...data, clientsecret: encode('new') } };
    expect(template(prepare({ credentials: rotated }))).toBe(before);
  });

  test('InconsistentChart: a set without its core', async () => {
    const refusal = await refusalOf(() =>
      prepare({ files: { ...files, apply: files.apply.filter((object) => object.kind !== 'ConfigMap') } }),
    );
    expect(refusal).toMatchObject({
      reason: 'InconsistentChart',
      message: 'required module resources not found in manifests (configMap=false, secret=true, deployment=true)',
    });
  });

  test('PreparingInstallInfoFailed: a Deployment without the container', async () => {
    const apply = files.apply.map((object) =>
      object.kind === 'Deployment' ? { ...object, spec: { template: { spec: { containers: [] } } } } : object,
    );
    const refusal = await refusalOf(() => prepare({ files: { ...files, apply } }));
    expect(refusal).toMatchObject({ reason: 'PreparingInstallInfoFailed' });
    expect(refusal.message).toContain('has no container "manager"');
  });

  test('PreparingInstallInfoFailed: no image', async () => {
    const refusal = await refusalOf(() => prepare({ images: { serviceOperator: '' } }));
    expect(refusal.reason).toBe('PreparingInstallInfoFailed');
    expect(refusal.message).toContain('set SAP_BTP_SERVICE_OPERATOR');
  });

  test('the files stay as they were read', () => {
    const before = JSON.stringify(files);
    withCaBundle(prepare(), 'x');
    expect(JSON.stringify(files)).toBe(before);
  });

  test('every webhook trusts the bundle', () => {
    const webhooks = withCaBundle(prepare(), 'Y2E=').filter((object) => 'webhooks' in object);
    expect(webhooks).toHaveLength(2);
    for (const { webhooks: list } of webhooks as unknown as { webhooks: { clientConfig: { caBundle: string } }[] }[])
      expect(list.map((webhook) => webhook.clientConfig.caBundle)).toEqual(['Y2E=', 'Y2E=']);
  });
});
