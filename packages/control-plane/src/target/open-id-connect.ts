import { defineKind, type ObjectOf, Type } from '@slipway/kube';

/** How a control plane is told whom to trust, by whoever serves it (Gardener's webhook authenticator, or the provider of hosted API servers). */
export const OpenIDConnect = defineKind({
  group: 'authentication.gardener.cloud',
  version: 'v1alpha1',
  kind: 'OpenIDConnect',
  scope: 'Cluster',
  plural: 'openidconnects',
  spec: Type.Object({
    issuerURL: Type.String(),
    clientID: Type.String(),
    usernameClaim: Type.Optional(Type.String()),
    usernamePrefix: Type.Optional(Type.String()),
    groupsClaim: Type.Optional(Type.String()),
    groupsPrefix: Type.Optional(Type.String()),
    caBundle: Type.Optional(Type.String({ format: 'byte' })),
    supportedSigningAlgs: Type.Optional(Type.Array(Type.String())),
    requiredClaims: Type.Optional(Type.Record(Type.String(), Type.String())),
  }),
});
export type OpenIDConnect = ObjectOf<typeof OpenIDConnect>;
