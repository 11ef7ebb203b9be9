import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { systemClock, type Transport, type TransportRequest } from '@slipway/kube';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import {
  buildDependencies,
  ChartRepositories,
  loadChart,
  readHelmConfig,
  updateDependencies,
  type OpenServer,
} from '../src/index.ts';
import { ChartServer, makeChart, type ServerOptions } from './chart-server.ts';

const credentials = { username: 'reader', password: 'hunter2' };
const basic = `Basic ${Buffer.from('reader:hunter2').toString('base64')}`;

let home: string;
const open: AsyncDisposable[] = [];
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'slipway-repositories-'));
});
afterEach(async () => {
  for (const each of open.splice(0).reverse()) await each[Symbol.asyncDispose]();
  await rm(home, { recursive: true, force: true });
});

async function serve(options: ServerOptions = {}, versions: readonly string[] = ['1.0.0']): Promise<ChartServer> {
  const server = await new ChartServer(options).start();
  open.push(server);
  for (const version of versions) await server.publish(await makeChart('web', version));
  return server;
}

async function repositories(options: { plainHttp?: boolean } = {}): Promise<ChartRepositories> {
  const made = await ChartRepositories.open({ HOME: home }, options);
  open.push(made);
  return made;
}

async function write(path: string, text: string): Promise<void> {
  await mkdir(dirname(join(home, path)), { recursive: true });
  await writeFile(join(home, path), text);
}

const nameRepository = async (server: ChartServer, more = '') =>
  await write('.config/helm/repositories.yaml', `repositories:\n- name: shop\n  url: ${server.repository}\n${more}`);
const withPassword = '  username: reader\n  password: hunter2\n';
const logIn = async (server: ChartServer) =>
  await write(
    '.config/helm/registry/config.json',
    JSON.stringify({ auths: { [server.host]: { auth: Buffer.from('reader:hunter2').toString('base64') } } }),
  );

