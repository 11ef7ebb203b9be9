import { defineKind, type ObjectOf, Time, Type } from '@slipway/kube';

import { names } from '../names.ts';
import { subject } from './shared.ts';

/** Full rights on a control plane for a limited time. */
export const ClusterAdmin = defineKind({
  group: names.group,
  version: names.version,
  kind: 'ClusterAdmin',
  scope: 'Namespaced',
  shortNames: ['clas'],
  spec: Type.Object({ subjects: Type.Array(subject) }),
  status: Type.Object({
    active: Type.Boolean(),
    activationTime: Type.Optional(Time()),
    expirationTime: Type.Optional(Time()),
  }),
  columns: [
    { name: 'Active', path: '.status.active', type: 'string' },
    { name: 'Activated', path: '.status.activationTime', type: 'date' },
    { name: 'Expiration', path: '.status.expirationTime', type: 'string' },
  ],
  ageColumn: false,
});
export type ClusterAdmin = ObjectOf<typeof ClusterAdmin>;
