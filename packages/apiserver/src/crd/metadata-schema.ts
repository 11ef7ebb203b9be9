import type { Schema } from '../schema/schema.ts';

const text: Schema = { type: 'string' };
const time: Schema = { type: 'string', format: 'date-time' };
const texts: Schema = { type: 'object', additionalProperties: text };

const ownerReference: Schema = {
  type: 'object',
  mapType: 'atomic',
  required: ['apiVersion', 'kind', 'name', 'uid'],
  properties: {
    apiVersion: text,
    blockOwnerDeletion: { type: 'boolean' },
    controller: { type: 'boolean' },
    kind: text,
    name: text,
    uid: text,
  },
};

const managedFields: Schema = {
  type: 'object',
  properties: {
    apiVersion: text,
    fieldsType: text,
    fieldsV1: { type: 'object', preserveUnknownFields: true },
    manager: text,
    operation: text,
    subresource: text,
    time,
  },
};

const schema: Schema = {
  type: 'object',
  definition: 'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta',
  properties: {
    annotations: texts,
    creationTimestamp: time,
    deletionGracePeriodSeconds: { type: 'integer', format: 'int64' },
    deletionTimestamp: time,
    finalizers: { type: 'array', listType: 'set', patchStrategy: 'merge', items: text },
    generateName: text,
    generation: { type: 'integer', format: 'int64' },
    labels: texts,
    managedFields: { type: 'array', listType: 'atomic', items: managedFields },
    name: text,
    namespace: text,
    ownerReferences: {
      type: 'array',
      listType: 'map',
      listMapKeys: ['uid'],
      patchStrategy: 'merge',
      patchMergeKey: 'uid',
      items: ownerReference,
    },
    resourceVersion: text,
    selfLink: text,
    uid: text,
  },
};

/** `metav1.ObjectMeta` as custom resources and embedded resources carry it. */
export function metadataSchema(): Schema {
  return schema;
}
