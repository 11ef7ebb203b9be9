import { defineKind, type ObjectOf, Type } from '@slipway/kube';

import { names } from '../names.ts';
import { apiServerInternalSpec } from './shared.ts';

/** What an operator of the landscape adds to a ManagedControlPlane of the same name; customers do not see it. */
export const InternalConfiguration = defineKind({
  group: names.group,
  version: names.version,
  kind: 'InternalConfiguration',
  scope: 'Namespaced',
  shortNames: ['icfg'],
  spec: Type.Optional(
    Type.Object({
      components: Type.Optional(Type.Object({ apiServer: Type.Optional(apiServerInternalSpec) })),
    }),
  ),
  ageColumn: false,
});
export type InternalConfiguration = ObjectOf<typeof InternalConfiguration>;
