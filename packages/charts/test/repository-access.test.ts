import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { systemClock, type Command } from '@slipway/kube/command';
import { callCommand } from '@slipway/testing/command';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { command } from '../src/command/chart-command.ts';
import { ChartServer, issueLoopback, makeChart, type ServerOptions } from './chart-server.ts';
import { LoopbackProxy } from './loopback-proxy.ts';

/** Who we are to repositories and registries, and whom we believe: by flags, by Docker's files, through proxies. */
const credentials = { username: 'reader', password: 'hunter2' };
const basic = `Basic ${Buffer.from('reader:hunter2').toString('base64')}`;
const flags = { username: 'reader', password: 'hunter2' };

let home: string;
const open: AsyncDisposable[] = [];
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'slipway-access-'));
});
afterEach(async () => {
  for (const each of open.splice(0).reverse()) await each[Symbol.asyncDispose]();
  await rm(home, { recursive: true, force: true });
});

async function serve(options: ServerOptions = {}): Promise<ChartServer> {
  const server = await new ChartServer(options).start();
  open.push(server);
  await server.publish(await makeChart('web', '1.0.0'));
  return server;
}

async function write(path: string, text: string): Promise<string> {
  const file = join(home, path);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, text);
  return file;
}

/** What `slipway chart template CHART` prints, or the error it ends with. */
async function template(chart: string, given: object, env: Record<string, string> = {}): Promise<string> {
  const call = { cwd: home, clock: systemClock, env: { HOME: home, PATH: process.env['PATH'], ...env } };
  try {
    return (await callCommand(command as Command, 'template', [chart], given, call)).out;
  } catch (error) {
    return String(error);
  }
}

const rendered = 'chart: "1.0.0"';

describe('--username and --password', () => {
  it('go to the repository that is named, and to no other host, be it named in the index or by a redirect', async () => {
    const elsewhere = await serve();
    const own = await serve({ credentials });
    expect(await template('web', { repo: own.repository, ...flags })).toContain(rendered);
    expect(own.seen.map(({ authorization }) => authorization)).toEqual([basic, basic]);
    for (const options of [{ archivesAt: elsewhere.url }, { redirectTo: elsewhere.url }]) {
      await rm(join(home, '.cache'), { recursive: true, force: true });
      elsewhere.seen.length = 0;
      const server = await serve({ credentials, ...options });
      expect(await template('web', { repo: server.repository, ...flags })).toContain(rendered);
      expect(elsewhere.seen.map(({ authorization }) => authorization)).toEqual([undefined]);
    }
  });

  it('go to other hosts too with --pass-credentials', async () => {
    const elsewhere = await serve({ credentials });
    const server = await serve({ credentials, archivesAt: elsewhere.url });
    const given = { repo: server.repository, ...flags, 'pass-credentials': true };
    expect(await template('web', given)).toContain(rendered);
    expect(elsewhere.seen.map(({ authorization }) => authorization)).toEqual([basic]);
  });

  it.each(['basic', 'token'] as const)('open an archive by its address and a registry (%s)', async (registryAuth) => {
    const server = await serve({ credentials, registryAuth });
    expect(await template(`${server.repository}/web-1.0.0.tgz`, flags)).toContain(rendered);
    const given = { ...flags, version: '1.0.0', 'plain-http': true };
    expect(await template(`oci://${server.host}/charts/web`, given)).toContain(rendered);
  });

  it('are part of no error when they are wrong', async () => {
    const server = await serve({ credentials });
    const said = await template('web', { repo: server.repository, username: 'reader', password: 'wrong-but-secret' });
    expect(said).toContain('refuses us');
    expect(said).not.toContain('secret');
  });
});

