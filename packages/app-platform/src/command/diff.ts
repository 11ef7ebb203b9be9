import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { changeText } from '@slipway/charts';
import { CommandError, defineCommand, exitCodes, type Client, type Terminal } from '@slipway/kube';
import { silentLogger } from '@slipway/runtime';

import { platformDiff, type PartDifference } from '../diff/platform-diff.ts';
import { names } from '../names.ts';
import { migrate } from '../platform/migrate.ts';
import { nativeHelmfile } from '../platform/native-helmfile.ts';
import type { Platform } from '../platform/platform.ts';
import { platformMemory } from '../platform/platform-memory.ts';
import { writeValues } from '../platform/write-values.ts';
import { decryptSecrets, usesSops } from '../secrets/crypt.ts';
import { settingsFrom } from '../settings.ts';
import { readSecret } from '../state/records.ts';
import { PlatformRoot } from '../values/platform-root.ts';
import { referencePlatform } from '../values/reference-platform.ts';
import { validateValues } from '../values/validate.ts';
import { directoryArgument, repositoryFolder } from './directory-argument.ts';
import { reportProblems } from './report-problems.ts';

/** As `slipway helmfile diff`: differences are no failure, but not nothing either. */
const changedExitCode = 2;

/** `slipway platform diff`. */
export const diffCommand = defineCommand({
  arguments: directoryArgument,
  connection: true,
  flags: {
    platform: {
      type: 'string',
      value: 'dir',
      summary: 'the platform whose charts and schema count; else the reference platform',
      perCall: true,
    },
    'exit-code': { type: 'boolean', summary: `end with code ${changedExitCode} when something would change` },
  },
  examples: [{ line: 'slipway platform diff . --exit-code' }],
  async run({ terminal, args, flags, connect }) {
    const root = new PlatformRoot(
      flags.platform === undefined ? referencePlatform : resolve(terminal.cwd, flags.platform),
    );
    const source = await repositoryFolder(terminal, args[0]!);
    await using cluster = await connect();
    const scratch = await mkdtemp(join(tmpdir(), 'slipway-diff-'));
    try {
      // Secrets are decrypted on the way: not in the folder of the user.
      await cp(source, scratch, { recursive: true, filter: (path) => !path.slice(source.length).includes('/.git/') });
      const platform = await platformFor(terminal, cluster.client, root, scratch);
      await prepare(platform);
      const parts = await platformDiff(platform);
      terminal.out(partsText(terminal, parts));
      return parts.length > 0 && flags['exit-code'] ? changedExitCode : exitCodes.ok;
    } catch (error) {
      return reportProblems(terminal, error);
    } finally {
      await rm(scratch, { recursive: true, force: true });
    }
  },
});

/** As an apply prepares the values: decrypted, with all defaults, migrated, valid. */
async function prepare(platform: Platform): Promise<void> {
  await decryptSecrets(platform);
  await writeValues(platform, await platform.layers.values('defaults'));
  await migrate(platform);
  validateValues(await platform.layers.files(), await platform.root.schema());
}

async function platformFor(
  terminal: Terminal,
  client: Client,
  root: PlatformRoot,
  directory: string,
): Promise<Platform> {
  const memory = platformMemory(root, directory);
  const settings = settingsFrom(terminal.env, terminal.cwd);
  if (usesSops(directory)) memory.keys.add(await keyOf(client, settings.sopsAgeKey));
  return {
    ...memory,
    settings,
    root,
    directory,
    helmfile: nativeHelmfile({ root, layers: memory.layers, client, clock: terminal.clock }),
    upgrades: [],
    repository: () => {
      throw new TypeError('a diff goes to no repository');
    },
    client,
    clock: terminal.clock,
    random: terminal.random,
    log: silentLogger,
    signal: terminal.signal,
  };
}

async function keyOf(client: Client, given: string | undefined): Promise<string> {
  const place = { namespace: names.operatorNamespace, name: names.sopsSecrets };
  const key = given ?? (await readSecret(client, place))['SOPS_AGE_KEY'];
  if (key) return key;
  throw new CommandError('the key of the secrets is not known', {
    hint: `set SOPS_AGE_KEY, or install the platform first: it keeps the key in the Secret ${place.namespace}/${place.name}`,
    exitCode: exitCodes.failed,
  });
}

function partsText(terminal: Terminal, parts: readonly PartDifference[]): string {
  if (parts.length === 0) return 'nothing would change\n';
  return parts.map(({ part, ...change }) => changeText(terminal, part, change)).join('\n');
}
