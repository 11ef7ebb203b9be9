import { execFile, execFileSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { attackedServer, type AttackedServer } from './attacked-server.ts';

const bindings = '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings';
const binding = (name: string) =>
  JSON.stringify({
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRoleBinding',
    metadata: { name },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'mallory' }],
  });
const secrets = '/api/v1/namespaces/default/secrets';

let server: AttackedServer;
beforeAll(async () => {
  server = await attackedServer();
  const secret = { metadata: { name: 'crown' }, stringData: { jewel: 'ruby-7731' } };
  const headers = { 'content-type': 'application/json' };
  const made = await server.call({ method: 'POST', path: secrets, headers, body: JSON.stringify(secret) });
  expect(made.status).toBe(201);
});
afterAll(() => server[Symbol.asyncDispose]());

async function createdBindings(): Promise<string[]> {
  const { text } = await server.call({ path: bindings });
  return (JSON.parse(text) as { items: { metadata: { name: string } }[] }).items.map(({ metadata }) => metadata.name);
}

describe('without a browser', () => {
  it.each([
    ['under a name of its own (DNS rebinding)', { host: 'evil.example' }],
    ['from another origin', { origin: 'http://evil.example' }],
    ['from a page without an origin', { origin: 'null' }],
    ['from another site', { 'sec-fetch-site': 'cross-site' }],
    ['from another port of this machine', { 'sec-fetch-site': 'same-site' }],
  ])('a request %s reads and writes nothing', async (_, headers) => {
    const read = await server.call({ path: secrets, headers });
    expect(read.status).toBe(403);
    expect(read.text).not.toContain('crown');
    const write = await server.call({
      method: 'POST',
      path: bindings,
      headers: { ...headers, 'content-type': 'application/json' },
      body: binding('header'),
    });
    expect(write.status).toBe(403);
    expect(await createdBindings()).toEqual([]);
  });

  it.each([
    '',
    ';',
    ' ',
    'text/plain',
    'text/plain; x=application/json',
    'application/x-www-form-urlencoded',
    'application/jsonx',
  ])('a body of type %j is not taken for JSON', async (type) => {
    for (const [method, path] of [
      ['POST', bindings],
      ['PUT', `${bindings}/typed`],
      ['PATCH', `${bindings}/typed`],
    ] as const) {
      const answer = await server.call({ method, path, headers: { 'content-type': type }, body: binding('typed') });
      expect(answer.status).toBe(415);
    }
    expect(await createdBindings()).toEqual([]);
  });
});

const chromium = ['chromium', 'chromium-browser', 'google-chrome'].find((name) => {
  try {
    execFileSync(name, ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
});
if (!chromium) process.stdout.write('SKIPPED web pages in a browser: no chromium found (apt-get install chromium)\n');

describe.skipIf(!chromium)('in Chromium', () => {
  let profile: string;
  let site: ReturnType<typeof createServer>;
  let sitePort: number;
  let page = '';
  beforeAll(async () => {
    profile = await mkdtemp(join(tmpdir(), 'slipway-chromium-'));
    site = createServer((_, response) => {
      response.writeHead(200, { 'content-type': 'text/html' });
      response.end(page);
    });
    await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
    sitePort = (site.address() as AddressInfo).port;
  });
  afterAll(async () => {
    site.close();
    await rm(profile, { recursive: true, force: true });
  });

  /** What the page has become when its scripts are done. Every name means this machine, as after rebinding. */
  async function visit(url: string): Promise<string> {
    const { stdout } = await promisify(execFile)(chromium!, [
      '--headless',
      '--no-sandbox',
      '--disable-gpu',
      '--disable-dev-shm-usage',
      '--no-first-run',
      '--no-proxy-server',
      `--user-data-dir=${profile}`,
      '--host-resolver-rules=MAP evil.example 127.0.0.1',
      '--virtual-time-budget=10000',
      '--dump-dom',
      url,
    ]);
    return stdout;
  }

  it('the server is there for whoever types its address', { timeout: 120_000 }, async () => {
    expect(await visit(`${server.url}/api/v1/namespaces/default`)).toContain('kubernetes.io/metadata.name');
  });

  it('a name that suddenly means this machine shows nothing', { timeout: 120_000 }, async () => {
    const dom = await visit(`http://evil.example:${server.port}${secrets}`);
    expect(dom).toContain('this server is not called');
    expect(dom).not.toContain('crown');
  });

  it.each(['evil.example', 'localhost'])(
    'a page of %s can neither write nor read',
    { timeout: 120_000 },
    async (host) => {
      // Each way a page has of sending something without asking first.
      page = `<html><body><form id="f" method="post" enctype="text/plain" target="frame" action="${server.url}${bindings}">
      <input name='${binding('form').slice(0, -1)},"x":"' value='"}'></form><iframe name="frame"></iframe>
      <script>
        const url = ${JSON.stringify(server.url + bindings)};
        const ways = {
          blob: () => fetch(url, { method: 'POST', mode: 'no-cors', body: new Blob([${JSON.stringify(binding('blob'))}]) }),
          text: () => fetch(url, { method: 'POST', mode: 'no-cors', body: ${JSON.stringify(binding('text'))} }),
          beacon: async () => navigator.sendBeacon(url, new Blob([${JSON.stringify(binding('beacon'))}])),
          cors: () => fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body: ${JSON.stringify(binding('cors'))} }),
          read: () => fetch(${JSON.stringify(server.url + secrets)}).then((answer) => answer.text()),
        };
        (async () => {
          for (const [name, attack] of Object.entries(ways)) {
            const outcome = await attack().then((answer) => typeof answer === 'string' ? answer : 'sent', () => 'refused');
            document.body.append(name + ': ' + outcome + ';');
          }
          document.getElementById('f').submit();
          document.body.append('all tried');
        })();
      </script></body></html>`;
      const dom = await visit(`http://${host}:${sitePort}/`);
      expect(dom).toContain('all tried');
      expect(dom).toContain('cors: refused');
      expect(dom).toContain('read: refused');
      expect(dom).not.toContain('ruby-7731');
      expect(await createdBindings()).toEqual([]);
    },
  );
});
