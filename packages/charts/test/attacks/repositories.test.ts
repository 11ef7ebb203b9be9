import { createHash } from 'node:crypto';
import { lstat, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { systemClock } from '@slipway/kube';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import {
  buildDependencies,
  ChartRepositories,
  loadChart,
  packageChart,
  updateDependencies,
  type ChartReference,
} from '../../src/index.ts';
import { dependencyStatus, unnamedEntries } from '../../src/repository/dependency-status.ts';
import { makeChart } from '../chart-server.ts';

let home: string;
const open: AsyncDisposable[] = [];
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'slipway-repository-attacks-'));
});
afterEach(async () => {
  for (const each of open.splice(0).reverse()) await each[Symbol.asyncDispose]();
  await rm(home, { recursive: true, force: true });
});

async function write(path: string, text: string | Uint8Array): Promise<void> {
  await mkdir(dirname(join(home, path)), { recursive: true });
  await writeFile(join(home, path), text);
}

async function archive(name: string, version = '1.0.0'): Promise<Buffer> {
  return await packageChart(await makeChart(name, version));
}

const folder = () => join(home, 'parent');

async function parent(dependencies: string): Promise<void> {
  await write('parent/Chart.yaml', `apiVersion: v2\nname: parent\nversion: 1.0.0\ndependencies:\n${dependencies}`);
}

async function context(progress: string[] = []) {
  const repositories = await ChartRepositories.open({ HOME: home }, { plainHttp: true });
  open.push(repositories);
  return { repositories, clock: systemClock, progress: (text: string) => void progress.push(text) };
}

describe('charts/', () => {
  const besides = '- {name: beside, version: 1.0.0, repository: "file://../beside"}\n';

  it('that is a link is neither written to nor cleared, though .helmignore hides it', async () => {
    await write('elsewhere/other-1.0.0.tgz', await archive('other'));
    await write('beside/Chart.yaml', 'apiVersion: v2\nname: beside\nversion: 1.0.0\n');
    await parent(besides);
    await write('parent/.helmignore', 'charts\n');
    await symlink(join(home, 'elsewhere'), join(folder(), 'charts'));
    for (const work of [updateDependencies, buildDependencies])
      await expect(work(folder(), await context())).rejects.toMatchObject({ code: 'UnsafeArchive' });
    expect(await readdir(join(home, 'elsewhere'))).toEqual(['other-1.0.0.tgz']);
  });

  it('that is a link within the chart is refused, too: what it leads to is no place for archives', async () => {
    await write('beside/Chart.yaml', 'apiVersion: v2\nname: beside\nversion: 1.0.0\n');
    await parent(besides);
    await write('parent/.helmignore', 'charts\n');
    await write('parent/files/other-1.0.0.tgz', await archive('other'));
    await symlink('files', join(folder(), 'charts'));
    await expect(updateDependencies(folder(), await context())).rejects.toMatchObject({ code: 'Refused' });
    expect(await readdir(join(folder(), 'files'))).toEqual(['other-1.0.0.tgz']);
  });

  it('holds links nobody follows to judge or delete what is outside', async () => {
    await write('elsewhere/other-1.0.0.tgz', await archive('other'));
    await write('beside/Chart.yaml', 'apiVersion: v2\nname: beside\nversion: 1.0.0\n');
    await parent(besides);
    await write('parent/.helmignore', 'charts\n');
    await write('parent/charts/old-1.0.0.tgz', await archive('old'));
    for (const name of ['other-1.0.0.tgz', 'beside-1.0.0.tgz'])
      await symlink(join(home, 'elsewhere/other-1.0.0.tgz'), join(folder(), 'charts', name));
    const chart = await loadChart(folder());
    expect(await unnamedEntries(folder(), chart)).toEqual([
      { name: 'beside-1.0.0.tgz', isChart: false },
      { name: 'old-1.0.0.tgz', isChart: true },
      { name: 'other-1.0.0.tgz', isChart: false },
    ]);
    expect(await dependencyStatus(folder(), chart, chart.metadata.dependencies[0]!)).toBe('corrupt');
    await updateDependencies(folder(), await context());
    expect((await lstat(join(folder(), 'charts/other-1.0.0.tgz'))).isSymbolicLink()).toBe(true);
    // The link in the way of the new archive is replaced; what it led to is as it was.
    expect((await lstat(join(folder(), 'charts/beside-1.0.0.tgz'))).isFile()).toBe(true);
    expect((await loadChart(join(home, 'elsewhere/other-1.0.0.tgz'))).metadata.name).toBe('other');
    expect(await readdir(join(folder(), 'charts'))).toEqual(['beside-1.0.0.tgz', 'other-1.0.0.tgz']);
  });

  it('gets its files by names nobody can put a link at before', async () => {
    await write('victim', 'mine');
    await write('beside/Chart.yaml', 'apiVersion: v2\nname: beside\nversion: 1.0.0\n');
    await parent(besides);
    await write('parent/.helmignore', 'charts\n');
    await mkdir(join(folder(), 'charts'));
    await symlink(join(home, 'victim'), join(folder(), `charts/beside-1.0.0.tgz.${process.pid}.tmp`));
    await updateDependencies(folder(), await context());
    expect(await readFile(join(home, 'victim'), 'utf8')).toBe('mine');
  });

  it.each(['../../outside', '..', 'a\\\\..\\\\b', 'C:x', '/outside'])(
    'is not left through the name of a dependency: %s',
    async (name) => {
      await write('outside/Chart.yaml', 'apiVersion: v2\nname: outside\nversion: 1.0.0\n');
      await write('parent/charts/.keep', '');
      for (const repository of ['', 'file://../outside', 'http://127.0.0.1:1', 'oci://127.0.0.1:1/x']) {
        await parent(`- {name: "${name}", version: 1.0.0, repository: "${repository}"}\n`);
        await expect(updateDependencies(folder(), await context())).rejects.toMatchObject({
          code: expect.stringMatching(/^(?:Refused|InvalidChart)$/) as string,
        });
      }
    },
  );
});

