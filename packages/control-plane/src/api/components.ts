import { AnyFields, defineKind, type ObjectOf, Time, Type } from '@slipway/kube';

import { names } from '../names.ts';
import {
  apiServerInternalSpec,
  apiServerSpec,
  authenticationSpec,
  authorizationSpec,
  cloudOrchestratorSpec,
  commonComponentStatus,
  externalStatus,
  landscaperSpec,
  localSecretReference,
  regionSpecification,
} from './shared.ts';

function columnsFor(type: string) {
  return [
    {
      name: 'Successfully_Reconciled',
      path: `.status.conditions[?(@.type=="${type}Reconciliation")].status`,
      type: 'string',
    },
    { name: 'Deleted', path: '.metadata.deletionTimestamp', type: 'date' },
  ] as const;
}

/** The API server of a control plane. */
export const APIServer = defineKind({
  group: names.group,
  version: names.version,
  kind: 'APIServer',
  scope: 'Namespaced',
  shortNames: ['as'],
  spec: Type.Object({
    ...apiServerSpec,
    internal: Type.Optional(apiServerInternalSpec),
    desiredRegion: Type.Optional(regionSpecification),
  }),
  status: Type.Object({
    ...commonComponentStatus,
    ...externalStatus.apiServer.properties,
    adminAccess: Type.Optional(
      Type.Object({
        kubeconfig: Type.Optional(
          Type.String({ description: 'Only where the operator is told to keep it here, as the original does.' }),
        ),
        secretRef: Type.Optional(localSecretReference),
        creationTimestamp: Type.Optional(Time()),
        expirationTimestamp: Type.Optional(Time()),
      }),
    ),
    gardener: Type.Optional(Type.Object({ shoot: Type.Optional(AnyFields()) })),
  }),
  columns: columnsFor('APIServer'),
});
export type APIServer = ObjectOf<typeof APIServer>;

/** Who may log in to a control plane. */
export const Authentication = defineKind({
  group: names.group,
  version: names.version,
  kind: 'Authentication',
  scope: 'Namespaced',
  shortNames: ['auth'],
  spec: Type.Object(authenticationSpec),
  status: Type.Object({ ...commonComponentStatus, ...externalStatus.authentication.properties }),
  columns: columnsFor('Authentication'),
});
export type Authentication = ObjectOf<typeof Authentication>;

/** What who is logged in may do. */
export const Authorization = defineKind({
  group: names.group,
  version: names.version,
  kind: 'Authorization',
  scope: 'Namespaced',
  shortNames: ['authz'],
  spec: Type.Object(authorizationSpec),
  status: Type.Object({ ...commonComponentStatus, userNamespaces: Type.Optional(Type.Array(Type.String())) }),
  columns: columnsFor('Authorization'),
});
export type Authorization = ObjectOf<typeof Authorization>;

/** A Landscaper for a control plane. */
export const Landscaper = defineKind({
  group: names.group,
  version: names.version,
  kind: 'Landscaper',
  scope: 'Namespaced',
  shortNames: ['ls'],
  spec: Type.Object(landscaperSpec),
  status: Type.Object({
    ...commonComponentStatus,
    landscaperDeployment: Type.Optional(Type.Object({ name: Type.String(), namespace: Type.String() })),
  }),
  columns: columnsFor('Landscaper'),
});
export type Landscaper = ObjectOf<typeof Landscaper>;

/** Crossplane and its companions on a control plane. */
export const CloudOrchestrator = defineKind({
  group: names.group,
  version: names.version,
  kind: 'CloudOrchestrator',
  scope: 'Namespaced',
  shortNames: ['co'],
  spec: Type.Object(cloudOrchestratorSpec),
  status: Type.Object({
    ...commonComponentStatus,
    componentsEnabled: Type.Optional(Type.Integer()),
    componentsHealthy: Type.Optional(Type.Integer()),
  }),
  columns: columnsFor('CloudOrchestrator'),
});
export type CloudOrchestrator = ObjectOf<typeof CloudOrchestrator>;
