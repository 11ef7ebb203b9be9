import { readFile } from 'node:fs/promises';
import { mkdtemp } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import type { PolicyRule } from '@slipway/kube';
import type {
  Controller,
  ExampleContext,
  OperatorDescription,
  OperatorFlag,
  OperatorSettings,
  RunningExample,
} from '@slipway/runtime';

import { APIServer, Authentication, Authorization, CloudOrchestrator, Landscaper } from './api/components.ts';
import { ClusterAdmin } from './api/cluster-admin.ts';
import { InternalConfiguration } from './api/internal-configuration.ts';
import { ManagedComponent } from './api/managed-component.ts';
import { ManagedControlPlane } from './api/managed-control-plane.ts';
import { apiServerComponent } from './api-server/component.ts';
import type { ApiServerProvider } from './api-server/provider.ts';
import { eraseAll, stopAll } from './api-server/providers/cluster-process.ts';
import { embeddedProvider } from './api-server/providers/embedded.ts';
import { hostedProvider } from './api-server/providers/hosted/provider.ts';
import { existingProvider } from './api-server/providers/existing.ts';
import { clusterRequestProvider } from './api-server/providers/cluster-request.ts';
import { shootKubeconfigs } from './api-server/providers/gardener/admin-kubeconfig.ts';
import { gardenerProvider } from './api-server/providers/gardener/provider.ts';
import { architecturePolicies } from './admission/architecture-policy.ts';
import { webhooks } from './admission/webhooks.ts';
import { readCatalogue } from './cloud-orchestrator/catalogue.ts';
import { cloudOrchestratorComponent } from './cloud-orchestrator/component.ts';
import { managedComponentController } from './cloud-orchestrator/managed-components.ts';
import { clusterAdminController } from './cluster-admin/controller.ts';
import { type ComponentType, componentTypes } from './component/component-type.ts';
import {
  readArchitectureConfig,
  readAuthenticationConfig,
  readAuthorizationConfig,
  readGardenerConfig,
  readHostedConfig,
} from './config/settings-files.ts';
import { type CoreCluster, onboardingCluster } from './core-cluster.ts';
import { landscaperComponent } from './landscaper/component.ts';
import { authenticationComponent } from './authentication/component.ts';
import { authorizationComponent } from './authorization/component.ts';
import { componentController } from './component/define-component.ts';
import { managedControlPlaneController } from './managed-control-plane/controller.ts';
import { reasons } from './reasons.ts';
import {
  hostPermissions,
  landscaperPermissions,
  oneClusterPermissions,
  onboardingPermissions,
  orchestratorPermissions,
} from './permissions.ts';
import { type ConnectTarget, Targets } from './target/target.ts';

const providerFlag = 'provider';
const dataFlag = 'embedded-data';
const secretFlag = 'existing-secret';
const inlineFlag = 'inline-kubeconfig';
const gardenerFlag = 'gardener-config';
const hostedFlag = 'hosted-config';
const hostFlag = 'host-cluster';
const authFlag = 'auth-config';
const authzFlag = 'authz-config';
const laasFlag = 'laas-cluster';
const coFlag = 'co-cluster';
const catalogueFlag = 'catalogue';
const architectureFlag = 'architecture-config';
const elsewhereFlag = 'components-elsewhere';

const flags: readonly OperatorFlag[] = [
  {
    name: providerFlag,
    type: 'string',
    description:
      'Where API servers come from, by default `existing`: `embedded` (a process beside the operator for each), `existing` (one that is there already), `hosted` (pods of a cluster), `gardener` (shoots) or `cluster-request` (the platform of the second architecture).',
  },
  {
    name: dataFlag,
    type: 'string',
    description: 'Folder of the embedded API servers. Default: slipway/control-planes in the state folder of the user.',
  },
  {
    name: secretFlag,
    type: 'string',
    default: 'openmcp-system/target-kubeconfig',
    description: 'Secret with the kubeconfig of the existing API server, as namespace/name; its key is `kubeconfig`.',
  },
  {
    name: inlineFlag,
    type: 'boolean',
    default: 'false',
    description:
      'Keep admin kubeconfigs in the status of APIServers, as the original does, for programs that look for them there. Default: in Secrets.',
  },
  {
    name: gardenerFlag,
    type: 'string',
    description:
      'File (YAML) with project, cloud profile, default region and shoot template for the provider `gardener`.',
  },
  {
    name: hostedFlag,
    type: 'string',
    description: 'File (YAML) with version, images, storage and exposure of control planes for the provider `hosted`.',
  },
  {
    name: hostFlag,
    type: 'string',
    description: 'Kubeconfig file of the cluster that runs hosted control planes. Default: the onboarding cluster.',
  },
  {
    name: authFlag,
    type: 'string',
    description: 'File (YAML) with the identity providers of the landscape. Default: none.',
  },
  {
    name: authzFlag,
    type: 'string',
    description:
      'File (YAML) with what `admin` and `view` mean, protected namespaces and how long a ClusterAdmin lasts.',
  },
  {
    name: laasFlag,
    type: 'string',
    description:
      'Kubeconfig file of the cluster with LandscaperDeployments and ClusterRequests. Default: the onboarding cluster.',
  },
  {
    name: coFlag,
    type: 'string',
    description: 'Kubeconfig file of the cluster with ControlPlanes. Default: the onboarding cluster.',
  },
  {
    name: catalogueFlag,
    type: 'string',
    description:
      'File (YAML) that names manifests or a chart per component and version. With it components are installed by this operator, without ControlPlanes.',
  },
  {
    name: architectureFlag,
    type: 'string',
    description:
      'File (YAML) that says for which architecture APIServer and Landscaper are made, and whether a ManagedControlPlane may choose. Default: the first.',
  },
  {
    name: elsewhereFlag,
    type: 'string',
    description:
      'Component types whose controllers run in another process, separated by commas, such as `Landscaper`. Their resources are made and left to it.',
  },
];