describe('a credential helper', () => {
  const answer = (username: string) => `echo '{"ServerURL":"x","Username":"${username}","Secret":"hunter2"}'`;

  /** A registry that wants to know who we are, and a program that is asked. */
  async function pullWith(script: (host: string) => string, config: (host: string) => object): Promise<string> {
    const server = await serve({ credentials });
    const program = await write('bin/docker-credential-shelf', `#!/bin/sh\nread server\n${script(server.host)}\n`);
    await chmod(program, 0o755);
    await write('.docker/config.json', JSON.stringify(config(server.host)));
    return await template(
      `oci://${server.host}/charts/web`,
      { version: '1.0.0', 'plain-http': true },
      { PATH: `${join(home, 'bin')}${delimiter}${process.env['PATH']}` },
    );
  }

  it('is asked for its hosts by credHelpers, for all by credsStore, with the host on its standard input', async () => {
    const onlyFor = (host: string) => `test "$1 $server" = "get ${host}" && ${answer('reader')}`;
    expect(await pullWith(onlyFor, (host) => ({ credHelpers: { [host]: 'shelf' } }))).toContain(rendered);
    expect(await pullWith(onlyFor, () => ({ credsStore: 'shelf' }))).toContain(rendered);
    const other = await pullWith(onlyFor, (host) => ({
      credHelpers: { 'other.test': 'shelf' },
      auths: { [host]: credentials },
    }));
    expect(other).toContain(rendered);
  });

  it('that knows nothing leaves us unknown', async () => {
    const said = await pullWith(
      () => "echo 'credentials not found in native keychain'; exit 1",
      () => ({
        credsStore: 'shelf',
      }),
    );
    expect(said).toContain('refuses us (401)');
  });

  it.each([
    ['fails', 'echo hunter2; exit 3', 'shelf', 'exit code 3'],
    ['prints something else', 'echo hunter2', 'shelf', 'printed no credentials'],
    ['knows a token only', answer('<token>'), 'shelf', 'identity token'],
    ['is not there', '', 'nowhere', 'was not found'],
    ['is no program but a path', '', '../bin/shelf', 'is no name of a program'],
  ])('that %s is named, and what it printed is not', async (_what, script, helper, expected) => {
    const said = await pullWith(
      () => script,
      () => ({ credsStore: helper }),
    );
    expect(said).toContain(expected);
    expect(said).not.toContain('hunter2');
  });
});

describe('a server with a certificate', () => {
  const authority = issueLoopback('authority');
  const served = issueLoopback('server', authority);
  const own = issueLoopback('client', authority);

  it('of an authority nobody knows is believed with --ca-file or --insecure-skip-tls-verify only', async () => {
    const server = await serve({ tls: served });
    const ca = await write('ca.pem', authority.cert);
    const other = await write('other.pem', issueLoopback('stranger').cert);
    const repo = server.repository;
    expect(await template('web', { repo })).toContain('does not answer');
    expect(await template('web', { repo, 'ca-file': other })).toContain('does not answer');
    expect(server.seen).toEqual([]);
    expect(await template('web', { repo, 'ca-file': ca })).toContain(rendered);
    await rm(join(home, '.cache'), { recursive: true });
    expect(await template('web', { repo, 'insecure-skip-tls-verify': true })).toContain(rendered);
    const registry = { version: '1.0.0', 'ca-file': ca };
    expect(await template(`oci://${server.host}/charts/web`, registry)).toContain(rendered);
  });

  it('that asks for ours gets it by --cert-file and --key-file', async () => {
    const server = await serve({ tls: { cert: served.cert, key: served.key, ca: authority.cert } });
    const ca = await write('ca.pem', authority.cert);
    const given = { repo: server.repository, 'ca-file': ca };
    expect(await template('web', given)).toContain('does not answer');
    const pair = { 'cert-file': await write('own.pem', own.cert), 'key-file': await write('own.key', own.key) };
    expect(await template('web', { ...given, ...pair })).toContain(rendered);
  });
});