type Answer = RequestListener;

/** A server that means harm. Answers what it was asked, in order. */
async function serve(answer: Answer): Promise<{ host: string; seen: string[] }> {
  const seen: string[] = [];
  const server = createServer((request, response) => {
    seen.push(`${request.url} ${request.headers.authorization ?? '-'}`);
    answer(request, response);
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  open.push({
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  });
  return { host: `127.0.0.1:${(server.address() as AddressInfo).port}`, seen };
}

const answerWith =
  (body: string | Buffer, status = 200, headers: Record<string, string> = {}): Answer =>
  (_, response) => {
    response.writeHead(status, headers);
    response.end(body);
  };

async function refusal(reference: ChartReference, signal?: AbortSignal): Promise<{ code: string; message: string }> {
  const { repositories } = await context();
  const error = await repositories.pull(reference, signal).then(
    () => expect.fail('it was taken'),
    (thrown: unknown) => thrown,
  );
  const cached = await readdir(join(home, '.cache/slipway/charts')).catch(() => []);
  expect(cached).toEqual([]);
  return error as { code: string; message: string };
}

const configType = 'application/vnd.cncf.helm.config.v1+json';
const layerType = 'application/vnd.cncf.helm.chart.content.v1.tar+gzip';

function digest(algorithm: string, data: string | Buffer): string {
  return `${algorithm}:${createHash(algorithm).update(data).digest('hex')}`;
}

describe('a registry', () => {
  const config = { mediaType: configType };
  it.each([
    ['layers that are no list', { config, layers: {} }, 'layers that are no list'],
    ['layers that are null inside', { config, layers: [null] }, 'layers that are no list'],
    ['a digest that is no text', { config, layers: [{ mediaType: layerType, digest: 7 }] }, 'a digest that is neither'],
    ['no digest', { config, layers: [{ mediaType: layerType }] }, 'a digest that is neither'],
    [
      'a digest in upper case',
      { config, layers: [{ mediaType: layerType, digest: `sha256:${'A'.repeat(64)}` }] },
      'lower',
    ],
    [
      'a digest that leads elsewhere',
      { config, layers: [{ mediaType: layerType, digest: '../../x' }] },
      'a digest that',
    ],
    ['an unknown kind of digest', { manifests: [{ artifactType: configType, digest: 'md5:00' }] }, 'a digest that'],
    ['a nested tag', { manifests: [{ artifactType: configType, digest: '1.0.0' }] }, 'a digest that'],
    ['manifests that are no list', { manifests: 'x' }, 'manifests that are no list'],
    ['manifests that are null inside', { manifests: [null] }, 'manifests that are no list'],
    ['a list', [], 'no JSON object'],
    ['no config', { config: null }, 'is no chart'],
    ['a config of a hostile type', { config: { mediaType: '\u001b[2J' } }, 'no chart but something else'],
  ])('that answers %s is named, with what was wrong', async (_, manifest, message) => {
    const { host, seen } = await serve(answerWith(JSON.stringify(manifest)));
    const error = await refusal({ chart: `oci://${host}/web:1.0.0` });
    expect(error).toMatchObject({ code: 'BadAnswer' });
    expect(error.message).toContain(message);
    expect(error.message).toContain(host);
    expect(seen).toHaveLength(1);
  });

  it('may use SHA-512, which is checked', async () => {
    const good = await archive('web');
    for (const [data, isGood] of [
      [Buffer.from('bad'), false],
      [good, true],
    ] as const) {
      const manifest = JSON.stringify({ config, layers: [{ mediaType: layerType, digest: digest('sha512', good) }] });
      const index = JSON.stringify({ manifests: [{ artifactType: configType, digest: digest('sha512', manifest) }] });
      const { host } = await serve((request, response) => {
        const [, kind] = /\/(blobs|manifests\/sha512)/.exec(request.url!) ?? [];
        response.end(kind === 'blobs' ? data : kind ? manifest : index);
      });
      const reference = { chart: `oci://${host}/web:1.0.0` };
      if (!isGood) expect(await refusal(reference)).toMatchObject({ code: 'DigestMismatch' });
      else expect((await (await context()).repositories.pull(reference)).archive.equals(good)).toBe(true);
    }
  });

  it('whose nested manifest is not what its digest says is refused', async () => {
    const index = { manifests: [{ artifactType: configType, digest: digest('sha512', 'other') }] };
    const { host } = await serve(answerWith(JSON.stringify(index)));
    expect(await refusal({ chart: `oci://${host}/web:1.0.0` })).toMatchObject({ code: 'DigestMismatch' });
  });

  const pages = async (page: (url: string) => { body: string; next?: string }) =>
    await serve((request, response) => {
      const { body, next } = page(request.url!);
      if (next !== undefined) response.setHeader('link', `<${next}>; rel="next"`);
      response.end(body);
    });

  it('may have very many tags on a page', async () => {
    const tags = Array.from({ length: 200_000 }, (_, index) => `0.0.${index}`);
    const { host } = await pages(() => ({ body: JSON.stringify({ tags }) }));
    const { repositories } = await context();
    expect(await repositories.resolve({ chart: `oci://${host}/web` })).toBe('0.0.199999');
  });

  it.each([
    ['in a circle', (url: string) => url, 'in a circle', 1],
    [
      'without end',
      (url: string) => `${url.split('?')[0]}?n=${Number(url.split('n=')[1] ?? 0) + 1}`,
      '1000 pages',
      1000,
    ],
    ['of another server', () => 'http://127.0.0.1:1/v2/web/tags/list', 'on another server', 1],
  ])('that lists pages %s is told so: no page is dropped in silence', async (_, next, message, asked) => {
    const { host, seen } = await pages((url) => ({ body: '{"tags":["1.0.0"]}', next: next(url) }));
    expect((await refusal({ chart: `oci://${host}/web` })).message).toContain(message);
    expect(seen).toHaveLength(asked);
  });

  it('may not list more bytes than all tags of the world', async () => {
    const body = Buffer.alloc(17 * 1024 * 1024, ' ')
      .fill('{}', 0, 2)
      .toString();
    const { host } = await pages((url) => ({ body, next: `${url.split('?')[0]}?n=${url.length}` }));
    expect(await refusal({ chart: `oci://${host}/web` })).toMatchObject({ code: 'TooLarge' });
  });

  it.each([
    ['garbage', 'not JSON', 'no JSON object'],
    ['a line break', JSON.stringify({ token: 'a\r\nx: y' }), 'a token that is none'],
    ['a megabyte', JSON.stringify({ token: 'a'.repeat(1_000_000) }), 'a token that is none'],
    ['no text', JSON.stringify({ token: {} }), 'without a token'],
    ['a page', '<html>', 'no JSON object'],
  ])('whose token service answers %s gets no token', async (_, body, message) => {
    const { host, seen } = await serve((request, response) => {
      if (request.url!.startsWith('/token')) return void response.end(body);
      response.writeHead(401, { 'www-authenticate': `Bearer realm="http://${request.headers.host}/token"` });
      response.end();
    });
    const error = await refusal({ chart: `oci://${host}/web:1.0.0` });
    expect(error).toMatchObject({ code: 'BadAnswer' });
    expect(error.message).toContain(message);
    expect(seen).toHaveLength(2);
  });
});

describe('a server of archives', () => {
  const pulling = (host: string) => ({ chart: `http://${host}/web-1.0.0.tgz` });

  it.each<[string, Answer, string]>([
    [
      'that announces more than it sends',
      (_, response) => {
        response.writeHead(200, { 'content-length': '1000' });
        response.write('short', () => response.destroy());
      },
      'Unreachable',
    ],
    [
      'that never stops',
      (_, response) => {
        const chunk = Buffer.alloc(4 * 1024 * 1024);
        const more = (error?: Error | null): void => void (error || response.destroyed || response.write(chunk, more));
        more();
      },
      'Unreachable',
    ],
    ['that leads to itself', answerWith('', 302, { location: '/again' }), 'BadAnswer'],
    ['that leads to a file', answerWith('', 302, { location: 'file:///etc/passwd' }), 'InvalidReference'],
    ['that leads to an address with a password', answerWith('', 302, { location: 'http://u:secret@h/' }), 'Refused'],
    ['that leads nowhere', answerWith('', 302), 'BadAnswer'],
    ['that wants us to wait for ever', answerWith('', 429, { 'retry-after': '99999999999' }), 'BadAnswer'],
    ['that is not there until another century', answerWith('', 503, { 'retry-after': '4e9' }), 'BadAnswer'],
    ['that says gzip and sends none', answerWith('x', 200, { 'content-encoding': 'gzip' }), 'Unreachable'],
  ])('%s is given up on with a clear error, and nothing is kept', async (_, answer, code) => {
    const { host } = await serve(answer);
    const error = await refusal(pulling(host));
    expect(error).toMatchObject({ name: 'RepositoryError', code });
    expect(error.message).not.toContain('secret');
  });

  it('that packs a body of any size is stopped at what an answer may have', async () => {
    const bomb = gzipSync(Buffer.alloc(120 * 1024 * 1024), { level: 1 });
    const { host } = await serve(answerWith(bomb, 200, { 'content-encoding': 'gzip' }));
    expect(await refusal(pulling(host))).toMatchObject({ code: 'Unreachable' });
  });

  it('that drips is left when the caller loses patience', async () => {
    const patience = new AbortController();
    const { host } = await serve((_, response) => {
      response.writeHead(200);
      response.write('x', () => patience.abort(new Error('enough')));
    });
    expect((await refusal(pulling(host), patience.signal)).message).toContain('enough');
  });

  it('gets none of our credentials by leading to another', async () => {
    const other = await serve(answerWith('', 404));
    const { host } = await serve(answerWith('', 302, { location: `http://${other.host}/x` }));
    await write(
      '.config/helm/repositories.yaml',
      `repositories:\n- {name: shop, url: "http://${host}", username: u, password: p}\n`,
    );
    await refusal(pulling(host));
    expect(other.seen).toEqual(['/x -']);
  });
});

describe('an index', () => {
  const index = (entry: string) => `apiVersion: v1\nentries:\n  web:\n  - {name: web, version: 1.0.0, ${entry}}\n`;

  it.each([
    ['a page', '<!doctype html>\n<html>', 'BadAnswer'],
    ['an address that is none', index('urls: ["http://u:secret@["]'), 'BadAnswer'],
    ['an address on this machine', index('urls: ["file:///etc/passwd"]'), 'InvalidReference'],
    ['an address with a password', index('urls: ["http://u:secret@127.0.0.1:1/x"]'), 'Refused'],
    ['a digest in upper case', index(`digest: ${'A'.repeat(64)}, urls: [x.tgz]`), 'DigestMismatch'],
  ])('that is or has %s is refused with a clear error', async (_, body, code) => {
    const { host } = await serve(answerWith(body));
    const error = await refusal({ chart: 'web', repository: `http://${host}` });
    expect(error).toMatchObject({ name: 'RepositoryError', code });
    expect(error.message).not.toContain('secret');
  });

  it.each([
    ['JSON', JSON.stringify({ apiVersion: 'v1', entries: { web: [{ version: '1.2.3', urls: ['x'] }] } }, null, 2)],
    ['YAML with the line breaks of Windows', index('urls: [x]').replace('1.0.0', '1.2.3').replaceAll('\n', '\r\n')],
  ])('may be %s', async (_, body) => {
    const { host } = await serve(answerWith(body));
    const { repositories } = await context();
    expect(await repositories.resolve({ chart: 'web', repository: `http://${host}` })).toBe('1.2.3');
  });
});

describe('a password in an address', () => {
  const addresses = [
    'https://u:hunter2@127.0.0.1:1/charts',
    'https://u:hunter2@[/charts',
    'https://u:a/hunter2@host/charts',
    'oci://u:a/hunter2@host/charts',
    'ftp://u:hunter2@host/charts',
    'mailto:u:hunter2@host',
    '@u:hunter2@host',
    'https://127.0.0.1:1/charts?token=hunter2',
  ];

  it.each(addresses)('is in no error and no line that is printed: %s', async (repository) => {
    const chart = (await refusal({ chart: 'web', version: '1.0.0', repository })).message;
    expect(chart).not.toContain('hunter2');
    expect((await refusal({ chart: repository })).message).not.toContain('hunter2');
    await parent(`- {name: web, version: 1.0.0, repository: "${repository}"}\n`);
    await write(
      'parent/Chart.lock',
      `dependencies:\n- {name: web, version: 1.0.0, repository: "${repository}"}\ndigest: x\n`,
    );
    const lines: string[] = [];
    for (const work of [updateDependencies, buildDependencies])
      await work(folder(), await context(lines)).catch((error: Error) => lines.push(error.message));
    expect(lines.join('\n')).not.toContain('hunter2');
  });
});
