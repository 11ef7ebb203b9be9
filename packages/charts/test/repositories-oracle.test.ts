import { execFile } from 'node:child_process';
import { chmod, cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { findOracle } from '@slipway/oracles';
import { ensureReferenceBinaries } from '@slipway/reference-cluster';
import { systemClock, type Command } from '@slipway/kube';
import { callCommand } from '@slipway/testing/command';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { command } from '../src/command/chart-command.ts';
import { command as helmfileCommand } from '../src/command/helmfile-command.ts';
import { answeringHelper, ChartServer, issueLoopback, makeChart, type ServerOptions } from './chart-server.ts';
import { LoopbackProxy } from './loopback-proxy.ts';

/** The helm command and ours, against the same server. Starting helm is slow: this belongs to the lane with the oracles. */
const inLane = process.env['SLIPWAY_CLUSTER'] === 'reference';
const binaries = inLane ? await ensureReferenceBinaries({ tools: ['helm'], build: false }) : undefined;
const helm = binaries?.available ? binaries.helm : undefined;
if (!inLane) process.stdout.write('SKIPPED repositories against Helm: npm run test:reference runs them\n');
else if (!helm)
  process.stdout.write('SKIPPED repositories against Helm: helm is not built (npm run reference:build)\n');

const helmfile = await findOracle('helmfile');
if (inLane && !helmfile.available) process.stdout.write(`SKIPPED repositories of a helmfile: ${helmfile.reason}\n`);
const run = promisify(execFile);
const credentials = { username: 'reader', password: 'hunter2' };
const versions = ['0.9.0', '1.2.3', '1.2.9', '1.10.0', '1.11.0+build.4', '2.0.0-rc.1'];

let home: string;
let server: ChartServer;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'slipway-repositories-'));
});
afterEach(async () => {
  await server[Symbol.asyncDispose]();
  await rm(home, { recursive: true, force: true });
});

async function serve(options: ServerOptions = {}): Promise<void> {
  server = await new ChartServer(options).start();
  for (const version of versions) await server.publish(await makeChart('web', version));
  await server.publish(await makeChart('db', '3.1.0'));
}

async function write(path: string, text: string): Promise<void> {
  await mkdir(dirname(join(home, path)), { recursive: true });
  await writeFile(join(home, path), text);
}

interface Outcome {
  readonly failed: boolean;
  readonly out: string;
}

/** What a test adds to the environment of both. */
let more: Record<string, string> = {};
afterEach(() => {
  more = {};
});

/** Programs of the test's own come first. */
function environment() {
  return { HOME: home, PATH: `${join(home, 'bin')}${delimiter}${process.env['PATH']}`, ...more };
}

async function byHelm(...args: string[]): Promise<Outcome> {
  try {
    const { stdout } = await run(helm!, args, { cwd: home, env: environment() });
    return { failed: false, out: stdout };
  } catch (error) {
    return { failed: true, out: (error as { stderr: string }).stderr };
  }
}

async function byUs(path: string, args: readonly string[], given: object = {}): Promise<Outcome> {
  try {
    const call = { cwd: home, clock: systemClock, env: environment() };
    const { out } = await callCommand(command as Command, path, args, given, call);
    return { failed: false, out };
  } catch (error) {
    return { failed: true, out: (error as Error).message };
  }
}