/** The control plane operator, as the command line and the chart see it. */
export const controlPlaneOperator: OperatorDescription = {
  name: 'control-plane',
  title: 'Control planes',
  summary: 'One ManagedControlPlane gives an API server with users, roles and components.',
  kinds: [
    ManagedControlPlane,
    InternalConfiguration,
    APIServer,
    Authentication,
    Authorization,
    Landscaper,
    CloudOrchestrator,
    ClusterAdmin,
    ManagedComponent,
  ],
  // Where no other clusters are named, those of the Landscaper service and of ControlPlanes are the onboarding cluster.
  permissions: oneClusterPermissions,
  permissionsUnder: [{ flag: providerFlag, value: 'hosted', unless: hostFlag, permissions: hostPermissions }],
  permissionVariants: [
    {
      name: 'cluster',
      value: 'role',
      description:
        'for one cluster where several are used: onboarding, host (--host-cluster), landscaper (--laas-cluster) or orchestrator (--co-cluster)',
      permissions: permissionsOn,
    },
  ],
  flags,
  examples: [
    {
      name: 'hello-control-plane',
      description: 'an API server of its own, with one user who may change things and one who may only look',
      manifest: helloControlPlane(),
    },
  ],
  webhooks,
  policies: architecturePolicies,
  startExample,
  exampleFlags: { [providerFlag]: 'embedded' },
  reasons,
  controllers: (settings) => controlPlaneControllers(settings, new Targets().connect),
};

/** Its controllers, with the given way to control planes. `lookEveryMs`: how often what was handed over to others is looked at. */
export function controlPlaneControllers(
  settings: OperatorSettings,
  connect: ConnectTarget,
  lookEveryMs?: number,
): readonly Controller[] {
  const provider = providerFrom(settings, connect);
  const { flags: given } = settings;
  const authorization = given[authzFlag] ? readAuthorizationConfig(given[authzFlag]) : undefined;
  const core = (flag: string): CoreCluster => coreCluster(given[flag], connect);
  const work = given[catalogueFlag] ? { catalogue: readCatalogue(given[catalogueFlag]) } : { core: core(coFlag) };
  const architectures = given[architectureFlag] ? readArchitectureConfig(given[architectureFlag]) : undefined;
  const elsewhere = typesIn(given[elsewhereFlag]);
  const components: Readonly<Record<ComponentType, () => Controller>> = {
    APIServer: () => {
      const inlineKubeconfig = given[inlineFlag] === 'true';
      return componentController(apiServerComponent({ provider, connect, inlineKubeconfig }));
    },
    Authentication: () => {
      const config = given[authFlag] ? readAuthenticationConfig(given[authFlag]) : {};
      const installDefinition = provider.name === 'embedded' || provider.name === 'hosted';
      return componentController(authenticationComponent({ connect, config, installDefinition }));
    },
    Authorization: () => componentController(authorizationComponent({ connect, config: authorization?.config })),
    Landscaper: () => componentController(landscaperComponent({ connect, core: core(laasFlag), lookEveryMs })),
    CloudOrchestrator: () => componentController(cloudOrchestratorComponent({ connect, work, lookEveryMs })),
  };
  return [
    managedControlPlaneController({ active: componentTypes, architectures }),
    ...componentTypes.filter((type) => !elsewhere.has(type)).map((type) => components[type]()),
    ...(elsewhere.has('CloudOrchestrator') ? [] : [managedComponentController(work)]),
    clusterAdminController({ connect, activeMs: authorization?.activeMs }),
  ];
}