describe('a repository', () => {
  it.each([
    ['', '1.10.0'],
    ['^1.2', '1.10.0'],
    ['~1.2', '1.2.3'],
    ['1.2.3', '1.2.3'],
    ['>0.0.0-0', '2.0.0-rc.1'],
    ['<1.0.0', '0.9.0'],
  ])('gives the version Helm would take for "%s": %s', async (version, expected) => {
    const server = await serve({}, ['0.9.0', '1.2.3', '1.10.0', '2.0.0-rc.1']);
    const charts = await repositories();
    const chart = await charts.load({ chart: 'web', version, repository: server.repository });
    expect(chart.metadata.version).toBe(expected);
    expect(await charts.resolve({ chart: 'web', version, repository: server.repository })).toBe(expected);
  });

  it('is found by the name Helm knows it by', async () => {
    await nameRepository(await serve());
    const charts = await repositories();
    expect((await charts.load({ chart: 'shop/web' })).metadata.name).toBe('web');
    await expect(charts.load({ chart: 'other/web' })).rejects.toMatchObject({ code: 'UnknownRepository' });
    await expect(charts.load({ chart: 'shop/nothing' })).rejects.toMatchObject({ code: 'NotFound' });
    await expect(charts.load({ chart: 'shop/web', version: '^3' })).rejects.toMatchObject({ code: 'NotFound' });
    await expect(charts.load({ chart: 'shop/web', version: 'new' })).rejects.toMatchObject({
      code: 'InvalidReference',
    });
  });

  it('is asked for an archive only once, as long as the digest is the same', async () => {
    const server = await serve();
    await (await repositories()).pull({ chart: 'web', repository: server.repository });
    const { digest } = await (await repositories()).pull({ chart: 'web', repository: server.repository });
    expect(server.seen.map(({ path }) => path)).toEqual([
      '/charts/index.yaml',
      '/charts/web-1.0.0.tgz',
      '/charts/index.yaml',
    ]);
    const [file] = await readdir(join(home, '.cache/slipway/charts'));
    expect(`sha256:${file}`).toBe(`${digest}.tgz`);
  });

  it('is not believed when the archive is not what the index promised, nor is a damaged copy of it', async () => {
    const server = await serve();
    const reference = { chart: 'web', repository: server.repository };
    await (await repositories()).pull(reference);
    const [file] = await readdir(join(home, '.cache/slipway/charts'));
    await write(`.cache/slipway/charts/${file}`, 'damaged');
    expect((await (await repositories()).load(reference)).metadata.name).toBe('web');

    server.damage('archives');
    await rm(join(home, '.cache'), { recursive: true });
    await expect((await repositories()).pull(reference)).rejects.toMatchObject({ code: 'DigestMismatch' });
  });

  it('gets the credentials of its entry, and no other host does, be it named in the index or by a redirect', async () => {
    const elsewhere = await serve();
    const own = await serve({ credentials });
    await nameRepository(own, withPassword);
    await (await repositories()).pull({ chart: 'shop/web' });
    expect(own.seen.map(({ authorization }) => authorization)).toEqual([basic, basic]);
    for (const options of [{ archivesAt: elsewhere.url }, { redirectTo: elsewhere.url }]) {
      await rm(join(home, '.cache'), { recursive: true, force: true });
      elsewhere.seen.length = 0;
      await nameRepository(await serve({ credentials, ...options }), withPassword);
      await (await repositories()).pull({ chart: 'shop/web' });
      expect(elsewhere.seen).toEqual([{ path: '/charts/web-1.0.0.tgz', authorization: undefined }]);
    }
  });

  it('lets other hosts have the credentials when its owner said so', async () => {
    const elsewhere = await serve();
    await nameRepository(
      await serve({ credentials, archivesAt: elsewhere.url }),
      `${withPassword}  pass_credentials_all: true\n`,
    );
    await (await repositories()).pull({ chart: 'shop/web' });
    expect(elsewhere.seen).toEqual([{ path: '/charts/web-1.0.0.tgz', authorization: basic }]);
  });

  it('that refuses us, is not there, or leads in circles is an error without a secret in it', async () => {
    const server = await serve({ credentials });
    await nameRepository(server, '  username: reader\n  password: wrong-but-secret\n');
    const refused = await (await repositories()).pull({ chart: 'shop/web' }).catch((error: unknown) => error);
    expect(refused).toMatchObject({ code: 'Unauthorized' });
    expect(String(refused)).not.toContain('secret');
    const charts = await repositories();
    await expect(charts.pull({ chart: `${server.url}/endless` })).rejects.toMatchObject({ code: 'BadAnswer' });
    await expect(charts.pull({ chart: 'web', repository: 'http://127.0.0.1:1' })).rejects.toMatchObject({
      code: 'Unreachable',
    });
    const named = await charts
      .pull({ chart: `http://u:hunter2@${server.host}/x.tgz` })
      .catch((error: unknown) => error);
    expect(named).toMatchObject({ code: 'Refused' });
    expect(String(named)).not.toContain('hunter2');
  });

  it('that answers something else than an index is named', async () => {
    const answers = ['<html>hello</html>', 'entries: [', '- a list', '\u0000\u0001'];
    for (const body of answers) {
      const charts = new ChartRepositories({
        config: await readHelmConfig({ HOME: home }),
        open: fake(() => ({ status: 200, headers: {}, body: Buffer.from(body) })),
      });
      await expect(charts.pull({ chart: 'web', repository: 'https://charts.test' })).rejects.toMatchObject({
        code: 'BadAnswer',
        message: expect.stringContaining('https://charts.test/index.yaml') as string,
      });
    }
  });
});

