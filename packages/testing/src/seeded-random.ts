import { createHash } from 'node:crypto';
import type { Random } from '@slipway/kube';

/** Randomness that is the same for the same seed. `fork` gives an independent stream, so that two users do not disturb each other. */
export class SeededRandom implements Random {
  readonly #seed: string;
  #count = 0;
  #words: number[] = [];

  constructor(seed: string | number) {
    this.#seed = String(seed);
  }

  fork(name: string): SeededRandom {
    return new SeededRandom(`${this.#seed}/${name}`);
  }

  next(): number {
    return this.#word() / 0x1_0000_0000;
  }

  uuid(): string {
    const hex = Array.from({ length: 4 }, () => this.#word().toString(16).padStart(8, '0')).join('');
    const variant = ((Number.parseInt(hex[16]!, 16) & 0x3) | 0x8).toString(16);
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20)}`;
  }

  /** A whole number from 0 up to, not including, `limit`. */
  below(limit: number): number {
    return Math.floor(this.next() * limit);
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  pick<T>(list: readonly T[]): T {
    return list[this.below(list.length)]!;
  }

  /** Some of `list`, in its order. */
  some<T>(list: readonly T[], probability = 0.5): T[] {
    return list.filter(() => this.chance(probability));
  }

  #word(): number {
    if (this.#words.length === 0) {
      const digest = createHash('sha256')
        .update(`${this.#seed}#${this.#count++}`)
        .digest();
      this.#words = Array.from({ length: 8 }, (_, index) => digest.readUInt32BE(index * 4));
    }
    return this.#words.pop()!;
  }
}
