import type { Target } from '../target/target.ts';

/** Whether an API server that was just started answers. Why it does not is nobody's business yet. */
export async function isReachable({ client }: Pick<Target, 'client'>): Promise<boolean> {
  try {
    await client.request({ method: 'GET', path: '/readyz', accept: 'text/plain' });
    return true;
  } catch {
    return false;
  }
}
