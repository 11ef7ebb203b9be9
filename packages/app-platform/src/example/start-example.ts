import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'yaml';
import type { ExampleContext, RunningExample } from '@slipway/runtime';

import { startGitServer } from '../git-server/git-server.ts';
import { PlatformRoot } from '../values/platform-root.ts';
import { referencePlatform } from '../values/reference-platform.ts';
import { valueAt } from '../values/tree.ts';
import { yamlFile } from '../values/yaml-file.ts';
import { servePlatform } from './platform-repository.ts';
import { announcePushes } from './announce-pushes.ts';
import { freePort } from './free-port.ts';
import { tellPushes } from './tell-pushes.ts';
import { tellStory } from './tell-story.ts';

const organisation = 'otomi';
const repository = 'values';
const platformRepository = `${organisation}/platform.git`;
const username = 'otomi-admin';

/** A Git server on this machine and the values of a small platform: enough to see one installed, and to push to it. */
export async function startExample({ random, say, folder: kept }: ExampleContext): Promise<RunningExample> {
  const folder = kept ?? (await mkdtemp(join(tmpdir(), 'slipway-app-platform-')));
  await mkdir(folder, { recursive: true });
  const valuesInput = join(folder, 'values.yaml');
  const password = (await keptPassword(valuesInput)) ?? random.uuid();
  const directory = join(folder, 'git');
  await servePlatform(new PlatformRoot(referencePlatform), directory, platformRepository);
  const webhookPort = await freePort();
  const secretFile = join(folder, 'push-webhook-secret');
  const secret = random.uuid();
  await writeFile(secretFile, secret, { mode: 0o600 });
  const announcement = announcePushes(webhookPort, secret);
  const valuesRepository = `${organisation}/${repository}.git`;
  const tellPush = tellPushes(join(directory, valuesRepository), say);
  const server = await startGitServer({
    onPush() {
      announcement.onPush();
      void tellPush();
    },
    directory,
    repository: valuesRepository,
    credentials: { username, password },
  });
  await writeFile(
    valuesInput,
    yamlFile({
      cluster: { name: 'example', domainSuffix: 'example.localhost' },
      kms: { sops: { provider: 'age' } },
      apps: { gitea: { adminUsername: username, adminPassword: password } },
      teamConfig: { demo: { settings: {} } },
    }),
    { mode: 0o600 },
  );
  const { hostname, port } = new URL(server.url);
  return {
    flags: {
      'values-input': valuesInput,
      'env-dir': join(folder, 'env'),
      'git-protocol': 'http',
      'git-url': hostname,
      'git-port': port,
      'git-org': organisation,
      'git-repo': repository,
      'poll-interval-ms': '500',
      'push-webhook-port': String(webhookPort),
      'push-webhook-secret-file': secretFile,
      'apps-repo-url': new URL(`/${platformRepository}`, server.url).href,
    },
    async follow(client, signal) {
      say(`values repository: git clone ${server.url}  (user ${username}, password ${password})`);
      await tellStory(client, say, signal);
    },
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      await tellPush();
      await announcement[Symbol.asyncDispose]();
      if (kept === undefined) await rm(folder, { recursive: true, force: true });
    },
  };
}

/** The platform of an earlier start knows its password, and would be refused with another. */
async function keptPassword(valuesInput: string): Promise<string | undefined> {
  const text = await readFile(valuesInput, 'utf8').catch(() => '');
  const password = valueAt(parse(text), ['apps', 'gitea', 'adminPassword']);
  return typeof password === 'string' ? password : undefined;
}
