import { systemClock, systemRandom, type Clock, type Random } from '@slipway/kube/command';
import type { GoMap } from '../go/values.ts';
import type { Run } from '../template/run.ts';
import { secureBytes } from './secure-bytes.ts';

/** What chart functions need from outside. One per render. */
export interface FunctionEnvironment {
  readonly clock: Clock;
  readonly random: Random;
  /** Random bytes for keys, passwords and nonces. */
  readonly randomBytes: (size: number) => Uint8Array;
  /** An IANA zone or `UTC`: what Go calls `Local`. */
  readonly timeZone: string;
  /** Answers what the cluster holds, without waiting; an empty map when there is nothing. */
  readonly lookup: (apiVersion: string, kind: string, namespace: string, name: string) => GoMap;
  /** How often each template is being included at this moment. */
  readonly including: Map<string, number>;
}

export function environmentOf(run: Run): FunctionEnvironment {
  return run.environment as FunctionEnvironment;
}

export interface EnvironmentOptions extends Partial<Omit<FunctionEnvironment, 'timeZone'>> {
  /** A zone, or how to find out when it is first asked for. Default `UTC`. */
  readonly timeZone?: string | (() => string);
}

/** An environment with what is given, and the usual for the rest: the clock and the randomness of the machine, a `lookup` that finds nothing. */
export function makeEnvironment(options: EnvironmentOptions = {}): FunctionEnvironment {
  const { timeZone = 'UTC' } = options;
  let found = typeof timeZone === 'string' ? timeZone : undefined;
  return {
    clock: options.clock ?? systemClock,
    random: options.random ?? systemRandom,
    randomBytes: options.randomBytes ?? secureBytes,
    get timeZone() {
      return (found ??= (timeZone as () => string)());
    },
    lookup: options.lookup ?? (() => new Map()),
    including: options.including ?? new Map(),
  };
}

/**
 * The same environment for whoever wants to know whether a result depends on more than its input: `used` is called whenever the clock,
 * chance or the cluster is asked for.
 */
export function watchedEnvironment(environment: FunctionEnvironment, used: () => void): FunctionEnvironment {
  const watched = <T>(value: T): T => {
    used();
    return value;
  };
  return {
    including: environment.including,
    get timeZone() {
      return environment.timeZone;
    },
    get clock() {
      return watched(environment.clock);
    },
    get random() {
      return watched(environment.random);
    },
    get randomBytes() {
      return watched(environment.randomBytes);
    },
    get lookup() {
      return watched(environment.lookup);
    },
  };
}
