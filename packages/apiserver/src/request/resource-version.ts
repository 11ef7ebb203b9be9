import { ApiError, badRequest, plainInternalError } from '../api-error.ts';
import type { Core } from './core.ts';

const waitMs = 3_000;

/** Reads a `resourceVersion`; empty counts as 0. */
export function parseResourceVersion(text: string, purpose: 'list' | 'get' | 'watch'): number {
  if (text === '' || /^\d{1,19}$/.test(text)) return Number(text);
  const problem = /^\d+$/.test(text) ? 'value out of range' : 'invalid syntax';
  const message = `resourceVersion: Invalid value: ${JSON.stringify(text)}: strconv.ParseUint: parsing ${JSON.stringify(text)}: ${problem}`;
  throw purpose === 'list' ? badRequest(`invalid resource version: ${message}`) : plainInternalError(message);
}

/** Waits until the store has reached a revision; 504 when it does not within three seconds. */
export async function waitForRevision(core: Core, revision: number): Promise<void> {
  const { store, clock } = core;
  if (revision <= store.revision) return;
  const reached = await new Promise<boolean>((resolve) => {
    const settle = (result: boolean) => {
      timer.cancel();
      stop();
      resolve(result);
    };
    const timer = clock.schedule(waitMs, () => settle(false));
    const stop = store.observe((change) => {
      if (change.revision >= revision) settle(true);
    });
  });
  if (reached) return;
  throw new ApiError(
    {
      code: 504,
      reason: 'Timeout',
      message: `Timeout: Too large resource version: ${revision}, current: ${store.revision}`,
      details: {
        causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
        retryAfterSeconds: 1,
      },
    },
    { 'retry-after': '1' },
  );
}
