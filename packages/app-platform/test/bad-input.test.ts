import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { generateAgeKey, decrypt, edit, encrypt } from '@slipway/sops';
import { systemClock } from '@slipway/kube';
import type { TestManager } from '@slipway/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { runGit, type GitRunner } from '../src/git/git-process.ts';
import { names } from '../src/names.ts';
import { Application } from '../src/platform/applications.ts';
import { storedSecrets } from '../src/secrets/stored-secrets.ts';
import { valueAt } from '../src/values/tree.ts';
import { platformWorld, type PlatformWorld } from './platform-kit.ts';

const limit = 120_000;
const secretFile = 'env/apps/secrets.console.yaml';

describe('what is pushed to a platform that runs', () => {
  let world: PlatformWorld;
  let running: TestManager;
  /** Done once, right after the operator's next checkout. */
  let meanwhile: (() => Promise<unknown>) | undefined;

  const git: GitRunner = async (args, options) => {
    const answer = await runGit(args, options);
    if (args[0] === 'checkout' && meanwhile) {
      const act = meanwhile;
      meanwhile = undefined;
      await act();
    }
    return answer;
  };

  beforeAll(async () => {
    world = await platformWorld();
    running = await world.cluster.run([world.controller({ git })]);
    await world.applied();
  }, limit);
  afterAll(async () => await world[Symbol.asyncDispose]());

  const app = (replicas: number | string) =>
    `kind: AplApp\nmetadata:\n    name: console\n    labels: {}\nspec:\n    enabled: true\n    replicas: ${replicas}\n`;
  const consoleValues = async (): Promise<string> =>
    JSON.stringify(
      (await world.cluster.client.get(Application, { namespace: names.argoNamespace, name: 'console-console' }))?.spec,
    );

  /** Pushes, sees it refused with these words and the cluster as it was, and takes it back. */
  async function refused(push: () => Promise<string>, words: readonly string[]): Promise<void> {
    const before = await consoleValues();
    const commit = await push();
    const { status, errorMessage } = await world.applied(commit);
    expect(status).toBe('failed');
    for (const word of words) expect(errorMessage).toContain(word);
    expect(await consoleValues()).toBe(before);
    const odd = { 'env/odd': undefined, 'env/apps/odd.yaml': undefined, 'env/teams/odd': undefined };
    const mended = await world.git.push(odd, 'taken back');
    expect(await world.applied(mended)).toMatchObject({ status: 'succeeded' });
  }

  /** Pushes entries as no editor makes them. */
  async function pushOddEntries(): Promise<string> {
    const user = world.git.copy('user');
    await user.prepare();
    await user.takeRemote();
    await mkdir(join(user.directory, 'env/odd'), { recursive: true });
    await writeFile(
      Buffer.concat([Buffer.from(`${user.directory}/env/odd/`), Buffer.from([0xff, 0xfe]), Buffer.from('.yaml')]),
      '',
    );
    await writeFile(join(user.directory, '.git', 'link'), '/etc/passwd');
    const { stdout: link } = await user.git(['hash-object', '-w', '.git/link']);
    await user.git(['add', '--all']);
    await user.git(['update-index', '--add', '--cacheinfo', `120000,${link.trim()},env/apps/odd.yaml`]);
    await user.git(['update-index', '--add', '--cacheinfo', `160000,${await user.revision()},env/teams/odd`]);
    await user.git(['commit', '--quiet', '-m', 'odd entries']);
    await user.atRemote(['push', '--quiet', 'origin', 'main']);
    return (await user.revision())!;
  }

  test(
    'Git tree: symbolic links, submodules and names that are not UTF-8 are refused by name, and nothing outside of the folder is read',
    { timeout: limit },
    async () => {
      await refused(pushOddEntries, [
        'env/apps/odd.yaml: is a symbolic link',
        'env/teams/odd: is a submodule',
        'env/odd/\uFFFD\uFFFD.yaml: has a name that is not UTF-8',
      ]);
    },
  );

  test('Secrets: a file encrypted for another key is refused by its name', { timeout: limit }, async () => {
    const { recipient } = await generateAgeKey();
    const sealed = await encrypt('kind: AplApp\nspec: {a: b}\n', {
      format: 'yaml',
      recipients: [recipient],
      clock: systemClock,
    });
    const path = 'env/teams/odd/secrets.settings.yaml';
    await refused(() => world.git.push({ [path]: sealed.toString('utf8') }, 'for somebody else'), [path]);
  });

  test(
    'what a failed apply had written for a team that is gone does not bring it back',
    { timeout: limit },
    async () => {
      await refused(
        () => world.git.push({ 'env/teams/odd/settings.yaml': 'spec: {}\n', 'env/apps/odd.yaml': 'spec: [\n' }, 'odd'),
        ['env/apps/odd.yaml'],
      );
      const reader = world.git.copy('reader');
      await reader.prepare();
      await reader.takeRemote();
      expect((await reader.entries('env/teams/odd')).map(({ path }) => path)).toEqual([]);
    },
  );

  test('a secret that somebody pushes while an apply runs is kept', { timeout: limit }, async () => {
    const identity = String(valueAt(await storedSecrets(world.cluster.client), ['kms', 'sops', 'age', 'privateKey']));
    const reader = world.git.copy('reader');
    await reader.prepare();
    await reader.takeRemote();
    const options = { format: 'yaml', identities: [identity] } as const;
    const sealed = await readFile(join(reader.directory, secretFile), 'utf8');
    const plain = (await decrypt(sealed, options)).toString('utf8');
    const changed = plain.replace(/cookieSecret: \S+/, 'cookieSecret: chosen-by-a-person');
    expect(changed).not.toBe(plain);
    const theirs = (await edit(sealed, changed, { ...options, clock: systemClock })).toString('utf8');
    let pushed = '';
    meanwhile = async () => (pushed = await world.git.push({ [secretFile]: theirs }, 'a new cookie secret'));
    await world.applied(await world.git.push({ 'env/apps/console.yaml': app(2) }, 'something else'));
    expect(await world.applied(pushed)).toMatchObject({ status: 'succeeded' });
    await reader.takeRemote();
    expect((await decrypt(await readFile(join(reader.directory, secretFile)), options)).toString('utf8')).toContain(
      'chosen-by-a-person',
    );
  });

  test(
    'a broken value that somebody pushes while an apply runs does not reach the cluster',
    { timeout: limit },
    async () => {
      const before = await consoleValues();
      meanwhile = () => world.git.push({ 'env/apps/console.yaml': app('"many"') }, 'oops');
      const commit = await world.git.push(
        { 'env/teams/red/settings.yaml': 'spec: {resourceQuota: {pods: 6}}\n', 'env/x': '' },
        'fine',
      );
      expect(await world.applied(commit)).toMatchObject({ status: 'failed' });
      expect(await consoleValues()).toBe(before);
      expect(await world.applied(await world.git.push({ 'env/apps/console.yaml': app(3) }, 'mended'))).toMatchObject({
        status: 'succeeded',
      });
      expect(await consoleValues()).toContain('replicas: 3');
      expect(JSON.stringify(running.logs)).not.toContain('canary');
    },
  );
});
