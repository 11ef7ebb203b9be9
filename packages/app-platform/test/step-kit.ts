import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock, systemRandom, type Client } from '@slipway/kube';
import { memoryLogger, type LogEntry } from '@slipway/runtime';
import { stringify } from 'yaml';

import { nativeHelmfile } from '../src/platform/native-helmfile.ts';
import type { Platform } from '../src/platform/platform.ts';
import { platformMemory } from '../src/platform/platform-memory.ts';
import { settingsFrom } from '../src/settings.ts';
import { PlatformRoot } from '../src/values/platform-root.ts';
import { referencePlatform } from '../src/values/reference-platform.ts';
import type { Tree } from '../src/values/tree.ts';
import { writeFiles } from './git-kit.ts';

/** A platform whose steps a test takes one by one: a folder, the reference platform, and nobody who runs them by himself. */
export interface StepPlatform extends AsyncDisposable {
  readonly platform: Platform;
  readonly logs: readonly LogEntry[];
  /** Every file of the working copy. */
  files(): Promise<Record<string, string>>;
}

export interface StepPlatformOptions {
  /** What `VALUES_INPUT` holds. Default: an empty map. */
  readonly values?: Tree;
  /** Files of the working copy before the first step. */
  readonly files?: Readonly<Record<string, string>>;
  /** For steps that go to the cluster. */
  readonly client?: Client;
  readonly change?: Partial<Platform>;
}

export async function stepPlatform(options: StepPlatformOptions = {}): Promise<StepPlatform> {
  const { values = {}, files = {}, client = noCluster, change = {} } = options;
  const folder = await mkdtemp(join(tmpdir(), 'slipway-step-'));
  const valuesInput = join(folder, 'values.yaml');
  const directory = join(folder, 'env');
  await writeFile(valuesInput, stringify(values));
  await writeFiles(directory, files);
  const root = new PlatformRoot(referencePlatform);
  const memory = platformMemory(root, directory);
  const logs: LogEntry[] = [];
  const clock = systemClock;
  return {
    logs,
    platform: {
      ...memory,
      settings: { ...settingsFrom({ VALUES_INPUT: valuesInput }, folder), envDir: directory },
      root,
      directory,
      helmfile: nativeHelmfile({ root, layers: memory.layers, client, clock }),
      upgrades: [],
      repository: () => {
        throw new Error('this step goes to Git');
      },
      client,
      clock,
      random: systemRandom,
      log: memoryLogger(logs),
      signal: new AbortController().signal,
      ...change,
    },
    files: async () => await filesBelow(directory),
    [Symbol.asyncDispose]: async () => await rm(folder, { recursive: true, force: true }),
  };
}

/** What goes to the cluster without having been given one fails. */
const noCluster = new Proxy({} as Client, {
  get(_target, method) {
    throw new Error(`this step goes to the cluster: ${String(method)}`);
  },
});

async function filesBelow(directory: string): Promise<Record<string, string>> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true }).catch(() => []);
  const paths = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const files = paths.sort().map(async (path) => [path.slice(directory.length + 1), await readFile(path, 'utf8')]);
  return Object.fromEntries(await Promise.all(files)) as Record<string, string>;
}
