import { setTimeout as wait } from 'node:timers/promises';
import { systemClock } from '@slipway/kube';

import { Attempt } from './attempt.ts';
import type { TestCluster } from './test-cluster.ts';

/**
 * Real programs wait long before they give each other up: kube-apiserver notices a member of etcd that swallows packets after 40 s, and
 * controllers that lost their lease meanwhile lead again 15 s later; twice that on a busy machine.
 */
const machinePatienceMs = 150_000;

/** The time of the machine, which a real cluster lives on. */
export const machineTime: Pick<TestCluster, 'clock' | 'eventually' | 'advance'> = {
  clock: systemClock,
  async eventually(what, check, { withinMs = machinePatienceMs } = {}) {
    const attempt = new Attempt(what, check);
    const end = systemClock.now() + Math.min(withinMs, machinePatienceMs);
    while (!(await attempt.succeeds())) {
      if (systemClock.now() > end) throw attempt.failure(undefined);
      await wait(50);
    }
    return attempt.result();
  },
  advance: (ms) => wait(ms),
};
