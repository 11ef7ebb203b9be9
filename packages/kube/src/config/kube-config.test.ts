import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { inspect } from 'node:util';

import * as fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { stringify } from 'yaml';

import {
  createCertificateAuthority,
  folder,
  serve,
  serveProxy,
  serveSocks,
  type CertificateAuthority,
  type KeyAndCertificate,
} from '../../test/loopback.ts';
import { VirtualClock } from '@slipway/testing';
import { ConfigError } from './config-error.ts';
import { connect, findConnection } from '../connect.ts';
import { inClusterConnection } from './in-cluster.ts';
import { loadKubeConfig } from './kube-config.ts';

const base64 = (text: string) => Buffer.from(text).toString('base64');

interface Parts {
  cluster?: Record<string, unknown>;
  user?: Record<string, unknown>;
  context?: Record<string, unknown>;
}

function config(parts: Parts, name = 'dev'): string {
  return stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': name,
    clusters: [{ name, cluster: { server: 'https://127.0.0.1:1', ...parts.cluster } }],
    users: [{ name, user: { ...parts.user } }],
    contexts: [{ name, context: { cluster: name, user: name, ...parts.context } }],
  });
}

let ca: CertificateAuthority;
let serverCertificate: KeyAndCertificate;
beforeAll(async () => {
  ca = await createCertificateAuthority('test-ca');
  serverCertificate = await ca.issue({ commonName: 'server', dnsNames: ['kubernetes'], ipAddresses: ['127.0.0.1'] });
});

/** Who the server saw: what a `GET /version` through the config arrives as. */
async function whoAmI(file: string, options: { env?: Record<string, string> } = {}): Promise<Record<string, unknown>> {
  const kubeConfig = await loadKubeConfig({ file, env: options.env ?? {} });
  await using cluster = connect(await kubeConfig.connection());
  return (await cluster.client.request({ method: 'GET', path: '/version' })) as Record<string, unknown>;
}

function mirror(options: { requestCert?: boolean } = {}) {
  return serve(
    (request, response) => {
      const socket = request.socket as typeof request.socket & {
        getPeerCertificate?(): { subject?: { CN?: string } };
      };
      response.setHeader('content-type', 'application/json');
      response.end(
        JSON.stringify({
          authorization: request.headers.authorization,
          certificate: options.requestCert ? socket.getPeerCertificate?.().subject?.CN : undefined,
          impersonate: Object.fromEntries(
            Object.entries(request.headers).filter(([name]) => name.startsWith('impersonate-')),
          ),
          url: request.url,
        }),
      );
    },
    { ...serverCertificate, ...(options.requestCert ? { requestCert: true, ca: ca.certificate } : {}) },
  );
}

