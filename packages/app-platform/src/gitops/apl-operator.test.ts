import { systemClock, type Client, type ConfigMap } from '@slipway/kube';
import { silentLogger } from '@slipway/runtime';
import { expect, test } from 'vitest';

import { GitError } from '../git/git-error.ts';
import { WorkingCopy } from '../git/working-copy.ts';
import { OperatorError } from '../operator-error.ts';
import type { Platform } from '../platform/platform.ts';
import { AplOperator } from './apl-operator.ts';
import type { GitRepository } from './git-repository.ts';

interface Options {
  readonly isStateRefused?: boolean;
  readonly syncAndAnalyzeChanges?: GitRepository['syncAndAnalyzeChanges'];
}

/** An operator whose first step is told what to do, and the states it writes. */
function operatorOver(firstStep: () => Promise<never>, options: Options = {}) {
  const { isStateRefused = false, syncAndAnalyzeChanges } = options;
  const states: string[] = [];
  const leadership = new AbortController();
  const copy = new WorkingCopy({
    directory: '/nowhere',
    remote: { url: 'http://git.example.com/otomi/values.git' },
    branch: 'main',
    identity: { name: 'a', email: 'a@example.com' },
    run: firstStep,
  });
  const operator = new AplOperator({ copy, lastRevision: 'c0ffee', syncAndAnalyzeChanges } as unknown as GitRepository);
  const client = {
    async apply({ data }: ConfigMap) {
      if (isStateRefused) throw new Error('refused');
      states.push(`${data!['status']}${data!['errorMessage'] === undefined ? '' : `: ${data!['errorMessage']}`}`);
    },
  } as unknown as Client;
  const { signal } = leadership;
  const platform = { client, clock: systemClock, log: silentLogger, signal } as unknown as Platform;
  return {
    operator,
    states,
    leadership,
    apply: () => operator.reconcile(platform),
    poll: () => operator.pollAndApplyGitChanges(platform),
  };
}

const failing = async (): Promise<never> => {
  throw new GitError('Failed', 'told to fail');
};

test('the lock is released when a step throws: it shows as failed, and the next apply runs', async () => {
  const { operator, states, apply } = operatorOver(failing);
  for (const _round of [1, 2]) {
    const running = apply();
    await Promise.resolve();
    expect(operator.isApplying).toBe(true);
    await running;
    expect(operator.isApplying).toBe(false);
  }
  expect(states).toEqual(['in-progress', 'failed: told to fail', 'in-progress', 'failed: told to fail']);
});

test('the lock is released when not even the state can be written, and the loop goes on', async () => {
  const { operator, apply } = operatorOver(failing, { isStateRefused: true });
  await apply();
  expect(operator.isApplying).toBe(false);
});

test('the lock is released when leadership is lost in the middle, and nothing is written after that', async () => {
  const reached = Promise.withResolvers<void>();
  const lost = Promise.withResolvers<never>();
  const { operator, states, leadership, apply } = operatorOver(() => {
    reached.resolve();
    return lost.promise;
  });
  const running = apply();
  await reached.promise;
  leadership.abort(new Error('leadership lost'));
  lost.reject(new GitError('Failed', 'given up'));
  await expect(running).rejects.toThrow('leadership lost');
  expect(operator.isApplying).toBe(false);
  expect(states).toEqual(['in-progress']);
});

test('a repository that only people can mend shows in the state once, and when it is back it is applied, changed or not', async () => {
  let trouble: GitError | undefined;
  const { states, poll } = operatorOver(failing, {
    async syncAndAnalyzeChanges() {
      if (trouble) throw new OperatorError('StepFailed', 'sync failed', { cause: trouble });
      return { hasChangesToApply: false, applyTeamsOnly: false };
    },
  });
  await poll();
  expect(states).toEqual([]);
  for (const [code, said] of [
    ['NotFound', ['in-progress', 'failed: sync failed: what to do']],
    // Away for a moment: the next poll finds it.
    ['Unreachable', []],
  ] as const) {
    states.length = 0;
    trouble = new GitError(code, 'what to do');
    for (const _round of [1, 2, 3]) await expect(poll()).rejects.toThrow('sync failed');
    expect([code, states]).toEqual([code, said]);
  }
  trouble = undefined;
  await poll();
  expect(states).toEqual(['in-progress', 'failed: told to fail']);
  await poll();
  expect(states).toHaveLength(2);
});
