import type { Clock } from '@slipway/kube';

/** Says how long a key that failed has to wait. */
export interface RateLimiter {
  /** Counts one more failure of `key` and returns the wait in milliseconds. */
  delayMs(key: string): number;
  /** The key succeeded: its failures are forgotten. */
  forget(key: string): void;
  /** Failures in a row so far. */
  failures(key: string): number;
}

export interface BackoffOptions {
  /** First wait, in milliseconds. Default 5. */
  baseMs?: number;
  /** Longest wait, in milliseconds. Default 1 000 000 (a bit over 16 minutes). */
  maxMs?: number;
}

/** Each key waits twice as long after every failure in a row. */
export function exponentialBackoff(options: BackoffOptions = {}): RateLimiter {
  const { baseMs = 5, maxMs = 1_000_000 } = options;
  const failures = new Map<string, number>();
  return {
    delayMs(key) {
      const count = failures.get(key) ?? 0;
      failures.set(key, count + 1);
      // 2^1024 is Infinity, which min() handles; no overflow to guard against.
      return Math.min(maxMs, baseMs * 2 ** count);
    },
    forget: (key) => void failures.delete(key),
    failures: (key) => failures.get(key) ?? 0,
  };
}

export interface OverallRateOptions {
  clock: Clock;
  /** Retries per second over all keys, in the long run. Default 10. */
  perSecond?: number;
  /** Retries that may happen at once before the rate bites. Default 100. */
  burst?: number;
}

/** All keys together get at most `perSecond` retries once `burst` is used up. */
export function overallRate(options: OverallRateOptions): RateLimiter {
  const { clock, perSecond = 10, burst = 100 } = options;
  let tokens = burst;
  let last = clock.monotonic();
  return {
    delayMs() {
      const now = clock.monotonic();
      tokens = Math.min(burst, tokens + (Math.max(0, now - last) * perSecond) / 1000);
      last = now;
      tokens -= 1;
      return tokens >= 0 ? 0 : Math.ceil((-tokens * 1000) / perSecond);
    },
    forget: () => undefined,
    failures: () => 0,
  };
}

/** The longest of several waits. Failures are the first limiter's. */
export function slowestOf(first: RateLimiter, ...others: readonly RateLimiter[]): RateLimiter {
  const all = [first, ...others];
  return {
    delayMs: (key) => Math.max(...all.map((limiter) => limiter.delayMs(key))),
    forget: (key) => all.forEach((limiter) => limiter.forget(key)),
    failures: (key) => first.failures(key),
  };
}

/** What controllers use unless told otherwise: 5 ms doubling up to 1000 s for each key, 10 retries a second (burst 100) for all. */
export function defaultRateLimiter(clock: Clock): RateLimiter {
  return slowestOf(exponentialBackoff(), overallRate({ clock }));
}
