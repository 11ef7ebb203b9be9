import { defineKind, type ObjectOf, Type } from '@slipway/kube';

import { names } from '../names.ts';

/** A component that can be had, with its versions. */
export const ManagedComponent = defineKind({
  group: names.group,
  version: names.version,
  kind: 'ManagedComponent',
  scope: 'Cluster',
  spec: Type.Optional(Type.Object({})),
  status: Type.Object({ versions: Type.Array(Type.String()) }),
  columns: [{ name: 'Versions', path: '.status.versions', type: 'string' }],
});
export type ManagedComponent = ObjectOf<typeof ManagedComponent>;