describe('a registry', () => {
  it.each([
    ['', '1.10.0'],
    ['~1.2', '1.2.3'],
    ['1.2.3', '1.2.3'],
    ['1.0.0+build.7', '1.0.0+build.7'],
  ])('gives the version Helm would take for "%s": %s', async (version, expected) => {
    const server = await serve({}, ['1.0.0+build.7', '1.2.3', '1.10.0', '2.0.0-rc.1']);
    const charts = await repositories({ plainHttp: true });
    const pulled = await charts.pull({ chart: `oci://${server.host}/charts/web`, version });
    expect((await loadChart(pulled.archive)).metadata.version).toBe(expected);
    expect(pulled.fileName).toBe(`web-${expected}.tgz`);
  });

  it('gives a chart by tag and by digest, and is asked for the archive only once', async () => {
    const server = await serve();
    const charts = await repositories({ plainHttp: true });
    const { digest } = await charts.pull({ chart: `oci://${server.host}/charts/web:1.0.0` });
    const again = await charts.pull({ chart: `oci://${server.host}/charts/web@${digest}` });
    expect((await loadChart(again.archive)).metadata.name).toBe('web');
    expect(server.seen.filter(({ path }) => path.includes('/blobs/'))).toHaveLength(1);
  });

  it.each(['blobs', 'manifests'] as const)('whose %s are not what their digest says is not believed', async (kind) => {
    const server = await serve();
    const { digest } = await (
      await repositories({ plainHttp: true })
    ).pull({ chart: `oci://${server.host}/charts/web:1.0.0` });
    await rm(join(home, '.cache'), { recursive: true });
    server.damage(kind);
    await expect(
      (await repositories({ plainHttp: true })).pull({ chart: `oci://${server.host}/charts/web@${digest}` }),
    ).rejects.toMatchObject({ code: 'DigestMismatch' });
  });

  it.each(['basic', 'token'] as const)(
    'that asks who we are (%s) is told what `helm registry login` kept',
    async (registryAuth) => {
      const server = await serve({ credentials, registryAuth });
      const reference = { chart: `oci://${server.host}/charts/web`, version: '1.0.0' };
      await expect((await repositories({ plainHttp: true })).pull(reference)).rejects.toMatchObject({
        code: 'Unauthorized',
      });
      await logIn(server);
      expect((await (await repositories({ plainHttp: true })).load(reference)).metadata.name).toBe('web');
      const last = server.seen.at(-1)!;
      expect(last.authorization).toBe(registryAuth === 'basic' ? basic : 'Bearer let-me-in');
    },
  );

  it('may keep its archives elsewhere, which learns nothing of us', async () => {
    const elsewhere = await serve();
    const server = await serve({ credentials, registryAuth: 'token', redirectTo: elsewhere.url });
    await logIn(server);
    await (await repositories({ plainHttp: true })).pull({ chart: `oci://${server.host}/charts/web:1.0.0` });
    expect(elsewhere.seen.map(({ authorization }) => authorization)).toEqual([undefined]);
  });

  it('that wants the password sent in the clear does not get it', async () => {
    await write(
      '.docker/config.json',
      JSON.stringify({ auths: { 'https://safe.test/v1/': { auth: Buffer.from('a:b').toString('base64') } } }),
    );
    const asked: string[] = [];
    const charts = new ChartRepositories({
      config: await readHelmConfig({ HOME: home }),
      open: fake(({ path }, server) => {
        asked.push(`${server.origin}${path}`);
        return {
          status: 401,
          headers: { 'www-authenticate': 'Bearer realm="http://safe.test/token"' },
          body: Buffer.alloc(0),
        };
      }),
    });
    await expect(charts.pull({ chart: 'oci://safe.test/charts/web:1.0.0' })).rejects.toMatchObject({ code: 'Refused' });
    expect(asked).toEqual(['https://safe.test/v2/charts/web/manifests/1.0.0']);
  });

  it('whose manifest is enormous or no chart is refused', async () => {
    const answer = (body: Buffer) => async () => {
      const charts = new ChartRepositories({
        config: await readHelmConfig({ HOME: home }),
        open: fake(() => ({ status: 200, headers: {}, body })),
      });
      return await charts.pull({ chart: 'oci://big.test/charts/web:1.0.0' });
    };
    await expect(answer(Buffer.alloc(5 * 1024 * 1024, 0x20))()).rejects.toMatchObject({ code: 'TooLarge' });
    await expect(answer(Buffer.from('{"config":{"mediaType":"image"}}'))()).rejects.toMatchObject({
      code: 'BadAnswer',
    });
    await expect(answer(Buffer.from('null'))()).rejects.toMatchObject({ code: 'BadAnswer' });
  });

  it.each([
    'oci://',
    'oci://host',
    'oci://host/UPPER',
    'oci://host/a/../b',
    'oci://host/a@sha256:12',
    'oci://u:hunter2@host/a',
  ])('is not asked for %s, which is no reference', async (chart) => {
    const error = await (await repositories()).pull({ chart }).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'InvalidReference' });
    expect(String(error)).not.toContain('hunter2');
  });
});

