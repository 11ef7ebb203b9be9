import type { Clock } from '../clock.ts';
import type { LocalClient } from '../local-client.ts';
import type { Random } from '../random.ts';
import type { InformerSet } from './informer-set.ts';

/** Where a controller says what it could not do. */
export type Log = (message: string, fields?: Readonly<Record<string, unknown>>) => void;

/** What every controller is given. */
export interface ControllerContext {
  readonly client: LocalClient;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** Caches shared by all controllers. */
  readonly informers: InformerSet;
}

export interface RunningController {
  stop(): void;
}