describe('credentials', () => {
  test('a token and an inline CA', async () => {
    await using files = await folder();
    await using server = await mirror();
    const file = await files.write(
      'config',
      config({
        cluster: { server: server.url, 'certificate-authority-data': base64(ca.certificate) },
        user: { token: 'abc' },
      }),
    );
    expect(await whoAmI(file)).toMatchObject({ authorization: 'Bearer abc', url: '/version' });
  });

  test('a server below a path, a CA file relative to the kubeconfig', async () => {
    await using files = await folder();
    await using server = await mirror();
    await files.write('ca.crt', ca.certificate);
    const file = await files.write(
      'config',
      config({
        cluster: { server: `${server.url}/clusters/one/`, 'certificate-authority': 'ca.crt' },
        user: { username: 'eve', password: 'apple' },
      }),
    );
    expect(await whoAmI(file)).toMatchObject({
      url: '/clusters/one/version',
      authorization: `Basic ${base64('eve:apple')}`,
    });
  });

  test('client certificates, inline and as files', async () => {
    await using files = await folder();
    await using server = await mirror({ requestCert: true });
    const mine = await ca.issue({ commonName: 'me' });
    await files.write('me.crt', mine.certificate);
    await files.write('me.key', mine.key);
    const cluster = { server: server.url, 'certificate-authority-data': base64(ca.certificate) };
    const inline = await files.write(
      'inline',
      config({
        cluster,
        user: { 'client-certificate-data': base64(mine.certificate), 'client-key-data': base64(mine.key) },
      }),
    );
    const named = await files.write(
      'named',
      config({ cluster, user: { 'client-certificate': 'me.crt', 'client-key': 'me.key' } }),
    );
    expect(await whoAmI(inline)).toMatchObject({ certificate: 'me' });
    expect(await whoAmI(named)).toMatchObject({ certificate: 'me' });
  });

  test('impersonation', async () => {
    await using files = await folder();
    await using server = await mirror();
    const file = await files.write(
      'config',
      config({
        cluster: { server: server.url, 'insecure-skip-tls-verify': true },
        user: {
          token: 't',
          as: 'jane',
          'as-uid': '7',
          'as-groups': ['a', 'b'],
          'as-user-extra': { 'Example.com/Role': ['x'] },
        },
      }),
    );
    expect((await whoAmI(file))['impersonate']).toEqual({
      'impersonate-user': 'jane',
      'impersonate-uid': '7',
      'impersonate-group': 'a, b',
      'impersonate-extra-example.com%2frole': 'x',
    });
  });

  test('a token file is read again after a minute, and at once on 401 (watch failure 20)', async () => {
    await using files = await folder();
    let valid = 'one';
    const seen: string[] = [];
    await using server = await serve((request, response) => {
      seen.push(request.headers.authorization ?? '');
      response.statusCode = request.headers.authorization === `Bearer ${valid}` ? 200 : 401;
      response.end('{}');
    });
    const clock = new VirtualClock();
    const token = await files.write('token', 'one\n');
    const file = await files.write('config', config({ cluster: { server: server.url }, user: { tokenFile: 'token' } }));
    const connection = await (await loadKubeConfig({ file, env: {}, clock })).connection();
    await using cluster = connect(connection);
    const call = () => cluster.client.request({ method: 'GET', path: '/version' });

    await call();
    await files.write('token', 'two\n');
    await call();
    expect(seen).toEqual(['Bearer one', 'Bearer one']);
    valid = 'two';
    await call();
    expect(seen.slice(2)).toEqual(['Bearer one', 'Bearer two']);
    await files.write('token', 'three\n');
    valid = 'three';
    await clock.advance(61_000);
    await call();
    expect(seen.slice(4)).toEqual(['Bearer three']);
    expect(token).toContain('token');
    valid = 'nobody';
    await expect(call()).rejects.toMatchObject({ code: 401 });
    expect(seen.slice(5)).toEqual(['Bearer three']);
  });
});

describe('TLS', () => {
  const request = async (cluster: Record<string, unknown>) => {
    await using files = await folder();
    await using server = await serve((_request, response) => void response.end('{}'), {
      ...(await ca.issue({ commonName: 'server', dnsNames: ['kubernetes'] })),
    });
    return await whoAmI(await files.write('config', config({ cluster: { server: server.url, ...cluster } })));
  };

  test('a name that does not fit is refused with a hint, tls-server-name fits it', async () => {
    const authority = { 'certificate-authority-data': base64(ca.certificate) };
    await expect(request(authority)).rejects.toThrow(/set tls-server-name/);
    expect(await request({ ...authority, 'tls-server-name': 'kubernetes' })).toEqual({});
  });

  test('an unknown CA is refused with a hint, insecure-skip-tls-verify trusts it', async () => {
    await expect(request({})).rejects.toThrow(/does not lead back to the configured certificate-authority/);
    expect(await request({ 'insecure-skip-tls-verify': true })).toEqual({});
  });

  test('a rotated CA bundle is picked up by new connections', async () => {
    await using files = await folder();
    const next = await createCertificateAuthority('next-ca');
    const clock = new VirtualClock();
    await files.write('ca.crt', ca.certificate);
    const file = await files.write(
      'config',
      config({ cluster: { server: 'https://127.0.0.1:1', 'certificate-authority': 'ca.crt' } }),
    );
    const connection = await (await loadKubeConfig({ file, env: {}, clock })).connection();
    await using server = await serve((_request, response) => void response.end('{}'), {
      ...(await next.issue({ commonName: 'server', ipAddresses: ['127.0.0.1'] })),
    });
    await using cluster = connect({ ...connection, server: server.url });
    const call = () => cluster.client.request({ method: 'GET', path: '/version' });
    await expect(call()).rejects.toMatchObject({ reason: 'ConnectionFailed' });
    await files.write('ca.crt', `${ca.certificate}\n${next.certificate}`);
    await expect(call()).rejects.toMatchObject({ reason: 'ConnectionFailed' });
    await clock.advance(61_000);
    expect(await call()).toEqual({});
  });
});

