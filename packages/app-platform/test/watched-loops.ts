import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Clock } from '@slipway/kube';
import type { TestManager } from '@slipway/testing';

import type { AppPlatformOptions } from '../src/controller.ts';
import { remoteHeads, type GitRemote, type RemoteHeads } from '../src/git/remote-head.ts';
import { names } from '../src/names.ts';
import type { Helmfile } from '../src/platform/helmfile.ts';
import { nativeHelmfile } from '../src/platform/native-helmfile.ts';
import { referencePlatform, type PlatformWorld } from './platform-kit.ts';
import { tellingWrites } from './told-writes.ts';

/** An apply as its records tell it, at times of the clock of its cluster. */
export interface Apply {
  readonly trigger: string;
  readonly commitHash: string;
  readonly begunAt: number;
  /** Which releases it asked for, one entry for each time. */
  readonly selections: readonly string[];
  readonly endedAt?: number;
  readonly status?: string;
  readonly error?: string;
}

/** The two loops of a platform, as they are seen from outside, and what can be done to them. */
export interface WatchedLoops {
  readonly running: TestManager;
  readonly applies: readonly Apply[];
  /** When Git was asked where its branches are. */
  readonly asked: readonly number[];
  /** How often Git had been asked when a connection to it was closed. */
  readonly closedAt: readonly number[];
  /** What an apply waits for in its middle. */
  holdUp: (clock: Clock) => Promise<void>;
  /** Whether applies fail. */
  failing: boolean;
  /** Whether Git answers nothing. */
  unreachable: boolean;
}

export async function watchLoops(world: PlatformWorld): Promise<WatchedLoops> {
  const { cluster } = world;
  const { clock } = cluster;
  const applies: { -readonly [Field in keyof Apply]: Apply[Field] }[] = [];
  const selections: string[][] = [];
  const asked: number[] = [];
  const closedAt: number[] = [];

  const helmfile = (...[{ client, clock: time }, layers]: Parameters<AppPlatformOptions['helmfile']>): Helmfile => {
    const real = nativeHelmfile({ root: referencePlatform, layers, client, clock: time });
    return {
      ...real,
      async list(selection) {
        selections.at(-1)?.push(selection?.selectors?.join() ?? 'all');
        if (loops.failing) throw new Error('told to fail');
        return await real.list(selection);
      },
      async template(selection) {
        await loops.holdUp(time);
        return await real.template(selection);
      },
    };
  };
  const heads = (remote: GitRemote): RemoteHeads => {
    const real = remoteHeads(remote);
    return {
      async read(signal) {
        asked.push(clock.now());
        if (loops.unreachable) throw new Error('the Git server is down');
        return await real.read(signal);
      },
      async [Symbol.asyncDispose]() {
        closedAt.push(asked.length);
        await real[Symbol.asyncDispose]();
      },
    };
  };
  const transport = tellingWrites(cluster.transport(), (object) => {
    if (object.metadata?.name !== names.operatorState) return;
    const { status, trigger = '', commitHash = '', errorMessage } = dataOf(object);
    if (status === 'in-progress') {
      selections.push([]);
      applies.push({ trigger, commitHash, begunAt: clock.now(), selections: selections.at(-1)! });
    } else
      Object.assign(applies.at(-1)!, {
        endedAt: clock.now(),
        status,
        ...(errorMessage === undefined ? {} : { error: errorMessage }),
      });
  });
  const loops = {
    running: undefined as unknown as TestManager,
    applies,
    asked,
    closedAt,
    holdUp: async (_clock: Clock) => undefined,
    failing: false,
    unreachable: false,
  };
  loops.running = await cluster.run([world.controller({ helmfile, heads })], { cluster: { transport } });
  await world.applied();
  return loops;
}

function dataOf(object: object): Record<string, string> {
  return (object as { data?: Record<string, string> }).data ?? {};
}

/** The values of an app that has so many replicas: a change that is no team's. */
export function replicas(count: number): Record<string, string> {
  return { 'env/apps/console.yaml': `kind: AplApp\nspec:\n    enabled: true\n    replicas: ${count}\n` };
}

/** Processes that are started while something happens, and how often the Git server of the test, which is in this process, started one. */
export async function forksDuring(work: () => Promise<void>): Promise<{ forks: string[]; served: number }> {
  const forks: string[] = [];
  let served = 0;
  const note = (message: unknown): void => {
    const { process: child } = message as { process: { spawnargs?: readonly string[] } };
    setImmediate(() => {
      if (child.spawnargs?.[1] === 'http-backend') served += 1;
      else forks.push(String(child.spawnargs));
    });
  };
  subscribe('child_process', note);
  try {
    await work();
  } finally {
    unsubscribe('child_process', note);
  }
  return { forks, served };
}
