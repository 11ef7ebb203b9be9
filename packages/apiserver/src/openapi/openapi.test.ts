import { beforeAll, describe, expect, it } from 'vitest';
import { startCluster, type Cluster } from '../cluster.ts';
import { testClient, type TestClient } from '../test-client.ts';
import { WireReader } from '../protobuf/wire-reader.ts';

let cluster: Cluster;
let client: TestClient;

beforeAll(async () => {
  cluster = await startCluster({
    controllers: 'none',
    crds: [
      {
        apiVersion: 'apiextensions.k8s.io/v1',
        kind: 'CustomResourceDefinition',
        metadata: { name: 'widgets.example.com' },
        spec: {
          group: 'example.com',
          scope: 'Namespaced',
          names: { plural: 'widgets', kind: 'Widget', shortNames: ['wd'] },
          versions: ['v1', 'v2beta1', 'v2'].map((name) => ({
            name,
            served: true,
            storage: name === 'v1',
            schema: {
              openAPIV3Schema: {
                type: 'object',
                properties: { spec: { type: 'object', properties: { size: { type: 'integer' } } } },
              },
            },
            subresources: { status: {} },
          })),
        },
      },
    ],
  });
  client = testClient(cluster);
  return () => cluster.stop();
});

interface Document {
  openapi: string;
  paths: Record<string, Record<string, { parameters?: { name: string }[]; [key: string]: unknown }>>;
  components: { schemas: Record<string, { properties?: Record<string, unknown>; [key: string]: unknown }> };
}

describe('OpenAPI v3', () => {
  it('has an index whose addresses can be followed', async () => {
    const index = (await client.get('/openapi/v3')).text;
    const { paths } = JSON.parse(index) as { paths: Record<string, { serverRelativeURL: string }> };
    expect(Object.keys(paths)).toEqual(expect.arrayContaining(['api/v1', 'apis/apps/v1', 'apis/example.com/v1']));
    const answer = await client.get(paths['apis/apps/v1']!.serverRelativeURL);
    expect(answer.status).toBe(200);
    expect(answer.headers['cache-control']).toBe('public, immutable');
  });

  it.each([
    ['apis/apps/v1', '/apis/apps/v1/namespaces/{namespace}/deployments/{name}', 'apps', 'v1', 'Deployment'],
    ['api/v1', '/api/v1/nodes/{name}', '', 'v1', 'Node'],
    [
      'apis/example.com/v1',
      '/apis/example.com/v1/namespaces/{namespace}/widgets/{name}',
      'example.com',
      'v1',
      'Widget',
    ],
  ])('%s tells kubectl that the server validates fields', async (document, path, group, version, kind) => {
    const { paths } = JSON.parse((await client.get(`/openapi/v3/${document}`)).text) as Document;
    const { patch } = paths[path]!;
    expect(patch!['x-kubernetes-group-version-kind']).toEqual({ group, version, kind });
    expect(patch!.parameters!.map(({ name }) => name)).toEqual(['dryRun', 'fieldManager', 'fieldValidation', 'force']);
  });

  it('describes kinds with the extensions clients merge by', async () => {
    const { components } = JSON.parse((await client.get('/openapi/v3/apis/apps/v1')).text) as Document;
    const spec = components.schemas['io.k8s.api.core.v1.PodSpec']!;
    expect(spec.properties!['containers']).toMatchObject({
      'x-kubernetes-list-map-keys': ['name'],
      'x-kubernetes-patch-merge-key': 'name',
    });
    const widget = (JSON.parse((await client.get('/openapi/v3/apis/example.com/v1')).text) as Document).components
      .schemas['com.example.v1.Widget']!;
    expect(widget['x-kubernetes-group-version-kind']).toEqual([
      { group: 'example.com', version: 'v1', kind: 'Widget' },
    ]);
  });

  it('every reference in a document resolves in it', async () => {
    for (const path of ['api/v1', 'apis/apps/v1', 'apis/example.com/v1', 'apis/autoscaling/v2', 'apis/policy/v1']) {
      const { text } = await client.get(`/openapi/v3/${path}`);
      const { components } = JSON.parse(text) as Document;
      const missing = new Set(
        [...text.matchAll(/"#\/components\/schemas\/([^"]+)"/g)]
          .map(([, name]) => name!)
          .filter((name) => !Object.hasOwn(components.schemas, name)),
      );
      expect({ path, missing: [...missing] }).toEqual({ path, missing: [] });
    }
  });

  it('answers 304 to who knows it', async () => {
    const first = await client.get('/openapi/v3/apis/apps/v1');
    const again = await client.get('/openapi/v3/apis/apps/v1', { 'if-none-match': String(first.headers['etag']) });
    expect(again.status).toBe(304);
    expect(again.text).toBe('');
  });
});

/** The embedded messages or texts of one field. */
function messagesOf(bytes: Uint8Array, wanted: number): Uint8Array[] {
  const reader = new WireReader(bytes);
  const found: Uint8Array[] = [];
  for (const { field, wireType } of reader.fields()) {
    if (field === wanted) found.push(reader.bytes(wireType));
    else reader.skip(wireType);
  }
  return found;
}