describe('proxies', () => {
  test('proxy-url goes through CONNECT, with user and password', async () => {
    await using files = await folder();
    await using server = await mirror();
    const asked: { target: string; authorization: string | undefined }[] = [];
    await using proxy = await serveProxy(asked);
    const file = await files.write(
      'config',
      config({
        cluster: {
          server: server.url,
          'certificate-authority-data': base64(ca.certificate),
          'proxy-url': proxy.url.replace('://', '://user:p%40ss@'),
        },
        user: { token: 'abc' },
      }),
    );
    expect(await whoAmI(file)).toMatchObject({ authorization: 'Bearer abc' });
    expect(asked).toEqual([{ target: `127.0.0.1:${server.port}`, authorization: `Basic ${base64('user:p@ss')}` }]);
  });

  test('proxy-url is told the whole address of a server without TLS, as many refuse tunnels to it', async () => {
    await using files = await folder();
    const asked: unknown[] = [];
    await using proxy = await serve(({ url, headers }, response) => {
      asked.push([url, headers.host, headers['proxy-authorization']]);
      response.end('{}');
    });
    const cluster = { server: 'http://api.test/base', 'proxy-url': proxy.url.replace('://', '://user:p%40ss@') };
    const file = await files.write('config', config({ cluster, user: {} }));
    expect(await whoAmI(file)).toEqual({});
    expect(asked).toEqual([['http://api.test/base/version', 'api.test', `Basic ${base64('user:p@ss')}`]]);
  });

  test('socks5 with user and password; a refusal does not show the password', async () => {
    await using files = await folder();
    await using server = await mirror();
    const asked: string[] = [];
    await using proxy = await serveSocks(asked, 'secret');
    const write = (password: string) =>
      files.write(
        'config',
        config({
          cluster: {
            server: server.url,
            'certificate-authority-data': base64(ca.certificate),
            'proxy-url': `socks5://me:${password}@127.0.0.1:${proxy.port}`,
          },
        }),
      );
    expect(await whoAmI(await write('secret'))).toMatchObject({ url: '/version' });
    expect(asked).toEqual([`127.0.0.1:${server.port}`]);
    const failure = await whoAmI(await write('wrong')).catch((error: unknown) => error as Error);
    expect((failure as Error).message).toContain('user or password refused');
    expect((failure as Error).message).not.toContain('wrong');
  });

  test.each([
    ['https://10.1.2.3:6443', { HTTPS_PROXY: 'proxy:3128' }, 'http://proxy:3128'],
    ['https://10.1.2.3:6443', { https_proxy: 'http://p', NO_PROXY: '10.0.0.0/8' }, undefined],
    ['https://a.example.com', { HTTPS_PROXY: 'p', NO_PROXY: '.example.com' }, undefined],
    ['https://a.example.com', { HTTPS_PROXY: 'p', NO_PROXY: 'example.com:6443' }, 'http://p'],
    ['https://a.example.com', { HTTPS_PROXY: 'p', NO_PROXY: 'a.example.com' }, undefined],
    ['https://127.0.0.1:1', { HTTPS_PROXY: 'p' }, undefined],
    ['http://a', { HTTPS_PROXY: 'p' }, undefined],
    ['https://a', { HTTPS_PROXY: 'p', NO_PROXY: '*' }, undefined],
  ])('the environment: %s with %j goes through %s', async (server, env, expected) => {
    const text = config({ cluster: { server } });
    const kubeConfig = await loadKubeConfig({ file: 'x', env, readFile: () => Promise.resolve(text) });
    expect((await kubeConfig.connection()).proxyUrl).toBe(expected);
  });
});

