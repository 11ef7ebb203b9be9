import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startCluster, type ApiObject, type Cluster } from '../index.ts';
import { testClient, type TestClient } from '../test-client.ts';

const big = '9007199254740993';
const bigger = '9223372036854775807';
const group = 'numbers.example.com';
const counters = `/apis/${group}/v1/namespaces/default/counters`;

const crd = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `counters.${group}` },
  spec: {
    group,
    scope: 'Namespaced',
    names: { plural: 'counters', kind: 'Counter' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        additionalPrinterColumns: [
          { name: 'Count', type: 'integer', jsonPath: '.spec.count' },
          { name: 'Text', type: 'string', jsonPath: '.spec.count' },
        ],
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: {
              spec: {
                type: 'object',
                properties: {
                  count: { type: 'integer', format: 'int64' },
                  small: { type: 'integer', format: 'int32' },
                  bounded: { type: 'integer', maximum: 9007199254740992 },
                  ruled: {
                    type: 'integer',
                    'x-kubernetes-validations': [{ rule: `self != ${big}`, message: 'not that one' }],
                  },
                  free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
                },
              },
            },
          },
        },
      },
    ],
  },
} as unknown as ApiObject;

/** The body as text: JavaScript's own objects could not hold the numbers. */
function counter(name: string, spec: string, metadata = ''): string {
  return `{"apiVersion":"${group}/v1","kind":"Counter","metadata":{"name":"${name}"${metadata}},"spec":${spec}}`;
}

let cluster: Cluster;
let client: TestClient;
beforeAll(async () => {
  cluster = await startCluster({ controllers: 'none', crds: [crd] });
  client = testClient(cluster);
});
afterAll(() => cluster.stop());