function textOf(bytes: Uint8Array, field: number): string {
  return Buffer.from(messagesOf(bytes, field)[0] ?? []).toString();
}

describe('OpenAPI v2', () => {
  it('comes as JSON', async () => {
    const answer = await client.get('/openapi/v2');
    const { swagger, definitions } = JSON.parse(answer.text) as {
      swagger: string;
      definitions: Record<string, unknown>;
    };
    expect(swagger).toBe('2.0');
    expect(Object.keys(definitions)).toEqual(
      expect.arrayContaining(['io.k8s.api.core.v1.Pod', 'com.example.v1.Widget']),
    );
    expect(answer.text).not.toContain('#/components/');
  });

  it.each(['.', '@'])('comes as protobuf to who asks for v2%sv1.0, with the same definitions', async (separator) => {
    const accept = `application/com.github.proto-openapi.spec.v2${separator}v1.0+protobuf`;
    const { status, headers, body } = await cluster.transport.send({
      method: 'GET',
      path: '/openapi/v2',
      headers: { accept },
    });
    expect(status).toBe(200);
    expect(headers['content-type']).toBe('application/com.github.proto-openapi.spec.v2.v1.0+protobuf');
    const [definitions] = messagesOf(body, 9);
    const schemas = new Map(
      messagesOf(definitions!, 1).map((entry) => [textOf(entry, 1), messagesOf(entry, 2)[0]!] as const),
    );
    const json = JSON.parse((await client.get('/openapi/v2')).text) as { definitions: object };
    expect([...schemas.keys()]).toEqual(Object.keys(json.definitions));
    // gnostic: properties are field 25, references field 1, extensions field 31 with their value as YAML.
    const pod = schemas.get('io.k8s.api.core.v1.Pod')!;
    const properties = messagesOf(messagesOf(pod, 25)[0]!, 1);
    expect(properties.map((property) => textOf(property, 1))).toEqual([
      'apiVersion',
      'kind',
      'metadata',
      'spec',
      'status',
    ]);
    const spec = messagesOf(properties[3]!, 2)[0]!;
    expect(textOf(spec, 1)).toBe('#/definitions/io.k8s.api.core.v1.PodSpec');
    const [kinds] = messagesOf(pod, 31);
    expect(textOf(kinds!, 1)).toBe('x-kubernetes-group-version-kind');
    expect(JSON.parse(textOf(messagesOf(kinds!, 2)[0]!, 2))).toEqual([{ group: '', kind: 'Pod', version: 'v1' }]);
  });
});

describe('discovery', () => {
  const aggregated =
    'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json';

  it('aggregated: core under /api, the rest under /apis, revalidated by ETag', async () => {
    const core = await client.get('/api', { accept: aggregated });
    expect(core.headers['content-type']).toBe('application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList');
    expect(core.body).toMatchObject({ kind: 'APIGroupDiscoveryList', apiVersion: 'apidiscovery.k8s.io/v2' });
    const apis = await client.get('/apis', { accept: aggregated });
    const groups = apis.body.items.map(({ metadata }) => metadata.name);
    expect(groups).toEqual(expect.arrayContaining(['apps', 'batch', 'example.com']));
    expect(groups).not.toContain(undefined);
    const again = await client.get('/apis', { accept: aggregated, 'if-none-match': String(apis.headers['etag']) });
    expect(again.status).toBe(304);
  });

  it('legacy: versions by priority, subresources as rows', async () => {
    const group = await client.get('/apis/example.com');
    expect(group.body).toMatchObject({
      kind: 'APIGroup',
      versions: [{ version: 'v2' }, { version: 'v1' }, { version: 'v2beta1' }],
      preferredVersion: { groupVersion: 'example.com/v2', version: 'v2' },
    });
    const { body } = await client.get('/apis/example.com/v1');
    expect(body['resources']).toMatchObject([
      { name: 'widgets', singularName: 'widget', shortNames: ['wd'], kind: 'Widget', namespaced: true },
      { name: 'widgets/status', singularName: '', kind: 'Widget', verbs: ['get', 'patch', 'update'] },
    ]);
    const apps = (await client.get('/apis/apps/v1')).body['resources'] as { name: string }[];
    expect(apps.find(({ name }) => name === 'deployments/scale')).toEqual({
      name: 'deployments/scale',
      singularName: '',
      namespaced: true,
      group: 'autoscaling',
      version: 'v1',
      kind: 'Scale',
      verbs: ['get', 'patch', 'update'],
    });
  });

  it('forgets a CRD with the CRD', async () => {
    const before = (await client.get('/openapi/v3')).text;
    await client.delete('/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.example.com');
    await expect.poll(async () => (await client.get('/apis/example.com')).status).toBe(404);
    expect((await client.get('/openapi/v3')).text).not.toBe(before);
  });

  it('says which version it imitates, and that it is well', async () => {
    expect((await client.get('/version')).body).toMatchObject({ gitVersion: 'v1.36.3', major: '1', minor: '36' });
    for (const path of ['/healthz', '/livez', '/readyz']) expect((await client.get(path)).text).toBe('ok');
    expect((await client.get('/readyz?verbose')).text).toMatch(/readyz check passed\n$/);
  });
});