const permissionsByRole: Readonly<Record<string, readonly PolicyRule[]>> = {
  onboarding: onboardingPermissions,
  host: hostPermissions,
  landscaper: landscaperPermissions,
  orchestrator: orchestratorPermissions,
};

function permissionsOn(role: string): readonly PolicyRule[] {
  const rules = Object.hasOwn(permissionsByRole, role) ? permissionsByRole[role] : undefined;
  if (rules) return rules;
  throw new Error(`there is no cluster with the role '${role}'; known: ${Object.keys(permissionsByRole).join(', ')}`);
}

/** The component types in a list somebody typed. */
function typesIn(text = ''): ReadonlySet<ComponentType> {
  const words = text.split(',').flatMap((word) => word.trim() || []);
  return new Set(
    words.map((word) => {
      const type = componentTypes.find((known) => known.toLowerCase() === word.toLowerCase());
      if (type !== undefined) return type;
      throw new Error(`--${elsewhereFlag}: there is no component '${word}'; known: ${componentTypes.join(', ')}`);
    }),
  );
}

function providerFrom(settings: OperatorSettings, connect: ConnectTarget): ApiServerProvider {
  const chosen = settings.flags[providerFlag] ?? 'existing';
  switch (chosen) {
    case 'embedded':
      return embeddedProvider({
        dataDir: settings.flags[dataFlag] ?? usualFolder(settings.env),
        // The program we are part of brings the command.
        command: [process.execPath, ...process.execArgv, process.argv[1]!],
        connect,
      });
    case 'existing': {
      const [namespace = '', name = ''] = (settings.flags[secretFlag] ?? '').split('/');
      if (!namespace || !name) throw new Error(`--${secretFlag}: give namespace/name of a Secret`);
      return existingProvider({ secret: { namespace, name, key: 'kubeconfig' } });
    }
    case 'hosted': {
      const file = settings.flags[hostedFlag];
      if (!file) throw new Error(`--${hostedFlag}: the provider hosted needs it`);
      const host = coreCluster(settings.flags[hostFlag], connect);
      return hostedProvider({ settings: readHostedConfig(file), connect, host });
    }
    case 'cluster-request':
      return clusterRequestProvider({ platform: coreCluster(settings.flags[laasFlag], connect) });
    case 'gardener': {
      const file = settings.flags[gardenerFlag];
      if (!file) throw new Error(`--${gardenerFlag}: the provider gardener needs it`);
      const { kubeconfig, config } = readGardenerConfig(file);
      const adminKubeconfig = shootKubeconfigs(async () => (await connect(await readFile(kubeconfig, 'utf8'))).client);
      return gardenerProvider({ config, garden: coreCluster(kubeconfig, connect), adminKubeconfig });
    }
    default:
      throw new Error(
        `--${providerFlag}: there is no provider '${chosen}'; known: embedded, existing, hosted, gardener, cluster-request`,
      );
  }
}

/** A cluster others work on: the one of this kubeconfig file, or the onboarding cluster. */
function coreCluster(file: string | undefined, connect: ConnectTarget): CoreCluster {
  if (!file) return onboardingCluster;
  return async () => (await connect(await readFile(file, 'utf8'))).client;
}

function usualFolder(env: Readonly<Record<string, string | undefined>>): string {
  return join(env['XDG_STATE_HOME'] || join(env['HOME'] ?? homedir(), '.local', 'state'), 'slipway', 'control-planes');
}

function helloControlPlane(): string {
  return `apiVersion: core.openmcp.cloud/v1alpha1
kind: ManagedControlPlane
metadata:
  name: hello
  namespace: default
spec:
  authentication:
    enableSystemIdentityProvider: false
    identityProviders:
      - name: corp
        issuerURL: https://login.example.com
        clientID: hello
        usernameClaim: email
        groupsClaim: groups
  authorization:
    roleBindings:
      - role: admin
        subjects:
          - kind: User
            name: corp:ann@example.com
      - role: view
        subjects:
          - kind: User
            name: corp:bob@example.com
  components:
    apiServer:
      type: GardenerDedicated
`;
}

/** The API servers outlive an operator, but not the command that is everything here: with a kept cluster they start again with it. */
async function startExample({ clock, folder }: ExampleContext): Promise<RunningExample> {
  const place = folder ?? (await mkdtemp(join(tmpdir(), 'slipway-control-planes-')));
  return {
    flags: { [dataFlag]: place },
    async [Symbol.asyncDispose]() {
      await (folder === undefined ? eraseAll(place, clock) : stopAll(place, clock));
    },
  };
}
