import { randomUUID } from 'node:crypto';

/** Where randomness comes from: jitter, identities, request ids. A test passes a seeded one. */
export interface Random {
  /** A number in [0, 1). */
  next(): number;
  /** A version 4 UUID. */
  uuid(): string;
}

/** The randomness of the machine. */
export const systemRandom: Random = {
  next: () => Math.random(),
  uuid: () => randomUUID(),
};

/** The same numbers for the same seed, whatever the machine: for tests and replays. */
export function seededRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = (): number => {
    // A step of mulberry32: small, and good enough for choosing what goes wrong.
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const digit = (): string => Math.floor(next() * 16).toString(16);
  return {
    next,
    uuid: () => 'xxxxxxxx-xxxx-4xxx-axxx-xxxxxxxxxxxx'.replaceAll('x', digit),
  };
}