describe('several files', () => {
  const files: Record<string, string> = {
    '/a/config': config({ cluster: { server: 'https://a' }, context: { namespace: 'from-a' } }, 'one'),
    '/b/config': stringify({
      'current-context': 'two',
      clusters: [
        { name: 'one', cluster: { server: 'https://b-loses' } },
        { name: 'two', cluster: { server: 'https://two', 'certificate-authority': 'ca.crt' } },
      ],
      contexts: [{ name: 'two', context: { cluster: 'two' } }],
    }),
    '/b/ca.crt': '-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----\n',
  };
  const readFile = (path: string) =>
    files[path] === undefined
      ? Promise.reject(Object.assign(new Error('no such file'), { code: 'ENOENT' }))
      : Promise.resolve(files[path]);
  const env = { KUBECONFIG: '/a/config:/missing:/b/config:/a/config' };

  test('merge as kubectl merges: the first to set something wins, paths stay relative to their own file', async () => {
    const kubeConfig = await loadKubeConfig({ env, readFile });
    expect(kubeConfig).toMatchObject({
      files: ['/a/config', '/b/config'],
      currentContext: 'one',
      contexts: ['one', 'two'],
    });
    expect(await kubeConfig.connection()).toMatchObject({ server: 'https://a', namespace: 'from-a' });
    const two = await kubeConfig.connection('two');
    expect(two).toMatchObject({ server: 'https://two', namespace: 'default' });
    expect(typeof two.tls?.ca).toBe('function');
    const overridden = await loadKubeConfig({ env, readFile, context: 'two', cluster: 'one', namespace: 'mine' });
    expect(await overridden.connection()).toMatchObject({ server: 'https://a', namespace: 'mine' });
  });

  test('none at all says where it looked', async () => {
    await expect(loadKubeConfig({ env: {}, readFile, homeDirectory: '/home/x' })).rejects.toThrow(
      `there is no kubeconfig: looked for ${join('/home/x', '.kube', 'config')}`,
    );
    await expect(loadKubeConfig({ env: {}, readFile, file: '/missing' })).rejects.toThrow(
      '/missing: the kubeconfig does not exist',
    );
  });
});

describe('a broken kubeconfig names file, context and field', () => {
  const cases: [text: string, problem: string][] = [
    ['a: [', 'my.yaml: is not YAML'],
    ['just text', 'my.yaml: is not a kubeconfig'],
    ['kind: Deployment', 'my.yaml: kind: must be Config'],
    ['clusters: 3', 'my.yaml: clusters: must be a list'],
    ['clusters: [{cluster: {}}]', 'my.yaml: clusters[0].name: must be text'],
    ['clusters: [{name: a, cluster: x}]', 'my.yaml: clusters[a].cluster: must have fields'],
    ['current-context: [a]', 'my.yaml: current-context: must be text'],
    ['clusters: []', 'my.yaml: current-context: is not set'],
    ['current-context: a', 'my.yaml: contexts: there is no context "a"; the file has none'],
    [
      config({ context: { cluster: 'x' } }),
      'my.yaml: context "dev": contexts[dev].context.cluster: there is no cluster "x"; there are dev',
    ],
    [config({ context: { user: 'x' } }), 'my.yaml: context "dev": contexts[dev].context.user: there is no user "x"'],
    [config({ context: { cluster: '' } }), 'my.yaml: context "dev": contexts[dev].context.cluster: is missing'],
    [config({ cluster: { server: '' } }), 'my.yaml: context "dev": clusters[dev].cluster.server: is missing'],
    [config({ cluster: { server: 'ftp://x' } }), 'clusters[dev].cluster.server: "ftp://x" is neither https nor http'],
    [config({ cluster: { server: 3 } }), 'clusters[dev].cluster.server: must be text'],
    [config({ cluster: { 'proxy-url': 'ftp://x' } }), 'clusters[dev].cluster.proxy-url: has scheme "ftp"'],
    [config({ cluster: { 'insecure-skip-tls-verify': 'yes' } }), 'insecure-skip-tls-verify: must be true or false'],
    [
      config({ cluster: { 'certificate-authority': 'no.crt' } }),
      'clusters[dev].cluster.certificate-authority: the file no.crt does not exist',
    ],
    [config({ cluster: { 'certificate-authority-data': '***' } }), 'certificate-authority-data: must be base64'],
    [
      config({ cluster: { 'certificate-authority-data': 'aGk=' } }),
      'certificate-authority-data: does not hold a PEM certificate',
    ],
    [
      config({ user: { 'client-certificate-data': base64('-----BEGIN CERTIFICATE-----') } }),
      'users[dev].user.client-key: is missing beside client-certificate',
    ],
    [config({ user: { tokenFile: 'no.token' } }), 'users[dev].user.tokenFile: the file no.token does not exist'],
    [config({ user: { 'as-groups': ['x'] } }), 'users[dev].user.as: is missing'],
    [
      config({ user: { 'auth-provider': { name: 'gcp' } } }),
      'users[dev].user.auth-provider: is no longer part of Kubernetes',
    ],
    [
      config({ user: { exec: { apiVersion: 'client.authentication.k8s.io/v1' } } }),
      'users[dev].user.exec.command: is missing',
    ],
    [
      config({ user: { exec: { apiVersion: 'v1alpha1', command: 'x' } } }),
      'users[dev].user.exec.apiVersion: is "v1alpha1"; supported are',
    ],
    [
      config({ user: { exec: { apiVersion: 'client.authentication.k8s.io/v1', command: 'x' } } }),
      'users[dev].user.exec.interactiveMode: is missing',
    ],
    [
      config({
        user: { exec: { apiVersion: 'client.authentication.k8s.io/v1', command: 'x', interactiveMode: 'Always' } },
      }),
      'exec.interactiveMode: is Always, but there is no terminal',
    ],
  ];
  test.each(cases)('%#: %s', async (text, problem) => {
    const readFile = (path: string) =>
      path === 'my.yaml'
        ? Promise.resolve(text)
        : Promise.reject(Object.assign(new Error('no such file'), { code: 'ENOENT' }));
    const load = async () => (await loadKubeConfig({ file: 'my.yaml', env: {}, readFile })).connection();
    await expect(load()).rejects.toThrow(problem);
  });

  test('an empty extension of a cluster is passed over, as kubectl does', async () => {
    const exec = { apiVersion: 'client.authentication.k8s.io/v1', command: 'x', interactiveMode: 'Never' };
    const text = config({ cluster: { extensions: [null] }, user: { exec: { ...exec, provideClusterInfo: true } } });
    const kubeConfig = await loadKubeConfig({ file: 'x', env: {}, readFile: () => Promise.resolve(text) });
    expect(await kubeConfig.connection()).toMatchObject({ server: 'https://127.0.0.1:1' });
  });

  test('any other shape is a ConfigError, too', async () => {
    const odd = fc.oneof(fc.jsonValue({ maxDepth: 2 }), fc.string(), fc.boolean(), fc.integer());
    const clusterFields = 'server certificate-authority-data proxy-url insecure-skip-tls-verify extensions';
    const userFields = 'token tokenFile exec username as as-groups as-user-extra client-key-data';
    const names = `${clusterFields} ${userFields} cluster user namespace`.split(' ');
    const fields = fc.dictionary(fc.constantFrom(...names), odd, { maxKeys: 4 });
    await fc.assert(
      fc.asyncProperty(fields, fields, fields, async (cluster, user, context) => {
        const text = config({ cluster, user, context });
        const readFile = (path: string) => (path === 'x' ? Promise.resolve(text) : Promise.reject(new Error('no')));
        try {
          await (await loadKubeConfig({ file: 'x', env: {}, readFile })).connection();
        } catch (error) {
          expect(error).toBeInstanceOf(ConfigError);
        }
      }),
      { numRuns: 300 },
    );
  });

  test('a secret in a file that is not YAML does not get into the error', async () => {
    const readFile = () => Promise.resolve('users:\n  - token: "s3cret\n  broken: [');
    const failure = await loadKubeConfig({ file: 'x', env: {}, readFile }).catch((error: unknown) => error as Error);
    expect(String(failure)).toContain('is not YAML');
    expect(String((failure as Error).stack)).not.toContain('s3cret');
  });
});

