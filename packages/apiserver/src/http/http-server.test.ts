import { request as plainRequest } from 'node:http';
import { Agent, request as tlsRequest, type RequestOptions } from 'node:https';
import { connect } from 'node:net';
import { parse } from 'yaml';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startCluster, type Cluster } from '../cluster.ts';

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

function call(url: string, options: RequestOptions = {}, body?: string): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const request = (url.startsWith('https') ? tlsRequest : plainRequest)(url, options, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () =>
        resolve({ status: response.statusCode!, headers: response.headers, text: Buffer.concat(chunks).toString() }),
      );
      response.on('error', reject);
    });
    request.on('error', reject);
    request.end(body);
  });
}

describe('over HTTP', () => {
  let cluster: Cluster;
  beforeAll(async () => {
    cluster = await startCluster({ port: 0, controllers: 'none' });
  });
  afterAll(() => cluster.stop());

  it('answers with the headers clients look at', async () => {
    const { status, headers, text } = await call(`${cluster.url}/api/v1/namespaces/default`);
    expect(status).toBe(200);
    expect(headers).toMatchObject({
      'content-type': 'application/json',
      'cache-control': 'no-cache, private',
      'content-length': String(Buffer.byteLength(text)),
    });
    expect(headers['audit-id']).toMatch(/^[0-9a-f-]{36}$/);
    expect(text.endsWith('}\n')).toBe(true);
  });

  it('indents for curl and speaks YAML', async () => {
    const pretty = await call(`${cluster.url}/api/v1/namespaces/default`, { headers: { 'user-agent': 'curl/8.0' } });
    expect(pretty.text).toContain('\n  "metadata": {\n');
    const yaml = await call(`${cluster.url}/api/v1/namespaces/default`, { headers: { accept: 'application/yaml' } });
    expect(yaml.headers['content-type']).toBe('application/yaml');
    expect(parse(yaml.text)).toMatchObject({ kind: 'Namespace', metadata: { name: 'default' } });
    expect(yaml.text).toMatch(/creationTimestamp: "/);
  });

  it('refuses HEAD, OPTIONS, and bodies over 3 MiB', async () => {
    const head = await call(`${cluster.url}/api/v1/namespaces/default`, { method: 'HEAD' });
    expect(head).toMatchObject({ status: 405, text: '' });
    expect((await call(`${cluster.url}/api/v1/namespaces`, { method: 'OPTIONS' })).status).toBe(405);
    const big = await call(
      `${cluster.url}/api/v1/namespaces`,
      { method: 'POST', headers: { 'content-type': 'application/json', 'content-length': '4000000' } },
      `{"a":"${'x'.repeat(3_999_992)}"}`,
    );
    expect(big.status).toBe(413);
    expect(big.text).toContain('Request entity too large: limit is 3145728');
  });

  it('says no to a connection upgrade instead of hanging up', async () => {
    const { port } = new URL(cluster.url);
    const text = await new Promise<string>((resolve, reject) => {
      const socket = connect(Number(port), '127.0.0.1', () => {
        socket.write(
          'GET /api/v1/namespaces/default/pods/p/exec HTTP/1.1\r\nhost: localhost\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n',
        );
      });
      let received = '';
      socket.on('data', (chunk: Buffer) => {
        received += chunk.toString();
      });
      socket.on('close', () => resolve(received));
      socket.on('error', reject);
    });
    expect(text).toMatch(/^HTTP\/1\.1 501 /);
    expect(text).toContain('is not implemented by the embedded API server');
  });

  it('the kubeconfig says where it is', () => {
    expect(parse(cluster.kubeconfig)).toMatchObject({
      kind: 'Config',
      'current-context': 'slipway',
      clusters: [{ cluster: { server: cluster.url } }],
    });
  });
});

describe('over TLS with RBAC', () => {
  let cluster: Cluster;
  beforeAll(async () => {
    cluster = await startCluster({
      port: 0,
      tls: true,
      authorization: 'RBAC',
      controllers: 'none',
      tokens: [{ token: 'alice-token', user: 'alice' }],
    });
  });
  afterAll(() => cluster.stop());

  interface Config {
    clusters: { cluster: { 'certificate-authority-data': string } }[];
    users: { user: { 'client-certificate-data': string; 'client-key-data': string } }[];
  }
  const decode = (text: string) => Buffer.from(text, 'base64').toString();

  it('knows the administrator by certificate, others by token, and nobody as nobody', async () => {
    const { clusters, users } = parse(cluster.kubeconfig) as Config;
    const ca = decode(clusters[0]!.cluster['certificate-authority-data']);
    const cert = decode(users[0]!.user['client-certificate-data']);
    const key = decode(users[0]!.user['client-key-data']);
    const url = `${cluster.url}/api/v1/namespaces/default/configmaps`;
    const admin = await call(url, { agent: new Agent({ ca, cert, key }) });
    expect(admin.status).toBe(200);
    const alice = await call(url, { agent: new Agent({ ca }), headers: { authorization: 'Bearer alice-token' } });
    expect(alice.status).toBe(403);
    expect(JSON.parse(alice.text)).toMatchObject({
      message:
        'configmaps is forbidden: User "alice" cannot list resource "configmaps" in API group "" in the namespace "default"',
      reason: 'Forbidden',
      details: { kind: 'configmaps' },
    });
    const wrong = await call(url, { agent: new Agent({ ca }), headers: { authorization: 'Bearer wrong' } });
    expect(wrong.status).toBe(401);
    const nobody = await call(url, { agent: new Agent({ ca }) });
    expect(JSON.parse(nobody.text)).toMatchObject({
      code: 403,
      message: expect.stringContaining('User "system:anonymous"') as string,
    });
    expect((await call(`${cluster.url}/version`, { agent: new Agent({ ca }) })).status).toBe(200);
  });
});
