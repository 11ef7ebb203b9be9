import { randomUUID } from 'node:crypto';

/** Where uids and generated names come from. A test passes a seeded one. */
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
