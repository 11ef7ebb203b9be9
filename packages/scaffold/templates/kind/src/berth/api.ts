import { Conditions, defineKind, Type, type DeepReadonly, type ObjectOf } from '@slipway/kube';

/** One value: the static type, the CustomResourceDefinition and the validation come from here. */
export const Berth = defineKind({
  group: 'example.org',
  version: 'v1',
  kind: 'Berth',
  scope: 'Namespaced',
  spec: Type.Object({
    image: Type.String({ minLength: 1, description: 'What runs.' }),
    replicas: Type.Integer({ minimum: 0, default: 1, description: 'How often it runs.' }),
  }),
  status: Type.Object({ conditions: Conditions }),
  columns: [{ name: 'Ready', path: '.status.conditions[?(@.type=="Ready")].status' }],
});

export type Berth = DeepReadonly<ObjectOf<typeof Berth>>;
