import { expect, test } from 'vitest';
import { startAuthCluster, type Answer, type AuthCluster } from './auth.fixture.ts';

const ACCOUNTS = '/api/v1/namespaces/default/serviceaccounts';

async function withAccount(): Promise<AuthCluster & { account: Answer['body'] }> {
  const setup = await startAuthCluster({
    authorization: 'RBAC',
    tokens: [{ token: 'static-secret', user: 'carol', groups: ['ops'] }],
  });
  const { body } = await setup.admin.post(ACCOUNTS, {
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    metadata: { name: 'sa' },
  });
  return Object.assign(setup, { account: body });
}

async function request(setup: AuthCluster, spec: object = {}) {
  return setup.admin.post(`${ACCOUNTS}/sa/token`, {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenRequest',
    spec,
  });
}

async function review(setup: AuthCluster, token: string, audiences?: string[]) {
  const { body } = await setup.admin.post('/apis/authentication.k8s.io/v1/tokenreviews', {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenReview',
    spec: { token, ...(audiences ? { audiences } : {}) },
  });
  return body['status'] as Answer['body'];
}

function claimsOf(token: string): Answer['body'] {
  return JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString()) as Answer['body'];
}

test('a token says whose it is, and a review reads it', async () => {
  await using setup = await withAccount();
  const { status, body } = await request(setup);
  expect(status).toBe(201);
  expect(body).toMatchObject({
    kind: 'TokenRequest',
    apiVersion: 'authentication.k8s.io/v1',
    metadata: { name: 'sa', namespace: 'default', uid: setup.account['metadata'].uid },
    spec: { expirationSeconds: 3600, boundObjectRef: null },
    status: { expirationTimestamp: '2030-01-01T01:00:00Z' },
  });
  const claims = claimsOf(body['status'].token as string);
  expect(claims).toMatchObject({
    sub: 'system:serviceaccount:default:sa',
    'kubernetes.io': {
      namespace: 'default',
      serviceaccount: { name: 'sa', uid: setup.account['metadata'].uid },
    },
  });
  expect(claims['exp'] - claims['iat']).toBe(3600);
  expect(await review(setup, body['status'].token as string)).toEqual({
    authenticated: true,
    user: {
      username: 'system:serviceaccount:default:sa',
      uid: setup.account['metadata'].uid,
      groups: ['system:serviceaccounts', 'system:serviceaccounts:default', 'system:authenticated'],
      extra: { 'authentication.kubernetes.io/credential-id': [`JTI=${claims['jti']}`] },
    },
    audiences: claims['aud'],
  });
});

test('bad, forged, expired and foreign tokens are refused', async () => {
  await using setup = await withAccount();
  const refusal = { user: {}, error: 'invalid bearer token' };
  expect(await review(setup, 'abc')).toEqual(refusal);
  const token = (await request(setup)).body['status'].token as string;
  const [header, payload, signature] = token.split('.');
  const forged = Buffer.from(JSON.stringify({ ...claimsOf(token), sub: 'system:admin' })).toString('base64url');
  expect(await review(setup, `${header}.${forged}.${signature}`)).toEqual(refusal);
  const none = Buffer.from('{"alg":"none"}').toString('base64url');
  expect(await review(setup, `${none}.${payload}.`)).toEqual(refusal);
  expect(await review(setup, token, ['somebody-else'])).toEqual({
    user: {},
    error:
      '[invalid bearer token, token audiences ["https://kubernetes.default.svc.cluster.local"] is invalid for the target audiences ["somebody-else"]]',
  });
  await setup.clock.advance(3_600_000);
  expect(await review(setup, token)).toEqual(refusal);
});

test('a token dies with its account, also when one of the same name is reborn', async () => {
  await using setup = await withAccount();
  const token = (await request(setup)).body['status'].token as string;
  await setup.admin.remove(`${ACCOUNTS}/sa`);
  await setup.admin.post(ACCOUNTS, { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'sa' } });
  expect((await review(setup, token))['authenticated']).toBeUndefined();
});

test('a token bound to a secret dies with it', async () => {
  await using setup = await withAccount();
  const secrets = '/api/v1/namespaces/default/secrets';
  await setup.admin.post(secrets, { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'anchor' } });
  const bound = await request(setup, { boundObjectRef: { kind: 'Secret', apiVersion: 'v1', name: 'anchor' } });
  expect(bound.status).toBe(201);
  const token = bound.body['status'].token as string;
  expect((await review(setup, token))['authenticated']).toBe(true);
  await setup.admin.remove(`${secrets}/anchor`);
  expect((await review(setup, token))['authenticated']).toBeUndefined();
});

test('too short a life is refused', async () => {
  await using setup = await withAccount();
  const { status, body } = await request(setup, { expirationSeconds: 60 });
  expect(status).toBe(422);
  expect(body['message']).toContain(
    'spec.expirationSeconds: Invalid value: 60: may not specify a duration less than 10 minutes',
  );
});

test('bearer tokens over a socket: static, ServiceAccount, wrong, none', async () => {
  const setup = await startAuthCluster({
    authorization: 'RBAC',
    port: 0,
    tokens: [{ token: 'static-secret', user: 'carol', groups: ['ops'] }],
  });
  await using _ = setup;
  await setup.admin.post(ACCOUNTS, { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'sa' } });
  const token = (await request(setup)).body['status'].token as string;
  const whoami = async (authorization?: string) => {
    const { request: send } = await import('node:http');
    return new Promise<{ status: number; body: Answer['body'] }>((resolve, reject) => {
      const payload = JSON.stringify({ apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' });
      const outgoing = send(
        `${setup.cluster.url}/apis/authentication.k8s.io/v1/selfsubjectreviews`,
        {
          method: 'POST',
          headers: { 'content-type': 'application/json', ...(authorization ? { authorization } : {}) },
        },
        (response) => {
          let text = '';
          response.on('data', (chunk: Buffer) => (text += chunk.toString()));
          response.on('end', () => resolve({ status: response.statusCode!, body: JSON.parse(text) as Answer['body'] }));
        },
      );
      outgoing.on('error', reject);
      outgoing.end(payload);
    });
  };
  const carol = await whoami('Bearer static-secret');
  expect(carol.body['status'].userInfo).toEqual({ username: 'carol', groups: ['ops', 'system:authenticated'] });
  const robot = await whoami(`Bearer ${token}`);
  expect(robot.body['status'].userInfo.username).toBe('system:serviceaccount:default:sa');
  const wrong = await whoami('Bearer wrong');
  expect(wrong.status).toBe(401);
  expect(wrong.body).toMatchObject({ reason: 'Unauthorized', message: 'Unauthorized' });
  const nobody = await whoami();
  expect(nobody.status).toBe(403);
  expect(nobody.body['message']).toContain('User "system:anonymous" cannot create resource "selfsubjectreviews"');
});
