import { AnyFields, defineKind, Type } from '@slipway/kube';

/** What the Landscaper service is asked for, on its own cluster. */
export const LandscaperDeployment = defineKind({
  group: 'landscaper-service.gardener.cloud',
  version: 'v1alpha1',
  kind: 'LandscaperDeployment',
  scope: 'Namespaced',
  plural: 'landscaperdeployments',
  spec: AnyFields(),
  status: Type.Object({
    observedGeneration: Type.Optional(Type.Integer()),
    phase: Type.Optional(Type.String()),
    lastError: Type.Optional(
      Type.Object({
        operation: Type.Optional(Type.String()),
        reason: Type.Optional(Type.String()),
        message: Type.Optional(Type.String()),
      }),
    ),
  }),
});

/** The same in the second architecture, on the onboarding cluster. */
export const LandscaperV2 = defineKind({
  group: 'landscaper.services.open-control-plane.io',
  version: 'v1alpha2',
  kind: 'Landscaper',
  scope: 'Namespaced',
  plural: 'landscapers',
  spec: AnyFields(),
  status: Type.Object({
    observedGeneration: Type.Optional(Type.Integer()),
    phase: Type.Optional(Type.String()),
    conditions: Type.Optional(
      Type.Array(AnyFields<{ type: string; status: string; reason?: string; message?: string }>()),
    ),
  }),
});