describe('an integer beyond 2^53 passes unchanged', () => {
  it('through create, get, list and table', async () => {
    const spec = `{"count":${big},"free":{"deep":[{"n":-${big}},${bigger}]}}`;
    const created = await client.send('POST', counters, counter('made', spec));
    expect(created.status).toBe(201);
    for (const path of [`${counters}/made`, counters]) {
      const { text } = await client.get(path);
      expect(text).toContain(`"count":${big}`);
      expect(text).toContain(`{"n":-${big}},${bigger}`);
    }
    const accept = { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' };
    expect((await client.get(`${counters}/made`, accept)).text).toContain(`"cells":["made",${big},"${big}"]`);
    expect((await client.get(`${counters}/made?pretty=true`)).text).toContain(`"count": ${big}`);
    expect((await client.get(`${counters}/made`, { accept: 'application/yaml' })).text).toContain(`count: ${big}\n`);
  });

  it('through update, and a change of its last digit is a change', async () => {
    const { body } = await client.send('POST', counters, counter('put', `{"count":${big}}`));
    const version = `,"resourceVersion":"${body.metadata.resourceVersion}"`;
    const same = await client.send('PUT', `${counters}/put`, counter('put', `{"count":${big}}`, version));
    expect(same.body.metadata.resourceVersion).toBe(body.metadata.resourceVersion);
    const other = await client.send('PUT', `${counters}/put`, counter('put', '{"count":9007199254740995}', version));
    expect(other.text).toContain('"count":9007199254740995');
    expect(other.body.metadata.generation).toBe(2);
  });

  it.each([
    ['application/merge-patch+json', `{"spec":{"count":${big}}}`],
    ['application/json-patch+json', `[{"op":"add","path":"/spec/count","value":${big}}]`],
    [
      'application/json-patch+json',
      `[{"op":"test","path":"/spec/free/n","value":${bigger}},{"op":"copy","from":"/spec/free/n","path":"/spec/count"}]`,
    ],
    ['application/apply-patch+yaml', counter('patched', `{"count":${big}}`)],
    [
      'application/apply-patch+yaml',
      `apiVersion: ${group}/v1\nkind: Counter\nmetadata: {name: patched}\nspec:\n  count: ${big}\n`,
    ],
  ])('through a patch of type %s: %s', async (type, body) => {
    await client.send('POST', counters, counter('patched', `{"free":{"n":${bigger}}}`));
    const { text } = await client.patch(`${counters}/patched?fieldManager=one`, type, body);
    expect(text).toContain(`"count":${type.includes('json-patch') && body.includes('copy') ? bigger : big}`);
    expect(text).toContain(`"n":${bigger}`);
    await client.delete(`${counters}/patched`);
  });

  it('through YAML bodies', async () => {
    const body = `apiVersion: ${group}/v1\nkind: Counter\nmetadata: {name: yaml}\nspec: {count: ${big}, free: {small: 7}}\n`;
    const { text } = await client.send('POST', counters, body, { 'content-type': 'application/yaml' });
    expect(text).toContain(`"count":${big},"free":{"small":7}`);
  });

  it('through built-in kinds and strategic merge patches', async () => {
    const status = `{"status":{"observedGeneration":${big}}}`;
    const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } };
    await client.post('/apis/apps/v1/namespaces/default/deployments', {
      metadata: { name: 'd' },
      spec: { selector: { matchLabels: { a: 'b' } }, template },
    });
    const path = '/apis/apps/v1/namespaces/default/deployments/d/status';
    const patched = await client.patch(path, 'application/strategic-merge-patch+json', status);
    expect(patched.text).toContain(`"observedGeneration":${big}`);
    const tooLarge = await client.merge(path, '{"status":{"observedGeneration":9223372036854775808}}');
    expect(tooLarge.status).toBe(422);
    expect(tooLarge.body.message).toContain('cannot unmarshal number 9223372036854775808 into Go struct field');
  });

  it('to watchers', async () => {
    const watch = await client.watch(`${counters}?watch=true&resourceVersion=${cluster.revision}`);
    await client.send('POST', counters, counter('watched', `{"count":${big}}`));
    watch.abort();
    expect(Buffer.concat(watch.chunks).toString()).toContain(`"count":${big}`);
  });

  it('through applies of two managers, who agree or not by the last digit', async () => {
    const apply = (manager: string, count: string) =>
      client.patch(
        `${counters}/owned?fieldManager=${manager}`,
        'application/apply-patch+yaml',
        counter('owned', `{"count":${count}}`),
      );
    expect((await apply('one', big)).status).toBe(201);
    expect((await apply('two', big)).status).toBe(200);
    expect((await apply('two', '9007199254740995')).status).toBe(409);
  });

  it('over a restart', async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'big-integers-'));
    try {
      const first = await startCluster({ controllers: 'none', crds: [crd], dataDir });
      await testClient(first).send('POST', counters, counter('kept', `{"count":${big}}`));
      await first.stop();
      await using second = await startCluster({ controllers: 'none', dataDir });
      const again = testClient(second);
      expect((await again.get(`${counters}/kept`)).text).toContain(`"count":${big}`);
      const labelled = await again.merge(`${counters}/kept`, { metadata: { labels: { a: 'b' } } });
      expect(labelled.text).toContain(`"count":${big}`);
      expect(labelled.body.metadata.generation).toBe(1);
    } finally {
      await rm(dataDir, { recursive: true, force: true });
    }
  });
});

describe('an integer beyond 2^53 is checked with all its digits', () => {
  it.each([
    [`{"bounded":${big}}`, 'spec.bounded in body should be less than or equal to'],
    [`{"small":${big}}`, 'must be of type integer with format int32'],
    [`{"ruled":${big}}`, 'not that one'],
    ['{"count":9223372036854775808}', 'spec.count'],
  ])('%s is refused', async (spec, problem) => {
    const { status, body } = await client.send('POST', counters, counter('refused', spec));
    expect({ status, message: body.message }).toEqual({ status: 422, message: expect.stringContaining(problem) });
  });

  it.each(['{"bounded":9007199254740992}', '{"ruled":9007199254740992}', `{"count":-9223372036854775808}`])(
    '%s is taken',
    async (spec) => {
      const { status, text } = await client.send('POST', `${counters}?dryRun=All`, counter('taken', spec));
      expect(status).toBe(201);
      expect(text).toContain(spec.slice(1, -1));
    },
  );
});
