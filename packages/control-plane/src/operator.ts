import { homedir } from 'node:os';
import { join } from 'node:path';
import type { OperatorDescription, OperatorFlag, OperatorSettings } from '@slipway/runtime';

import { APIServer, Authentication, Authorization, CloudOrchestrator, Landscaper } from './api/components.ts';
import { ClusterAdmin } from './api/cluster-admin.ts';
import { InternalConfiguration } from './api/internal-configuration.ts';
import { ManagedComponent } from './api/managed-component.ts';
import { ManagedControlPlane } from './api/managed-control-plane.ts';
import { apiServerComponent } from './api-server/component.ts';
import type { ApiServerProvider } from './api-server/provider.ts';
import { embeddedProvider } from './api-server/providers/embedded.ts';
import { existingProvider } from './api-server/providers/existing.ts';
import { authenticationComponent } from './authentication/component.ts';
import { authorizationComponent } from './authorization/component.ts';
import { componentController } from './component/define-component.ts';
import { managedControlPlaneController } from './managed-control-plane/controller.ts';
import { names } from './names.ts';
import { reasons } from './reasons.ts';
import { type ConnectTarget, Targets } from './target/target.ts';

const providerFlag = 'provider';
const dataFlag = 'embedded-data';
const secretFlag = 'existing-secret';

const flags: readonly OperatorFlag[] = [
  {
    name: providerFlag,
    type: 'string',
    description:
      'Where API servers come from, by default `existing`: `embedded` (a process beside the operator for each) or `existing` (one that is there already).',
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
];

const everything = ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete'];
const components = ['apiservers', 'authentications', 'authorizations', 'landscapers', 'cloudorchestrators'];

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
  permissions: [
    {
      apiGroups: [names.group],
      resources: ['managedcontrolplanes'],
      verbs: ['get', 'list', 'watch', 'patch', 'update'],
    },
    { apiGroups: [names.group], resources: ['managedcontrolplanes/status'], verbs: ['patch', 'update'] },
    { apiGroups: [names.group], resources: ['managedcontrolplanes/finalizers'], verbs: ['update'] },
    { apiGroups: [names.group], resources: ['internalconfigurations'], verbs: ['get', 'list', 'watch', 'patch'] },
    { apiGroups: [names.group], resources: components, verbs: everything },
    { apiGroups: [names.group], resources: components.map((plural) => `${plural}/status`), verbs: ['patch', 'update'] },
    { apiGroups: [names.group], resources: components.map((plural) => `${plural}/finalizers`), verbs: ['update'] },
    { apiGroups: [names.group], resources: ['clusteradmins'], verbs: ['get', 'delete'] },
    { apiGroups: [''], resources: ['namespaces'], verbs: ['get', 'list', 'watch'] },
    { apiGroups: [''], resources: ['secrets'], verbs: ['get', 'create', 'patch', 'delete'] },
  ],
  flags,
  examples: [
    {
      name: 'hello-control-plane',
      description: 'an API server of its own, with one user who may change things and one who may only look',
      manifest: helloControlPlane(),
    },
  ],
  exampleFlags: { [providerFlag]: 'embedded' },
  reasons,
  controllers(settings) {
    const { connect } = new Targets();
    const provider = providerFrom(settings, connect);
    const active = ['APIServer', 'Authentication', 'Authorization'] as const;
    return [
      managedControlPlaneController({ active }),
      componentController(apiServerComponent({ provider, connect })),
      componentController(
        authenticationComponent({ connect, config: {}, installDefinition: provider.name === 'embedded' }),
      ),
      componentController(authorizationComponent({ connect })),
    ];
  },
};

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
    default:
      throw new Error(`--${providerFlag}: there is no provider '${chosen}'; known: embedded, existing`);
  }
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
