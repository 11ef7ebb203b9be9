import { isUnauthorized } from '@slipway/kube';

import type { Target } from './target.ts';

/** What an API server does when it is asked how it is: it may also be well, and not know who asks. */
export type Reachability = 'answers' | 'refuses' | 'silent';

export async function reachability({ client }: Pick<Target, 'client'>): Promise<Reachability> {
  try {
    await client.request({ method: 'GET', path: '/readyz', accept: 'text/plain' });
    return 'answers';
  } catch (error) {
    return isUnauthorized(error) ? 'refuses' : 'silent';
  }
}

/** Whether an API server that was just started answers. Why it does not is nobody's business yet. */
export async function isReachable(target: Pick<Target, 'client'>): Promise<boolean> {
  return (await reachability(target)) === 'answers';
}
