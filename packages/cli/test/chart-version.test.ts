import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { call, temporaryFolder } from './kit.ts';

/** A repository that has two versions in its index, and no archive of either. */
const asked: string[] = [];
const server = createServer((request, response) => {
  asked.push(request.url!);
  const versions = ['2.0.0', '1.2.3'].map((version) => `{version: ${version}, urls: [web-${version}.tgz]}`);
  response.statusCode = request.url === '/index.yaml' ? 200 : 404;
  response.end(`apiVersion: v1\nentries: {web: [${versions.join(', ')}]}\n`);
});
beforeAll(() => new Promise<void>((done) => server.listen(0, '127.0.0.1', done)));
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

test.each([
  ['template', 'web'],
  ['template', 'shop', 'web'],
  ['pull', 'web'],
  ['install', 'shop', 'web'],
  ['upgrade', 'shop', 'web'],
  ['diff', 'shop', 'web'],
])('--version behind chart %s %s is the version of the chart, not a question for ours', async (...words) => {
  await using folder = await temporaryFolder();
  const repo = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  asked.length = 0;
  const argv = ['chart', ...words, '--repo', repo, '--version', '~1.2'];
  const { code, out, err } = await call(argv, { cwd: folder.path, env: { HOME: folder.path } });
  expect(asked).toEqual(['/index.yaml', '/web-1.2.3.tgz']);
  expect(out).toBe('');
  expect(err).toContain('there is none (404)');
  expect(code).toBe(1);
});

test('--version before a command, and alone, asks for ours', async () => {
  expect((await call(['--version'])).out).toBe('9.9.9\n');
  expect((await call(['chart', 'template', 'web', '--version'])).err).toContain('argument missing');
});

test('a password is no part of what --verbose says', async () => {
  await using folder = await temporaryFolder();
  const argv = ['chart', 'template', 'nowhere', '--verbose', '--username', 'reader', '--password', 'hunter2'];
  const { err } = await call(argv, { cwd: folder.path, env: { HOME: folder.path } });
  expect(err).toContain('setting username = reader');
  expect(err).toContain('setting password = *** (--password)');
  expect(err).not.toContain('hunter2');
  const fromEnv = await call(argv.slice(0, 4), {
    cwd: folder.path,
    env: { HOME: folder.path, SLIPWAY_PASSWORD: 'hunter2' },
  });
  expect(fromEnv.err).toContain('setting password = *** (SLIPWAY_PASSWORD)');
});
