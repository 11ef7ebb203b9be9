import type { SeededRandom } from '../seeded-random.ts';

/** What happens to one write of the operator. */
export interface WriteFate {
  /** How long it is held before it is sent, and its answer before it arrives, in milliseconds. */
  readonly holdMs: number;
  readonly answerMs: number;
  /** `conflict`, `unavailable`: refused; `lost`: took effect, but the answer never arrives. */
  readonly fault?: 'conflict' | 'unavailable' | 'lost';
  /** Between this write and the one before. */
  readonly before?: Moment;
  /** Between this write and its answer. */
  readonly after?: Moment;
}

/** What may happen between any two writes: a user's next step, somebody's edit, the death of the process, of the API server, of watches. */
export type Moment = 'step' | 'edit' | 'kill' | 'outage' | 'breakWatches';

/** How rough it is. */
export interface Climate {
  /** Possible holds, in milliseconds; often drawn ones stand there several times. */
  readonly holdsMs: readonly number[];
  readonly outagesMs: readonly number[];
  /** How long a process stays dead. */
  readonly downMs: readonly number[];
}

/** Virtual time costs nothing. Holds stay below a lease's renew deadline: a leader that slept is the runtime's own story. */
export const virtualClimate: Climate = {
  holdsMs: [0, 0, 0, 0, 1, 5, 40, 250, 1_500, 6_000],
  outagesMs: [200, 3_000, 25_000],
  downMs: [0, 50, 4_000, 40_000],
};

export const realClimate: Climate = {
  holdsMs: [0, 0, 0, 0, 5, 40, 250],
  outagesMs: [200, 800],
  downMs: [0, 50, 500],
};

/** The fate of the `ordinal`-th write of a lane depends on nothing but seed, lane and number: other lanes do not shift it. */
export function fateOf(random: SeededRandom, lane: string, ordinal: number, climate: Climate): WriteFate {
  const draw = random.fork(`${lane}/${ordinal}`);
  const fault = draw.chance(0.08) ? draw.pick(['conflict', 'unavailable', 'lost'] as const) : undefined;
  const before = draw.chance(0.22) ? draw.pick(moments) : undefined;
  const after = draw.chance(0.1) ? draw.pick(moments) : undefined;
  return {
    holdMs: draw.pick(climate.holdsMs),
    answerMs: draw.chance(0.2) ? draw.pick(climate.holdsMs) : 0,
    ...(fault ? { fault } : {}),
    ...(before ? { before } : {}),
    ...(after ? { after } : {}),
  };
}

/** Steps and edits more often than catastrophes. */
const moments: readonly Moment[] = [
  'step',
  'step',
  'step',
  'edit',
  'edit',
  'edit',
  'kill',
  'kill',
  'outage',
  'breakWatches',
];
