import type { TestCluster } from '@slipway/testing';

import { BtpOperator } from '../src/api.ts';
import { reasonIn } from './kit.ts';

/** The reasons BtpOperators go through, none left out, however short it is there. */
export interface PassedReasons {
  /** Lets time pass until one of them has had the reason, and returns it as it was then. */
  had(reason: string, options?: { withinMs?: number }): Promise<BtpOperator>;
}

/**
 * Follows BtpOperators from now on with a watch, on either kind of cluster. A module that fails while it is ready shows `ReconcileFailed`
 * until the next try only, which comes soon on a real cluster: whoever looks now and then may never see it.
 */
export async function passedReasons(cluster: TestCluster): Promise<PassedReasons> {
  const { client } = cluster;
  const passed: BtpOperator[] = [];
  const { resourceVersion } = await client.listPage(BtpOperator);
  const follow = async (): Promise<never> => {
    for await (const { type, object } of client.watch(BtpOperator, { resourceVersion })) {
      if (type === 'ADDED' || type === 'MODIFIED') passed.push(object);
    }
    throw new Error('the watch of BtpOperators ended before its time');
  };
  let failure: unknown;
  void follow().catch((error: unknown) => (failure = error));
  return {
    had: (reason, options) =>
      cluster.eventually(
        `a BtpOperator has had ${reason}`,
        () => {
          const found = passed.find((btp) => reasonIn(btp) === reason);
          if (!found && failure !== undefined) throw failure;
          return found;
        },
        options,
      ),
  };
}
