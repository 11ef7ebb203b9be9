import type { ApiObject, JsonObject } from '../object.ts';

/** The schema the recordings of the real server were made with. */
export const widgetSchema: JsonObject = {
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      required: ['size'],
      properties: {
        size: { type: 'integer', minimum: 1, maximum: 10 },
        color: { type: 'string', enum: ['red', 'blue'], default: 'red' },
        tags: {
          type: 'array',
          maxItems: 20,
          items: { type: 'string', maxLength: 30 },
          'x-kubernetes-list-type': 'set',
        },
        ports: {
          type: 'array',
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['port', 'proto'],
          items: {
            type: 'object',
            required: ['port'],
            properties: {
              port: { type: 'integer' },
              proto: { type: 'string', default: 'TCP' },
              name: { type: 'string' },
            },
          },
        },
        nested: { type: 'object', default: {}, properties: { depth: { type: 'integer', default: 3 } } },
        ios: { 'x-kubernetes-int-or-string': true },
        raw: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
        imm: {
          type: 'string',
          'x-kubernetes-validations': [{ rule: 'self == oldSelf', message: 'imm is immutable' }],
        },
        nul: { type: 'string', nullable: true },
        lo: { type: 'integer' },
        hi: { type: 'integer' },
        when: { type: 'string', format: 'date-time' },
      },
      'x-kubernetes-validations': [
        {
          rule: '!has(self.lo) || !has(self.hi) || self.lo <= self.hi',
          message: 'lo must not exceed hi',
          fieldPath: '.lo',
          reason: 'FieldValueInvalid',
        },
        {
          rule: "!has(self.tags) || self.tags.all(t, t.startsWith('t'))",
          messageExpression: "'bad tags for color ' + self.color",
        },
      ],
    },
    status: {
      type: 'object',
      properties: { phase: { type: 'string' }, replicas: { type: 'integer' }, selector: { type: 'string' } },
    },
  },
};

const group = 'example.com';

/** A CRD with two versions, all subresources, columns and a selectable field. */
export function widgetCrd(changes: JsonObject = {}): ApiObject {
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `widgets.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { plural: 'widgets', singular: 'widget', kind: 'Widget', shortNames: ['wd'], categories: ['all'] },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: { openAPIV3Schema: widgetSchema },
          subresources: {
            status: {},
            scale: {
              specReplicasPath: '.spec.size',
              statusReplicasPath: '.status.replicas',
              labelSelectorPath: '.status.selector',
            },
          },
          additionalPrinterColumns: [
            { name: 'Size', type: 'integer', jsonPath: '.spec.size' },
            { name: 'Phase', type: 'string', jsonPath: '.status.phase' },
            { name: 'When', type: 'date', jsonPath: '.spec.when', priority: 1 },
            { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
          ],
          selectableFields: [{ jsonPath: '.spec.color' }],
        },
        {
          name: 'v2',
          served: true,
          storage: false,
          schema: { openAPIV3Schema: { ...widgetSchema, description: 'two' } },
          subresources: { status: {} },
        },
      ],
      ...changes,
    },
  };
}