describe.runIf(helm)('beside the helm command', { timeout: 300_000 }, () => {
  it.each(['', '1.2.3', '~1.2', '^1', '1.x', '>=1.2.3, <1.10', '>0.0.0-0', '^9', 'nonsense', '1.11.0', '1.2'])(
    'a repository gives the same version for "%s"',
    async (version) => {
      await serve();
      const theirs = await byHelm(
        'template',
        'web',
        '--repo',
        server.repository,
        ...(version ? ['--version', version] : []),
      );
      const ours = await byUs('template', ['web'], { repo: server.repository, ...(version ? { version } : {}) });
      expect(ours.failed).toBe(theirs.failed);
      if (!theirs.failed) expect(ours.out).toBe(theirs.out);
    },
  );

  it.each(['', '1.2.3', '~1.2', '^1', '1.x', '>0.0.0-0', '^9', '1.11.0+build.4', '1.2'])(
    'a registry gives the same version for "%s"',
    async (version) => {
      await serve();
      const chart = `oci://${server.host}/charts/web`;
      const theirs = await byHelm('template', chart, '--plain-http', ...(version ? ['--version', version] : []));
      const ours = await byUs('template', [chart], { 'plain-http': true, ...(version ? { version } : {}) });
      expect(ours.failed).toBe(theirs.failed);
      if (!theirs.failed) expect(ours.out).toBe(theirs.out);
    },
  );

  it.each(['basic', 'token'] as const)(
    'what helm registry login keeps (%s) opens the registry for us',
    async (registryAuth) => {
      await serve({ credentials, registryAuth });
      const login = await byHelm('registry', 'login', server.host, '--plain-http', '-u', 'reader', '-p', 'hunter2');
      expect(login).toMatchObject({ failed: false });
      const chart = `oci://${server.host}/charts/web`;
      await mkdir(join(home, 'theirs'));
      const theirs = await byHelm('pull', chart, '--plain-http', '--version', '1.2.3', '-d', 'theirs');
      const ours = await byUs('pull', [chart], { 'plain-http': true, version: '1.2.3', destination: 'ours' });
      expect([theirs, ours]).toMatchObject([{ failed: false }, { failed: false }]);
    },
  );

  it.each([false, true])('a password goes to another host the index names only when told so (%s)', async (pass) => {
    await using elsewhere = await new ChartServer().start();
    await elsewhere.publish(await makeChart('web', '1.2.3'));
    await serve({ credentials, archivesAt: elsewhere.url });
    const named = ['--repo', server.repository, '--version', '1.2.3', '--username', 'reader', '--password', 'hunter2'];
    const theirs = await byHelm('template', 'web', ...named, ...(pass ? ['--pass-credentials'] : []));
    const told = elsewhere.seen.splice(0);
    const given = { repo: server.repository, version: '1.2.3', ...credentials, 'pass-credentials': pass };
    expect(await byUs('template', ['web'], given)).toEqual(theirs);
    expect(elsewhere.seen).toEqual(told);
    expect(told.map(({ authorization }) => authorization !== undefined)).toEqual([pass]);
  });

  it.each([
    ['', true],
    ['charts.test', false],
    ['.test', false],
    ['test', false],
    ['*.test', false],
    ['charts.test:8080', false],
    ['charts.test:8081', true],
    ['arts.test', true],
    ['other.test, charts.test', false],
    ['*', false],
    ['10.0.0.0/8', true],
  ])('a proxy is asked the same things with NO_PROXY "%s"', async (NO_PROXY, isAsked) => {
    await serve();
    await using proxy = await new LoopbackProxy({ 'charts.test:8080': server }).start();
    for (const name of ['HTTP_PROXY', 'http_proxy']) {
      more = { [name]: `http://me:secret@${proxy.host}`, NO_PROXY };
      const repo = 'http://charts.test:8080/charts';
      const theirs = await byHelm('template', 'web', '--repo', repo, '--version', '1.2.3');
      const asked = proxy.asked.splice(0);
      const ours = await byUs('template', ['web'], { repo, version: '1.2.3' });
      expect(asked.length > 0).toBe(isAsked);
      expect(proxy.asked.splice(0)).toEqual(asked);
      expect(ours.failed).toBe(theirs.failed);
      if (isAsked) expect(ours.out).toBe(theirs.out);
      await rm(join(home, '.cache'), { recursive: true, force: true });
    }
  });

  it.each([
    ['of a repository', { repo: 'http://first.test/charts' }, 'web'],
    ['of a repository, with --pass-credentials', { repo: 'http://first.test/charts', 'pass-credentials': true }, 'web'],
    ['of an archive', {}, 'http://first.test/charts/web-1.2.3.tgz'],
    ['of a registry', { 'plain-http': true, version: '1.2.3' }, 'oci://first.test/charts/web'],
  ])('a redirect %s to another host carries no password', async (_what, given, chart) => {
    await using elsewhere = await new ChartServer().start();
    await elsewhere.publish(await makeChart('web', '1.2.3'));
    server = await new ChartServer({ credentials, redirectTo: 'http://other.test' }).start();
    await server.publish(await makeChart('web', '1.2.3'));
    await using proxy = await new LoopbackProxy({ 'first.test': server, 'other.test': elsewhere }).start();
    more = { HTTP_PROXY: proxy.host };
    const flags = Object.entries({ ...given, ...credentials }).map(([name, value]) => `--${name}=${value}`);
    const theirs = await byHelm('template', chart, ...flags);
    expect(theirs).toMatchObject({ failed: false });
    const told = () => new Set(elsewhere.seen.splice(0).map(({ authorization }) => authorization));
    expect(told()).toEqual(new Set([undefined]));
    expect(await byUs('template', [chart], { ...given, ...credentials })).toEqual(theirs);
    expect(told()).toEqual(new Set([undefined]));
  });

  it('a credential helper is asked in the same way', async () => {
    await serve({ credentials });
    await write('bin/docker-credential-shelf', answeringHelper);
    await chmod(join(home, 'bin/docker-credential-shelf'), 0o755);
    await write('.docker/config.json', JSON.stringify({ credHelpers: { [server.host]: 'shelf' } }));
    const chart = `oci://${server.host}/charts/web`;
    const theirs = await byHelm('template', chart, '--plain-http', '--version', '1.2.3');
    expect(theirs).toMatchObject({ failed: false });
    expect(await byUs('template', [chart], { 'plain-http': true, version: '1.2.3' })).toEqual(theirs);
  });

  it('a certificate is believed under the same flags', async () => {
    const authority = issueLoopback('authority');
    await serve({ tls: issueLoopback('server', authority) });
    await write('ca.pem', authority.cert);
    const repo = server.repository;
    for (const [flag, given] of [
      [[], {}],
      [['--ca-file', 'ca.pem'], { 'ca-file': 'ca.pem' }],
      [['--insecure-skip-tls-verify'], { 'insecure-skip-tls-verify': true }],
    ] as const) {
      const theirs = await byHelm('template', 'web', '--repo', repo, ...flag);
      const ours = await byUs('template', ['web'], { repo, ...given });
      expect(theirs.failed).toBe(flag.length === 0);
      expect(ours.failed).toBe(theirs.failed);
      if (!theirs.failed) expect(ours.out).toBe(theirs.out);
    }
  });

  it.runIf(helmfile.available)('a helmfile fetches the same charts from its repositories', async () => {
    await serve({ credentials });
    await write(
      'helmfile.yaml',
      [
        'repositories:',
        `- {name: shop, url: "${server.repository}", username: reader, password: hunter2}`,
        'releases:',
        '- {name: one, namespace: apps, chart: shop/web, version: ~1.2}',
        '- {name: two, namespace: apps, chart: shop/db, values: [{greeting: hi}]}',
        '',
      ].join('\n'),
    );
    const path = `${dirname(helm!)}${delimiter}${process.env['PATH']}`;
    const program = helmfile.available ? helmfile.path : '';
    const theirs = await run(program, ['template'], { cwd: home, env: { HOME: home, PATH: path } });
    const call = { cwd: home, clock: systemClock, env: { HOME: home } };
    const ours = await callCommand(helmfileCommand as Command, 'template', [], {}, call);
    expect(ours.out).toBe(theirs.stdout);
  });

  it('what helm repo add keeps opens the repository for us', async () => {
    await serve({ credentials });
    const added = await byHelm(
      'repo',
      'add',
      'kept',
      server.repository,
      '--username',
      'reader',
      '--password',
      'hunter2',
    );
    expect(added).toMatchObject({ failed: false });
    await mkdir(join(home, 'theirs'));
    expect(await byHelm('pull', 'kept/web', '-d', 'theirs')).toMatchObject({ failed: false });
    expect(await byUs('pull', ['kept/web'], { destination: 'ours' })).toMatchObject({ failed: false });
    expect(await readdir(join(home, 'ours'))).toEqual(await readdir(join(home, 'theirs')));
    const [file] = (await readdir(join(home, 'ours'))) as [string];
    expect(await readFile(join(home, 'ours', file))).toEqual(await readFile(join(home, 'theirs', file)));
  });

  it('Chart.lock, charts/ and the list of dependencies are the same, and each builds from the lock of the other', async () => {
    await serve();
    await byHelm('repo', 'add', 'shop', server.repository);
    await write('beside/Chart.yaml', 'apiVersion: v2\nname: beside\nversion: 0.1.0\n');
    const dependencies = [
      `- {name: web, version: ^1.0.0, repository: "${server.repository}", condition: web.enabled, tags: [a, "b<c&d"]}`,
      `- {name: db, version: 3.x, repository: "@shop", alias: store, import-values: [data, {child: a, parent: b}]}`,
      `- {name: beside, version: ">=0.1", repository: "file://../beside"}`,
    ];
    const chart = `apiVersion: v2\nname: parent\nversion: 1.0.0\ndependencies:\n${dependencies.join('\n')}\n`;
    for (const who of ['ours', 'theirs']) await write(`${who}/Chart.yaml`, chart);

    expect(await byHelm('dependency', 'update', 'theirs')).toMatchObject({ failed: false });
    expect(await byUs('dependency update', ['ours'])).toMatchObject({
      failed: false,
      out: expect.any(String) as string,
    });
    const lock = async (who: string) =>
      (await readFile(join(home, who, 'Chart.lock'), 'utf8')).replace(/^generated: "\d{4}-.*"$/m, 'generated: then');
    expect(await lock('ours')).toBe(await lock('theirs'));
    expect(await lock('ours')).toContain('generated: then');
    expect(await readdir(join(home, 'ours/charts'))).toEqual(await readdir(join(home, 'theirs/charts')));

    const lines = ({ out }: Outcome) => out.split('\n').map((line) => line.trimEnd());
    const listed = async () => [
      lines(await byUs('dependency list', ['ours'])),
      lines(await byHelm('dependency', 'list', 'ours')),
    ];
    const [ours, theirs] = await listed();
    expect(ours).toEqual(theirs);

    for (const who of ['ours', 'theirs']) await rm(join(home, who, 'charts'), { recursive: true });
    const [without, withoutToo] = await listed();
    expect(without).toEqual(withoutToo);
    expect(await byHelm('dependency', 'build', 'ours')).toMatchObject({ failed: false });
    expect(await byUs('dependency build', ['theirs'])).toMatchObject({ failed: false });
    expect(await readdir(join(home, 'ours/charts'))).toEqual(await readdir(join(home, 'theirs/charts')));

    await cp(join(home, 'ours/charts/db-3.1.0.tgz'), join(home, 'ours/charts/db-3.2.0.tgz'));
    const [twice, twiceToo] = await listed();
    expect(twice).toEqual(twiceToo);
    expect(await byHelm('template', 'ours')).toEqual(await byUs('template', ['ours']));
  });
});
