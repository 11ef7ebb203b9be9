import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startCluster, type Cluster } from '../../src/index.ts';
import { corpus } from './corpus.ts';
import { mutated, type RawRequest } from './mutate.ts';

let cluster: Cluster;
beforeAll(async () => {
  cluster = await startCluster({ controllers: 'none' });
  for (const request of corpus) await answerTo(request);
});
afterAll(() => cluster.stop());

/** What the server answers; a hang is an answer too, and a wrong one. */
async function answerTo({ method, path, headers, body }: RawRequest) {
  const answer = cluster.server.handle({ method, path, headers, ...(body ? { body } : {}) });
  const patience = AbortSignal.timeout(8_000);
  const hang = new Promise<never>((_, reject) => {
    patience.addEventListener('abort', () => reject(new Error(`no answer to ${method} ${path}`)));
  });
  return await Promise.race([answer, hang]);
}

async function holds(request: RawRequest): Promise<void> {
  const { status, headers, body, stream } = await answerTo(request);
  expect(stream).toBeUndefined();
  expect(status).toBeGreaterThanOrEqual(200);
  expect(status).toBeLessThan(600);
  const text = Buffer.from(body ?? []).toString();
  const isJson = String(headers['content-type']).startsWith('application/json');
  if (status < 400) {
    if (isJson && text) JSON.parse(text);
    return;
  }
  if (!isJson) {
    expect(status).toBe(404);
    return;
  }
  const answer = JSON.parse(text) as { kind: string; code: number; reason?: string; message: string };
  expect(answer).toMatchObject({ kind: 'Status', status: 'Failure', code: status });
  // The reason of a mistake of ours, not of the client's.
  expect(answer.reason === 'InternalError' ? answer.message : undefined).toBeUndefined();
}

const soak = process.env['SLIPWAY_SOAK'] === '1';
const runs = soak ? 50_000 : 2_500;
/** The soak looks for new trouble; the ordinary run must give the same answer twice. */
const search = soak ? { numRuns: runs } : { numRuns: runs, seed: 20_261_115 };

it(
  `whatever becomes of real requests, ${runs} of them get a Status and the server goes on`,
  { timeout: 600_000 },
  async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat({ max: corpus.length - 1 }), fc.nat(), async (index, seed) => {
        await holds(mutated(corpus[index]!, seed));
      }),
      search,
    );
    expect((await answerTo({ method: 'GET', path: '/readyz', headers: {}, body: undefined })).status).toBe(200);
    for (const path of ['/api/v1/configmaps', '/apis/apps/v1/deployments', '/api/v1/pods', '/openapi/v2', '/apis']) {
      expect((await answerTo({ method: 'GET', path, headers: {}, body: undefined })).status).toBe(200);
    }
  },
);

it.each([5, {}, true, null])(
  'an apply whose apiVersion is no text is refused, not an accident: %j',
  async (apiVersion) => {
    const body = JSON.stringify({ apiVersion, kind: 'ConfigMap', metadata: { name: 'a' } });
    const answer = await answerTo({
      method: 'PATCH',
      path: '/api/v1/namespaces/default/configmaps/a?fieldManager=x',
      headers: { 'content-type': 'application/apply-patch+yaml' },
      body: Buffer.from(body),
    });
    expect(answer.status).toBe(400);
  },
);

it('an apply of a number too large for its field is refused, not an accident', async () => {
  await holds({
    method: 'PATCH',
    path: '/apis/scheduling.k8s.io/v1/priorityclasses/large?fieldManager=x&force=true',
    headers: { 'content-type': 'application/apply-patch+yaml' },
    body: Buffer.from(
      '{"apiVersion":"scheduling.k8s.io/v1","kind":"PriorityClass","metadata":{"name":"large"},"value":9007199254740994}',
    ),
  });
});

it('a CRD that requires null is no accident', async () => {
  const items = { type: 'object', properties: { a: { type: 'string' } }, required: ['a', null] };
  const list = { type: 'array', items, 'x-kubernetes-validations': [{ rule: 'self.all(x, x.a != "")' }] };
  const openAPIV3Schema = { type: 'object', properties: { list } };
  await holds({
    method: 'POST',
    path: '/apis/apiextensions.k8s.io/v1/customresourcedefinitions?dryRun=All',
    headers: { 'content-type': 'application/json' },
    body: Buffer.from(
      JSON.stringify({
        apiVersion: 'apiextensions.k8s.io/v1',
        kind: 'CustomResourceDefinition',
        metadata: { name: 'nulls.fuzz.example' },
        spec: {
          group: 'fuzz.example',
          scope: 'Namespaced',
          names: { plural: 'nulls', kind: 'Null' },
          versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema } }],
        },
      }),
    ),
  });
});

const protobufConfigMap = (() => {
  const field = (number: number, bytes: Buffer) =>
    Buffer.concat([Buffer.from([(number << 3) | 2, bytes.length]), bytes]);
  const type = Buffer.concat([field(1, Buffer.from('v1')), field(2, Buffer.from('ConfigMap'))]);
  const entry = Buffer.concat([field(1, Buffer.from('key')), field(2, Buffer.from('value'))]);
  const object = Buffer.concat([field(1, field(1, Buffer.from('proto'))), field(2, entry)]);
  return Buffer.concat([Buffer.from('k8s\0'), field(1, type), field(2, object)]);
})();

it('protobuf that is cut, flipped or grown is refused, and the whole one is taken', { timeout: 300_000 }, async () => {
  const request: RawRequest = {
    method: 'POST',
    path: '/api/v1/namespaces/default/configmaps?dryRun=All',
    headers: { 'content-type': 'application/vnd.kubernetes.protobuf' },
    body: protobufConfigMap,
  };
  expect((await answerTo(request)).status).toBe(201);
  for (let length = 0; length < protobufConfigMap.length; length += 1) {
    await holds({ ...request, body: protobufConfigMap.subarray(0, length) });
  }
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(fc.nat({ max: protobufConfigMap.length - 1 }), fc.nat({ max: 255 })), {
        minLength: 1,
        maxLength: 6,
      }),
      async (changes) => {
        const body = Buffer.from(protobufConfigMap);
        for (const [at, byte] of changes) body[at] = byte;
        await holds({ ...request, body });
      },
    ),
    { numRuns: 1_000 },
  );
});
