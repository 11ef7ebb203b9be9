import { defineKind, type ObjectOf, Type } from '@slipway/kube';

import { names } from '../names.ts';
import {
  apiServerSpec,
  authenticationSpec,
  authorizationSpec,
  cloudOrchestratorSpec,
  componentCondition,
  externalStatus,
  immutable,
  landscaperSpec,
  regionSpecification,
  requiredOnceSet,
} from './shared.ts';

/** What a customer writes: one control plane with everything that belongs to it. */
export const ManagedControlPlane = defineKind({
  group: names.group,
  version: names.version,
  kind: 'ManagedControlPlane',
  scope: 'Namespaced',
  shortNames: ['mcp'],
  spec: Type.Optional(
    Type.Object(
      {
        disabledComponents: Type.Optional(
          Type.Array(Type.String(), { description: 'Component types whose controllers leave them alone.' }),
        ),
        desiredRegion: Type.Optional(
          Type.Object(regionSpecification.properties, {
            description: 'Where the control plane should be.',
            ...immutable('RegionSpecification is immutable'),
          }),
        ),
        authentication: Type.Optional(Type.Object(authenticationSpec)),
        authorization: Type.Optional(Type.Object(authorizationSpec)),
        components: Type.Object(
          {
            apiServer: Type.Optional(Type.Object(apiServerSpec, { default: { type: 'GardenerDedicated' } })),
            landscaper: Type.Optional(Type.Object(landscaperSpec)),
            ...cloudOrchestratorSpec,
          },
          { 'x-kubernetes-validations': [requiredOnceSet('apiServer')] },
        ),
      },
      { 'x-kubernetes-validations': [requiredOnceSet('desiredRegion')] },
    ),
  ),
  status: Type.Object({
    observedGeneration: Type.Integer({ format: 'int64' }),
    status: Type.String({ description: 'Ready, Not Ready or Deleting.' }),
    message: Type.Optional(Type.String()),
    conditions: Type.Optional(
      Type.Array(
        Type.Object({
          ...componentCondition.properties,
          managedBy: Type.String({ description: 'The component type it comes from; empty for the aggregate.' }),
        }),
        { 'x-kubernetes-list-type': 'atomic' },
      ),
    ),
    components: Type.Optional(
      Type.Object({
        apiServer: Type.Optional(externalStatus.apiServer),
        authentication: Type.Optional(externalStatus.authentication),
        authorization: Type.Optional(externalStatus.authorization),
        landscaper: Type.Optional(externalStatus.landscaper),
        cloudOrchestrator: Type.Optional(externalStatus.cloudOrchestrator),
      }),
    ),
  }),
  rules: [{ rule: 'size(self.metadata.name) <= 36', message: 'name must not be longer than 36 characters' }],
  columns: [{ name: 'Status', path: '.status.status' }],
});
export type ManagedControlPlane = ObjectOf<typeof ManagedControlPlane>;
