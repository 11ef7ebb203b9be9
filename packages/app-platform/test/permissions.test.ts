import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ConfigMap, Deployment } from '@slipway/kube';
import type { Controller } from '@slipway/runtime';
import {
  entriesOf,
  givenWhenRefused,
  onReference,
  RefusalTransport,
  skipped,
  unexpected,
  unneeded,
} from '@slipway/testing';
import { expect, test } from 'vitest';

import { Application } from '../src/argo/application.ts';
import type { AppPlatformOptions } from '../src/controller.ts';
import { appPlatformOperator } from '../src/operator.ts';
import { permissionsForPlatform } from '../src/permissions/for-platform.ts';
import { nativeHelmfile } from '../src/platform/native-helmfile.ts';
import { nativeSyncController } from '../src/sync/controller.ts';
import type { SourceStore } from '../src/sync/source/git-sources.ts';
import { PlatformRoot } from '../src/values/platform-root.ts';
import { writeFiles } from './git-kit.ts';
import { isApplied } from './life.ts';
import {
  initialValues,
  managerRole,
  operatorRole,
  platformWorld,
  referencePlatform,
  type PlatformWorld,
} from './platform-kit.ts';
import { application, repositoryUrl } from './sync-kit.ts';

const limit = 180_000;
const { permissions } = appPlatformOperator;

/** So many teams that their objects are listed before they are applied. */
const manyTeams = Object.fromEntries(Array.from({ length: 8 }, (_, index) => [`team${index}`, { settings: {} }]));

const values = { ...initialValues, teamConfig: manyTeams };

/** A repository that holds the charts of a platform. */
function chartsOf(root: PlatformRoot): SourceStore {
  return {
    forget: () => undefined,
    resolve: async () => ({ commit: '0'.repeat(40), ref: 'HEAD' }),
    use: async (_url, _revision, _credentials, _signal, work) => await work(root.directory),
  };
}

/** All controllers of the operator. */
function controllers(platform: PlatformWorld, root: PlatformRoot): Controller[] {
  const helmfile: AppPlatformOptions['helmfile'] = ({ client, clock }, layers) =>
    nativeHelmfile({ root, layers, client, clock });
  return [
    platform.controller({ root, helmfile }),
    nativeSyncController({ settings: platform.settings, sources: chartsOf(root) }),
  ];
}

const workload = 'kind: AplTeamWorkload\nmetadata: {name: web}\nspec: {image: nginx}\n';
const noWorkloads = 'kind: AplTeamTool\nspec:\n    workloads:\n        enabled: false\n';
const noConsole = 'kind: AplApp\nspec:\n    enabled: false\n';

/** Everything the operator does: installs, synchronizes an Application of somebody's, brings a team's app, and takes away that and one of the platform. */
async function wholeLife(platform: PlatformWorld): Promise<void> {
  const { cluster, git } = platform;
  const { client } = cluster;
  const isSynced = async (name: string) =>
    (await client.get(Application, { namespace: 'argocd', name }))?.status?.sync?.status === 'Synced';
  await cluster.eventually('the platform is installed', () => isApplied(platform));
  await cluster.eventually('the console is synchronized', () => isSynced('console-console'));
  const source = { repoURL: repositoryUrl('any'), path: 'charts/trust', helm: { values: 'caCert: none' } };
  const syncPolicy = { automated: {}, syncOptions: ['CreateNamespace=true'] };
  await client.create(application('somebodys', { source, syncPolicy }));
  await git.push({ 'env/teams/team0/workloads/web.yaml': workload }, 'an app');
  await cluster.eventually('the app is synchronized', () => isSynced('team-team0-web'));
  await cluster.eventually("somebody's Application is synchronized", () => isSynced('somebodys'));
  await git.push({ 'env/teams/team0/apps.yaml': noWorkloads, 'env/apps/console.yaml': noConsole }, 'less');
  await cluster.eventually('the apps are gone', async () => {
    const app = await client.get(Deployment, { namespace: 'team-team0', name: 'web' });
    return app === undefined && !(await client.get(ConfigMap, { namespace: 'console', name: 'console' }));
  });
}

const short = skipped(
  onReference || process.env['SLIPWAY_SWEEP'] !== 'full',
  'permissions one by one; they need SLIPWAY_SWEEP=full and the embedded API server, which learns of a role at once',
);

