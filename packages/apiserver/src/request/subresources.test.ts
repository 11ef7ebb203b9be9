import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { builtinRegistry } from '../builtin-registry.ts';
import { exampleOf } from '../kinds/examples.fixture.ts';
import { startFixture, type Fixture, type Send } from '../kinds/server-fixture.ts';

let fixture: Fixture;
let send: Send;
beforeAll(async () => {
  fixture = await startFixture();
  send = fixture.send;
});
afterAll(() => fixture.stop());

const merge = { 'content-type': 'application/merge-patch+json' };
const resources = builtinRegistry()
  .resources()
  .filter(({ subresources }) => Object.keys(subresources).length > 0)
  .map((resource) => ({
    resource,
    id: `${resource.group}/${resource.plural}`,
    name: `${resource.version} ${resource.plural}`,
  }));

/** What does what it says on the next pages of this file, or in tests of its own. */
const acting = new Set(['status', 'scale', 'approval', 'finalize', 'binding', 'eviction', 'token']);
const methods = { get: 'GET', create: 'POST', update: 'PUT', patch: 'PATCH', delete: 'DELETE' } as const;

describe.each(resources)('$name', ({ resource, id }) => {
  const { group, version, plural, namespaced, subresources } = resource;
  const collection = `${group ? `/apis/${group}` : '/api'}/${version}${namespaced ? '/namespaces/default' : ''}/${plural}`;
  const { object, status } = exampleOf(id, version === 'v1' ? 1 : 2);
  const path = `${collection}/${object.metadata.name}`;
  beforeAll(async () => {
    const created = await send('POST', collection, object);
    expect(created.status === 409 ? undefined : created.body['message']).toBeUndefined();
  });

  it.runIf('status' in subresources)('a change of the status is there afterwards', async () => {
    expect({ id, hasExample: status !== undefined }).toEqual({ id, hasExample: true });
    for (const write of ['PATCH', 'PUT'] as const) {
      const live = (await send('GET', path)).body;
      const body = write === 'PATCH' ? { status } : { ...live, status: { ...(live['status'] as object), ...status } };
      const answer = await send(write, `${path}/status`, body, write === 'PATCH' ? merge : {});
      expect({ status: answer.status, message: answer.body['message'] }).toEqual({ status: 200, message: undefined });
      expect((await send('GET', path)).body['status']).toMatchObject(status!);
    }
  });

  it('what is not done is not pretended', async () => {
    for (const [subresource, { verbs }] of Object.entries(subresources)) {
      if (acting.has(subresource)) continue;
      for (const verb of verbs as (keyof typeof methods)[]) {
        const headers = verb === 'patch' ? merge : {};
        const { status: code } = await send(
          methods[verb],
          `${path}/${subresource}`,
          verb === 'get' ? undefined : {},
          headers,
        );
        expect({ subresource, verb, code }).toEqual({ subresource, verb, code: 501 });
      }
    }
  });
});

describe('certificatesigningrequests/approval', () => {
  const requests = '/apis/certificates.k8s.io/v1/certificatesigningrequests';
  const approved = { type: 'Approved', status: 'True', reason: 'Tested', message: 'by a test' };

  async function made(name: string) {
    const { object } = exampleOf('certificates.k8s.io/certificatesigningrequests', 1);
    const spec = { ...(object['spec'] as object), username: 'somebody else' };
    return (await send('POST', requests, { metadata: { name }, spec })).body;
  }

  it('says who asked, not who the request says asked', async () => {
    expect((await made('whose'))['spec']).toMatchObject({ username: 'system:admin' });
  });

  it.each(['PUT', 'PATCH'] as const)('keeps the condition of a %s, with its times', async (method) => {
    const live = await made(`approved-${method.toLowerCase()}`);
    const path = `${requests}/${live.metadata.name}`;
    const body =
      method === 'PUT' ? { ...live, status: { conditions: [approved] } } : { status: { conditions: [approved] } };
    expect((await send(method, `${path}/approval`, body, method === 'PUT' ? {} : merge)).status).toBe(200);
    const { conditions: stored } = (await send('GET', path)).body['status'] as { conditions: object[] };
    expect(stored).toEqual([
      { ...approved, lastUpdateTime: expect.any(String), lastTransitionTime: expect.any(String) },
    ]);
  });

  it('lets nothing but conditions through, and the status no decision', async () => {
    const { metadata } = await made('separate');
    const path = `${requests}/${metadata.name}`;
    await send(
      'PATCH',
      `${path}/approval`,
      { spec: { signerName: 'x.example.com/y' }, status: { certificate: 'eA==' } },
      merge,
    );
    const decided = await send('PATCH', `${path}/status`, { status: { conditions: [approved] } }, merge);
    expect(decided.status).toBe(422);
    const { body } = await send('GET', path);
    expect(body['status']).toEqual({});
    expect(body['spec']).toMatchObject({ signerName: 'example.com/s' });
  });

  it('refuses to approve and deny at once', async () => {
    await made('both');
    const both = { status: { conditions: [approved, { ...approved, type: 'Denied' }] } };
    const { status, body } = await send('PATCH', `${requests}/both/approval`, both, merge);
    expect(status).toBe(422);
    expect(body['message']).toContain('Approved and Denied conditions are mutually exclusive');
  });
});