describe('dependencies of a chart', () => {
  const folder = () => join(home, 'parent');
  const context = async (plainHttp = true) => ({ repositories: await repositories({ plainHttp }), clock: systemClock });

  async function parent(dependencies: string): Promise<void> {
    await write('parent/Chart.yaml', `apiVersion: v2\nname: parent\nversion: 1.0.0\ndependencies:\n${dependencies}`);
  }

  it('are fetched at the newest version Chart.yaml allows; build fetches what the lock says, even when there is a newer one', async () => {
    const server = await serve({}, ['1.0.0', '1.1.0']);
    await parent(
      `- {name: web, version: ^1.0.0, repository: "${server.repository}"}\n- {name: web, alias: other, version: ~1.0.0, repository: "oci://${server.host}/charts"}\n`,
    );
    await updateDependencies(folder(), await context());
    expect(await readdir(join(folder(), 'charts'))).toEqual(['web-1.0.0.tgz', 'web-1.1.0.tgz']);

    await server.publish(await makeChart('web', '1.2.0'));
    await rm(join(folder(), 'charts'), { recursive: true });
    await buildDependencies(folder(), await context());
    expect(await readdir(join(folder(), 'charts'))).toEqual(['web-1.0.0.tgz', 'web-1.1.0.tgz']);

    const lock = await readFile(join(folder(), 'Chart.lock'), 'utf8');
    await updateDependencies(folder(), await context());
    expect(await readdir(join(folder(), 'charts'))).toEqual(['web-1.0.0.tgz', 'web-1.2.0.tgz']);
    expect(await readFile(join(folder(), 'Chart.lock'), 'utf8')).not.toBe(lock);
  });

  it('keep their lock and its date when nothing changed', async () => {
    const server = await serve();
    await parent(`- {name: web, version: ^1.0.0, repository: "${server.repository}"}\n`);
    await updateDependencies(folder(), await context());
    const lock = await readFile(join(folder(), 'Chart.lock'), 'utf8');
    await updateDependencies(folder(), await context());
    expect(await readFile(join(folder(), 'Chart.lock'), 'utf8')).toBe(lock);
  });

  it('are not built from a lock that was made for something else', async () => {
    const server = await serve();
    await parent(`- {name: web, version: ^1.0.0, repository: "${server.repository}"}\n`);
    await updateDependencies(folder(), await context());
    await parent(`- {name: web, version: ^2.0.0, repository: "${server.repository}"}\n`);
    await expect(buildDependencies(folder(), await context())).rejects.toMatchObject({ code: 'OutOfSync' });
  });

  it('may lie beside the chart, or in it', async () => {
    await write('beside/Chart.yaml', 'apiVersion: v2\nname: beside\nversion: 0.1.0\n');
    await write(`beside/templates/${'long-'.repeat(30)}.yaml`, 'kind: ConfigMap\n');
    await write('parent/charts/inside/Chart.yaml', 'apiVersion: v2\nname: inside\nversion: 0.2.0\n');
    await parent('- {name: beside, version: 0.x, repository: "file://../beside"}\n- {name: inside, version: 0.2.0}\n');
    await updateDependencies(folder(), await context());
    const packed = await loadChart(join(folder(), 'charts/beside-0.1.0.tgz'));
    expect(packed.templates.map(({ name }) => name)).toEqual([`templates/${'long-'.repeat(30)}.yaml`]);
    expect(await readdir(join(folder(), 'charts'))).toEqual(['beside-0.1.0.tgz', 'inside']);
  });

  it('leave everything as it was when one of them cannot be had', async () => {
    const server = await serve();
    await parent(
      `- {name: web, version: ^1.0.0, repository: "${server.repository}"}\n- {name: absent, version: 1.0.0, repository: "${server.repository}"}\n`,
    );
    await write('parent/charts/.gitkeep', 'mine');
    await expect(updateDependencies(folder(), await context())).rejects.toMatchObject({ code: 'NotFound' });
    expect(await readdir(join(folder(), 'charts'))).toEqual(['.gitkeep']);
    expect(await readdir(folder())).toEqual(['Chart.yaml', 'charts']);
  });
});

interface FakeAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/** A server that is only asked what a test cares about. */
function fake(answer: (request: TransportRequest, server: URL) => FakeAnswer): OpenServer {
  return (server): Transport => ({
    send: async (request) => answer(request, server),
    open: () => {
      throw new Error('no streams here');
    },
    close: async () => undefined,
  });
}
