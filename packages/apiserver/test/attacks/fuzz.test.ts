import { afterAll, beforeAll, expect, it } from 'vitest';
import { startCluster, type Cluster } from '../../src/index.ts';
import { corpus } from '../fuzz/corpus.ts';
import { dice, mutated, type RawRequest } from '../fuzz/mutate.ts';
import { costlyRequests, thingsCrd } from './costly-requests.ts';

/** `SLIPWAY_FUZZ=100000` is the long run; the seed makes any run the same again. */
const total = Number(process.env['SLIPWAY_FUZZ'] ?? (process.env['SLIPWAY_ATTACKS'] ? 8_000 : 1_000));
const seed = Number(process.env['SLIPWAY_SEED'] ?? 20_261_115);
const rounds = 4;
/** Processor time, not time on the wall: other programs of this machine do not count. */
const mostCpuMs = 1_000;

let cluster: Cluster;
let kept: ReadonlyMap<string, ReadonlySet<string>>;
beforeAll(async () => {
  cluster = await startCluster({ controllers: 'core', crds: [thingsCrd] });
  await cluster.synced();
  const { store } = cluster.server;
  kept = new Map(store.storageIds().map((id) => [id, new Set(store.list(id).map(({ key }) => key))]));
});
afterAll(() => cluster.stop());

function requestOf(roll: (bound: number) => number): RawRequest {
  if (roll(40) > 0) return mutated(corpus[roll(corpus.length)]!, roll(2 ** 31));
  const { request, largest } = costlyRequests[roll(costlyRequests.length)]!;
  const { method, path, type, body } = request(2 + roll(Math.ceil(largest / 50)));
  return mutated({ method, path, headers: { 'content-type': type }, body: Buffer.from(body) }, roll(2 ** 31));
}

/** What was made on the way goes, as if nothing had been. */
function cleanUp(): number {
  const { store } = cluster.server;
  for (const id of store.storageIds()) {
    for (const { key } of store.list(id)) if (!kept.get(id)?.has(key)) store.delete(id, key);
  }
  cluster.compact();
  globalThis.gc!();
  const { heapUsed, external } = process.memoryUsage();
  return (heapUsed + external) / 1e6;
}

it(
  `${total} hostile requests: none without an answer, none of a second, none that leaves something behind`,
  { timeout: 3_600_000 },
  async () => {
    const roll = dice(seed);
    const slow: string[] = [];
    const accidents: string[] = [];
    const heaps: number[] = [];
    let longest = 0;
    for (let round = 0; round < rounds; round += 1) {
      for (let count = 0; count < total / rounds; count += 1) {
        const request = requestOf(roll);
        const before = process.cpuUsage();
        const answer = await cluster.server.handle({ ...request, body: request.body ?? new Uint8Array() });
        const { user, system } = process.cpuUsage(before);
        const cpuMs = (user + system) / 1_000;
        longest = Math.max(longest, cpuMs);
        const told = `${request.method} ${request.path} ${request.body?.toString('utf8', 0, 200) ?? ''}`;
        if (cpuMs > mostCpuMs) slow.push(`${Math.round(cpuMs)} ms: ${told}`);
        const text = Buffer.from(answer.body ?? []).toString('utf8', 0, 300);
        if (answer.status === 500 && text.includes('"InternalError"')) accidents.push(`${told}: ${text}`);
        answer.stream?.({ write: () => true, end() {} }).close();
        // Timers, sockets and controllers have their turn, as between requests from outside.
        if (count % 100 === 0) await new Promise((resolve) => setImmediate(resolve));
      }
      heaps.push(cleanUp());
    }
    const grown = heaps.at(-1)! - heaps[0]!;
    process.stdout.write(
      `${total} requests: ${Math.round(longest)} ms for the slowest, ${grown.toFixed(1)} MB grown\n`,
    );
    expect(slow).toEqual([]);
    expect(accidents).toEqual([]);
    const ready = await cluster.server.handle({ method: 'GET', path: '/readyz', headers: {} });
    expect(ready.status).toBe(200);
    // After the first round every cache is warm.
    expect(grown).toBeLessThan(20);
  },
);
