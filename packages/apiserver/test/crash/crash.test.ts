import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { Bookkeeper, MortalServer } from './crash-round.ts';

const rounds = process.env['SLIPWAY_SOAK'] === '1' ? 200 : 3;

/** Numbers between 0 and 1, the same ones for the same seed. */
function numbersFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

it(
  `after ${rounds} times kill -9 everything acknowledged is there, the revision never went back and watches go on`,
  { timeout: 60_000 + rounds * 15_000 },
  async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'slipway-crash-'));
    const seed = process.pid;
    const random = numbersFrom(seed);
    try {
      const books = new Bookkeeper();
      for (let round = 0; round < rounds; round += 1) {
        const server = await MortalServer.start(dataDir);
        await books.check(server);
        await books.follow(server);
        let left = 1 + Math.floor(random() * 80);
        let killed: Promise<void> | undefined;
        await books.writeUntilDeath(server, random, () => {
          left -= 1;
          if (left <= 0) killed ??= server.kill();
        });
        await killed;
        expect(books.problems, `seed ${seed}, round ${round}`).toEqual([]);
      }
      const server = await MortalServer.start(dataDir);
      await books.check(server);
      await books.follow(server);
      await server.kill();
      expect(books.problems, `seed ${seed}`).toEqual([]);
      expect(books.acknowledged).toBeGreaterThan(rounds * 3);
    } finally {
      await rm(dataDir, { recursive: true, force: true });
    }
  },
);
