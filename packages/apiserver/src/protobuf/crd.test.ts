import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { startCluster } from '../cluster.ts';
import { testClient } from '../test-client.ts';
import { decodeProtobuf } from './decode.ts';

/** What a real server answered when it was asked for a CRD in protobuf, with schemas below `items` and `additionalProperties`. */
const recorded = new URL('../../test/goldens/crd.pb', import.meta.url);

const widget = {
  type: 'object',
  required: ['list'],
  properties: {
    either: { anyOf: [{ type: 'integer' }, { type: 'string' }], 'x-kubernetes-int-or-string': true },
    free: { type: 'object', additionalProperties: true, 'x-kubernetes-preserve-unknown-fields': true },
    list: {
      type: 'array',
      items: {
        type: 'object',
        properties: {
          a: { type: 'string', default: 'x', enum: ['x', 'y'] },
          n: { type: 'integer', minimum: 0, maximum: 9007199254740992 },
        },
      },
      'x-kubernetes-list-type': 'atomic',
    },
    map: { type: 'object', additionalProperties: { type: 'array', items: { type: 'string' } } },
  },
};

it('schemas inside of schemas hold what was written and nothing else', async () => {
  const { object } = decodeProtobuf(await readFile(recorded));
  expect(object['spec']).toMatchObject({
    versions: [{ schema: { openAPIV3Schema: { type: 'object', properties: { spec: widget } } } }],
  });
  expect(JSON.stringify(object['spec'])).not.toContain('"$schema"');
});

it('a CRD sent in protobuf is established', async () => {
  await using cluster = await startCluster({ controllers: 'none' });
  const { apiVersion, kind, object } = decodeProtobuf(await readFile(recorded));
  const { resourceVersion: _, ...metadata } = object['metadata'] as Record<string, unknown>;
  const client = testClient(cluster);
  const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
  const created = await client.post(path, { ...object, apiVersion, kind, metadata });
  expect({ status: created.status, message: created.body.message }).toEqual({ status: 201, message: undefined });
  expect((await client.get('/apis/pb.example.com/v1/tools')).status).toBe(200);
});