test.skipIf(short)(
  'permissions: each single one is refused until it is given, and no other is asked for',
  { timeout: limit },
  async () => {
    await using platform = await platformWorld({ values, role: [] });
    const { cluster } = platform;
    const { given, give } = await givenWhenRefused(cluster);
    const transport = new RefusalTransport(cluster, { onRefused: give, insists: true });
    await cluster.run(controllers(platform, referencePlatform), { cluster: { transport } });
    await wholeLife(platform);
    expect(unexpected(given, operatorRole)).toEqual([]);
    expect(unneeded(given, permissions).filter((entry) => !isOthersBusiness(entry))).toEqual([]);
  },
);

test.skipIf(short).each(permissions.map((rule) => [entriesOf([rule]).join(', '), rule] as const))(
  'permissions: without %s the operator is refused just that',
  { timeout: limit },
  async (_text, rule) => {
    await using platform = await platformWorld({ values, role: operatorRole.filter((other) => other !== rule) });
    const { cluster } = platform;
    const transport = new RefusalTransport(cluster);
    await cluster.run(controllers(platform, referencePlatform), { cluster: { transport } });
    await Promise.race([wholeLife(platform), cluster.eventually('it is refused', () => transport.refused.size > 0)]);
    expect(transport.refused.size).toBeGreaterThan(0);
    expect(entriesOf([rule])).toEqual(expect.arrayContaining([...transport.refused]));
  },
);

test(
  'a platform of your own is installed and synchronized under the role that is computed for it',
  { timeout: limit },
  async () => {
    await using folder = await ownPlatform();
    const root = new PlatformRoot(folder.path);
    const role = await permissionsForPlatform(folder.path);
    await using platform = await platformWorld({ role: [...role, ...managerRole] });
    const { cluster } = platform;
    const transport = new RefusalTransport(cluster);
    await cluster.run(controllers(platform, root), { cluster: { transport } });
    await cluster.eventually('the extras are synchronized', async () => {
      const status = (await cluster.client.get(Application, { namespace: 'argocd', name: 'extras-extras' }))?.status;
      return status?.sync?.status === 'Synced' && status.operationState?.phase === 'Succeeded';
    });
    expect([...transport.refused]).toEqual([]);
  },
);

/** The reference platform with a chart that brings kinds, roles and a hook of its own. */
async function ownPlatform(): Promise<AsyncDisposable & { readonly path: string }> {
  const path = await mkdtemp(join(tmpdir(), 'slipway-own-platform-'));
  await cp(referencePlatform.directory, path, { recursive: true });
  await writeFiles(path, {
    'charts/extras/Chart.yaml': 'apiVersion: v2\nname: extras\nversion: 1.0.0\n',
    'charts/extras/crds/geese.yaml': definition,
    'charts/extras/templates/extras.yaml': extras,
    'helmfile.d/helmfile-20.extras.yaml': `releases:
  - { name: extras, namespace: extras, chart: ../charts/extras, labels: { app: core } }
`,
  });
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true }) };
}

const definition = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: { name: geese.example.com }
spec:
  group: example.com
  scope: Namespaced
  names: { kind: Goose, plural: geese, singular: goose, listKind: GooseList }
  versions:
    - name: v1
      served: true
      storage: true
      schema: { openAPIV3Schema: { type: object, x-kubernetes-preserve-unknown-fields: true } }
`;

const extras = `apiVersion: example.com/v1
kind: Goose
metadata: { name: grey }
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: { name: extras-keeper }
rules: [{ apiGroups: [example.com], resources: [geese], verbs: [feed] }]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: { name: extras-all }
aggregationRule: { clusterRoleSelectors: [{ matchLabels: { extras: 'true' } }] }
rules: []
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: { name: keeper }
roleRef: { apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: extras-keeper }
subjects: [{ kind: ServiceAccount, name: default }]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: { name: viewer }
roleRef: { apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: view }
subjects: [{ kind: ServiceAccount, name: default }]
---
apiVersion: v1
kind: Service
metadata: { name: before, annotations: { helm.sh/hook: 'pre-install,pre-upgrade' } }
spec: { ports: [{ port: 80 }] }
`;

/** The account `default` of a namespace comes by itself; only where the operator is faster has it to make it. */
function isOthersBusiness(entry: string): boolean {
  return entry === 'create serviceaccounts.';
}
