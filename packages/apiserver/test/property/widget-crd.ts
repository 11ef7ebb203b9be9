/** A custom kind with a little of everything that merging and applying have to respect. */
export const widgetCrd = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'widgets.property.example.com' },
  spec: {
    group: 'property.example.com',
    scope: 'Namespaced',
    names: { plural: 'widgets', kind: 'Widget' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        subresources: { status: {} },
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: {
              spec: {
                type: 'object',
                properties: {
                  size: { type: 'integer', minimum: 0 },
                  mode: { type: 'string', default: 'slow' },
                  tags: { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'set' },
                  ports: {
                    type: 'array',
                    'x-kubernetes-list-type': 'map',
                    'x-kubernetes-list-map-keys': ['port'],
                    items: {
                      type: 'object',
                      required: ['port'],
                      properties: { port: { type: 'integer' }, name: { type: 'string' } },
                    },
                  },
                  steps: { type: 'array', items: { type: 'string' } },
                  settings: { type: 'object', additionalProperties: { type: 'string' } },
                  whole: {
                    type: 'object',
                    'x-kubernetes-map-type': 'atomic',
                    properties: { a: { type: 'string' }, b: { type: 'string' } },
                  },
                },
              },
              status: { type: 'object', properties: { phase: { type: 'string' }, seen: { type: 'integer' } } },
            },
          },
        },
      },
    ],
  },
} as const;

/** A custom kind whose schema says nothing: whatever is written must be what is read. */
export const anythingCrd = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'anythings.property.example.com' },
  spec: {
    group: 'property.example.com',
    scope: 'Namespaced',
    names: { plural: 'anythings', kind: 'Anything' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: { spec: { 'x-kubernetes-preserve-unknown-fields': true } },
          },
        },
      },
    ],
  },
} as const;