describe('exec plugins', () => {
  const plugin = `#!${process.execPath}
const fs = require('node:fs');
const log = process.env.PLUGIN_LOG;
const runs = fs.existsSync(log) ? fs.readFileSync(log, 'utf8').trim().split('\\n').length : 0;
fs.appendFileSync(log, process.env.KUBERNETES_EXEC_INFO + '\\n');
const mode = process.argv[2];
if (mode === 'fail') { console.error('please log in again'); process.exit(3); }
if (mode === 'garbage') { console.log('token: s3cret'); process.exit(0); }
const status = mode === 'certificate'
  ? { clientCertificateData: process.env.CERT, clientKeyData: process.env.KEY }
  : { token: 'token-' + (runs + 1), expirationTimestamp: mode === 'short' ? '2026-01-01T00:10:00Z' : undefined };
console.log(JSON.stringify({ apiVersion: 'client.authentication.k8s.io/v1', kind: 'ExecCredential', status }));
`;

  const setUp = async (
    files: Awaited<ReturnType<typeof folder>>,
    exec: Record<string, unknown>,
    cluster: Record<string, unknown>,
    clock = new VirtualClock(),
  ) => {
    await files.write('plugin.cjs', plugin);
    const file = await files.write(
      'config',
      config({
        cluster,
        user: {
          exec: {
            apiVersion: 'client.authentication.k8s.io/v1',
            command: './plugin.cjs',
            interactiveMode: 'Never',
            ...exec,
            env: [{ name: 'PLUGIN_LOG', value: join(files.path, 'log') }, ...((exec['env'] as []) ?? [])],
          },
        },
      }),
    );
    return connect(await (await loadKubeConfig({ file, env: {}, clock })).connection());
  };

  test('run once for many requests, again when the credential expires', async () => {
    await using files = await folder();
    const seen: string[] = [];
    await using server = await serve((request, response) => {
      const { authorization = '' } = request.headers;
      seen.push(authorization);
      response.end('{}');
    });
    const clock = new VirtualClock();
    await using cluster = await setUp(files, { args: ['short'] }, { server: server.url }, clock);
    const call = () => cluster.client.request({ method: 'GET', path: '/version' });
    await Promise.all([call(), call(), call()]);
    expect(seen).toEqual(['Bearer token-1', 'Bearer token-1', 'Bearer token-1']);
    await clock.advance(10 * 60_000);
    await call();
    expect(seen.at(-1)).toBe('Bearer token-2');
  });

  test('run again on 401', async () => {
    await using files = await folder();
    const seen: string[] = [];
    await using server = await serve((request, response) => {
      const { authorization = '' } = request.headers;
      seen.push(authorization);
      response.statusCode = authorization === 'Bearer token-1' ? 401 : 200;
      response.end('{}');
    });
    await using cluster = await setUp(files, {}, { server: server.url });
    await Promise.all([
      cluster.client.request({ method: 'GET', path: '/a' }),
      cluster.client.request({ method: 'GET', path: '/b' }),
    ]);
    expect(seen.filter((authorization) => authorization === 'Bearer token-2')).toHaveLength(2);
    expect(seen).not.toContain('Bearer token-3');
  });

  test('are told about the cluster when they ask, and may give a client certificate', async () => {
    await using files = await folder();
    await using server = await mirror({ requestCert: true });
    const mine = await ca.issue({ commonName: 'from-plugin' });
    await using cluster = await setUp(
      files,
      {
        args: ['certificate'],
        provideClusterInfo: true,
        env: [
          { name: 'CERT', value: mine.certificate },
          { name: 'KEY', value: mine.key },
        ],
      },
      {
        server: server.url,
        'certificate-authority-data': base64(ca.certificate),
        extensions: [{ name: 'client.authentication.k8s.io/exec', extension: { audience: 'x' } }],
      },
    );
    expect(await cluster.client.request({ method: 'GET', path: '/version' })).toMatchObject({
      certificate: 'from-plugin',
    });
    const { readFile } = await import('node:fs/promises');
    const info = JSON.parse(await readFile(join(files.path, 'log'), 'utf8')) as Record<string, unknown>;
    expect(info).toEqual({
      apiVersion: 'client.authentication.k8s.io/v1',
      kind: 'ExecCredential',
      spec: {
        interactive: false,
        cluster: {
          server: server.url,
          'certificate-authority-data': base64(ca.certificate),
          config: { audience: 'x' },
        },
      },
    });
  });

  test.each([
    ['IfAvailable', true, 'true typed by a person'],
    ['Always', true, 'true typed by a person'],
    ['IfAvailable', false, 'false '],
    ['Never', true, 'false '],
  ])('may ask the person at the terminal: interactiveMode %s, terminal %s', async (mode, interactive, token) => {
    await using files = await folder();
    const asking = `#!${process.execPath}
const { interactive } = JSON.parse(process.env.KUBERNETES_EXEC_INFO).spec;
let answer = '';
process.stdin.on('data', (data) => (answer += data)).on('end', () => {
  const status = { token: interactive + ' ' + answer };
  console.log(JSON.stringify({ apiVersion: 'client.authentication.k8s.io/v1', kind: 'ExecCredential', status }));
});
`;
    await files.write('plugin.cjs', asking);
    const exec = {
      apiVersion: 'client.authentication.k8s.io/v1',
      command: './plugin.cjs',
      interactiveMode: mode,
    };
    const file = await files.write('config', config({ user: { exec } }));
    // A process of its own, because a plugin is given the standard input of the process that runs it.
    const program = `
      import { loadKubeConfig } from ${JSON.stringify(import.meta.resolve('./kube-config.ts'))};
      const kubeConfig = await loadKubeConfig({ file: ${JSON.stringify(file)}, env: {}, interactive: ${interactive} });
      const { credentials } = await kubeConfig.connection();
      console.log((await credentials.current()).authorization);
    `;
    const child = spawnSync(process.execPath, ['--input-type=module', '-e', program], {
      input: 'typed by a person',
      encoding: 'utf8',
    });
    expect(child.stderr).toBe('');
    expect(child.stdout.trimEnd()).toBe(`Bearer ${token}`.trimEnd());
  });

  test.each([
    [{ args: ['fail'] }, /plugin\.cjs" ended with exit code 3: please log in again/],
    [{ args: ['garbage'] }, /printed something that is not JSON/],
    [{ command: 'no-such-plugin', installHint: 'Get it from example.com' }, /was not found\. Get it from example\.com/],
    [{ apiVersion: 'client.authentication.k8s.io/v1beta1' }, /answered in .*v1, but was asked for .*v1beta1/],
  ])('failures name the command and no secret: %j', async (exec, problem) => {
    await using files = await folder();
    await using cluster = await setUp(files, exec, { server: 'http://127.0.0.1:1' });
    const failure = await cluster.client
      .request({ method: 'GET', path: '/version' })
      .catch((error: unknown) => error as Error);
    expect((failure as Error).message).toMatch(problem);
    expect((failure as Error).message).toContain('users[dev].user.exec.command');
    expect((failure as Error).message).not.toContain('s3cret');
    const { readFile } = await import('node:fs/promises');
    const runs = await readFile(join(files.path, 'log'), 'utf8').catch(() => '');
    expect(runs.split('\n').filter(Boolean).length).toBeLessThanOrEqual(1);
  });

  test('a request that is given up does not wait for a plugin that takes its time', async () => {
    const credentials = { current: () => new Promise<never>(() => {}), refused: () => Promise.resolve(false) };
    await using cluster = connect({ server: 'http://127.0.0.1:1', credentials });
    const controller = new AbortController();
    const outcome = cluster.client
      .request({ method: 'GET', path: '/version' }, { signal: controller.signal })
      .catch((error: unknown) => error);
    controller.abort(new Error('enough'));
    expect(await outcome).toMatchObject({ message: 'enough' });
  });

  test('a connection that is printed shows no secret', async () => {
    const text = config({
      user: {
        token: 's3cret',
        'client-key-data': base64('-----BEGIN PRIVATE KEY-----s3cret'),
        'client-certificate-data': base64('-----BEGIN CERTIFICATE-----'),
      },
    });
    const kubeConfig = await loadKubeConfig({ file: 'x', env: {}, readFile: () => Promise.resolve(text) });
    const printed = inspect(await kubeConfig.connection(), { depth: 10 }) + inspect(kubeConfig, { depth: 10 });
    expect(printed).not.toContain('s3cret');
  });
});

describe('in a Pod', () => {
  const env = { KUBERNETES_SERVICE_HOST: 'fd00::1', KUBERNETES_SERVICE_PORT: '443' };

  test('address, token, CA and namespace come from the environment and the service account', async () => {
    await using files = await folder();
    await files.write('token', 'abc\n');
    await files.write('ca.crt', ca.certificate);
    await files.write('namespace', 'mine');
    const connection = await inClusterConnection({ env, directory: files.path });
    expect(connection).toMatchObject({ server: 'https://[fd00::1]:443', namespace: 'mine', origin: 'in-cluster' });
    expect(await connection.credentials?.current()).toEqual({ authorization: 'Bearer abc' });
  });

  test('what is missing is named', async () => {
    await using files = await folder();
    await expect(inClusterConnection({ env: {} })).rejects.toThrow('KUBERNETES_SERVICE_HOST: is not set');
    await expect(inClusterConnection({ env, directory: files.path })).rejects.toThrow(
      `${join(files.path, 'token')}: the file of the service account does not exist`,
    );
  });

  test('a file or a context named by the user comes before the Pod', async () => {
    const readFile = () => Promise.resolve(config({ cluster: { server: 'https://told' } }));
    expect(await findConnection({ env, file: 'x', readFile })).toMatchObject({ server: 'https://told' });
    const told = await findConnection({ env: { ...env, KUBECONFIG: 'x' }, readFile });
    expect(told).toMatchObject({ server: 'https://told' });
    const pod = await findConnection({ env, readFile: () => Promise.resolve(ca.certificate) });
    expect(pod).toMatchObject({ server: 'https://[fd00::1]:443' });
  });
});