describe('a proxy', () => {
  async function proxy(names: Readonly<Record<string, ChartServer>>): Promise<LoopbackProxy> {
    const made = await new LoopbackProxy(names).start();
    open.push(made);
    return made;
  }

  it('named by HTTP_PROXY is asked by the whole address, with its user, and not for what NO_PROXY names', async () => {
    const { host, asked } = await proxy({ 'charts.test:8080': await serve() });
    const given = { repo: 'http://charts.test:8080/charts' };
    const env = { HTTP_PROXY: `http://me:hunter2@${host}` };
    expect(await template('web', given, env)).toContain(rendered);
    const user = 'me:hunter2';
    expect(asked.splice(0)).toEqual([
      { request: 'GET http://charts.test:8080/charts/index.yaml', user },
      { request: 'GET http://charts.test:8080/charts/web-1.0.0.tgz', user },
    ]);
    const said = await template('web', given, { ...env, NO_PROXY: 'other.test,.test' });
    expect(said).toContain('does not answer');
    expect(said).not.toContain('hunter2');
    expect(asked).toEqual([]);
  });

  it('named by HTTPS_PROXY sees where a connection goes and nothing of what it carries', async () => {
    const authority = issueLoopback('authority');
    const server = await serve({ credentials, tls: issueLoopback('server', authority) });
    const { host, asked } = await proxy({ 'charts.test': server });
    const given = { repo: 'https://charts.test/charts', 'insecure-skip-tls-verify': true, ...flags };
    expect(await template('web', given, { HTTPS_PROXY: host, HTTP_PROXY: 'http://127.0.0.1:1' })).toContain(rendered);
    expect(new Set(asked.map(({ request }) => request))).toEqual(new Set(['CONNECT charts.test:443']));
  });
});

describe('credentials and a redirect', () => {
  it('go along from HTTP to HTTPS of one host, and to no other host, not even with --pass-credentials', async () => {
    const authority = issueLoopback('authority');
    const secure = await serve({ credentials, tls: issueLoopback('server', authority) });
    const plain = await serve({ credentials, redirectTo: 'https://charts.test' });
    const other = await serve({ credentials });
    const leading = await serve({ credentials, redirectTo: 'http://other.test' });
    const proxy = await new LoopbackProxy({
      'charts.test': plain,
      'other.test': other,
      'leading.test': leading,
    }).start();
    const tunnel = await new LoopbackProxy({ 'charts.test': secure }).start();
    open.push(proxy, tunnel);
    const env = { HTTP_PROXY: proxy.host, HTTPS_PROXY: tunnel.host };
    const given = { ...flags, 'insecure-skip-tls-verify': true, 'pass-credentials': true };
    expect(await template('web', { ...given, repo: 'http://charts.test/charts' }, env)).toContain(rendered);
    expect(secure.seen).toEqual([{ path: '/charts/web-1.0.0.tgz', authorization: basic }]);
    await rm(join(home, '.cache'), { recursive: true });
    const said = await template('web', { ...given, repo: 'http://leading.test/charts' }, env);
    expect(said).toContain('http://other.test/charts/web-1.0.0.tgz: the server refuses us (401)');
    expect(other.seen).toEqual([{ path: '/charts/web-1.0.0.tgz', authorization: undefined }]);
  });

  it('are not for a registry to which the index of a repository leads', async () => {
    const registry = await serve({ credentials });
    const index = `apiVersion: v1\nentries:\n  web:\n  - {apiVersion: v2, name: web, version: 1.0.0, urls: ["oci://${registry.host}/charts/web:1.0.0"]}\n`;
    const leading = createServer((_request, response) => response.end(index));
    await new Promise<void>((done) => leading.listen(0, '127.0.0.1', done));
    open.push({ [Symbol.asyncDispose]: async () => void leading.close() });
    const given = { repo: `http://127.0.0.1:${(leading.address() as AddressInfo).port}`, ...flags, 'plain-http': true };
    expect(await template('web', given)).toContain('refuses us (401)');
    expect(registry.seen.map(({ authorization }) => authorization)).toEqual([undefined]);
    expect(await template('web', { ...given, 'pass-credentials': true })).toContain(rendered);
  });
});
