import { VirtualClock } from '@slipway/testing/virtual-clock';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { createCache } from '../../src/cache/create-cache.ts';
import type { Client } from '../../src/client.ts';
import { createClient } from '../../src/client/create-client.ts';
import type { Clock } from '../../src/clock.ts';
import { ConfigMap } from '../../src/kinds/core-kinds.ts';
import { KubeError } from '../../src/kube-error.ts';
import { keyText } from '../../src/object.ts';
import { seededRandom } from '../../src/random.ts';
import type { StreamHandler, Transport } from '../../src/transport.ts';
import { HostileAnswers } from './hostile-answers.ts';

/** `SLIPWAY_FUZZ=100000` for a long run; `SLIPWAY_SEED=N` begins with another seed. */
const count = Number(process.env['SLIPWAY_FUZZ'] ?? 3000);
const firstSeed = Number(process.env['SLIPWAY_SEED'] ?? 1);
const timeout = 60_000 + count * 10;
const mostCpuMs = 1000;

/** A clock on which every wait is over at the next turn of the loop: a server that asks for a day costs nothing. */
function hastyClock(): Clock {
  let now = 0;
  return {
    now: () => now,
    monotonic: () => now,
    schedule(delayMs, callback) {
      let live = true;
      setImmediate(() => {
        if (!live) return;
        now += Math.max(0, delayMs);
        callback();
      });
      return { cancel: () => void (live = false) };
    },
  };
}

const uncaught: unknown[] = [];
const note = (error: unknown) => void uncaught.push(error);

beforeAll(() => void process.on('uncaughtException', note).on('unhandledRejection', note));
afterAll(() => void process.off('uncaughtException', note).off('unhandledRejection', note));

const key = { namespace: 'default', name: 'a' };
const object = {
  apiVersion: 'v1' as const,
  kind: 'ConfigMap' as const,
  metadata: { ...key, uid: 'u', resourceVersion: '7' },
};

async function drain(items: AsyncIterable<unknown>): Promise<void> {
  let taken = 0;
  for await (const _item of items) if (++taken > 1000) return;
}

const calls: Readonly<Record<string, (client: Client) => Promise<unknown>>> = {
  get: (client) => client.get(ConfigMap, key),
  list: (client) => drain(client.list(ConfigMap)),
  listPage: (client) => client.listPage(ConfigMap),
  create: (client) => client.create(object),
  update: (client) => client.update(object),
  patch: (client) => client.patch(ConfigMap, key, { type: 'merge', body: { data: {} } }),
  apply: (client) => client.apply(object),
  setStatus: (client) => client.setStatus(object, { a: 1 } as never),
  delete: (client) => client.delete(ConfigMap, key),
  deleteCollection: (client) => client.deleteCollection(ConfigMap),
  addFinalizer: (client) => client.addFinalizer(object, 'example.com/b'),
  removeFinalizer: (client) =>
    client.removeFinalizer(
      { ...object, metadata: { ...object.metadata, finalizers: ['example.com/b'] } },
      'example.com/b',
    ),
  resolve: (client) => client.resolve('example.com/v1', 'Website'),
  resolveGroupKind: (client) => client.resolveGroupKind('example.com', 'Website'),
  discover: (client) => client.discover(),
  serverVersion: (client) => client.serverVersion(),
  canI: (client) => client.canI({ verb: 'get', resource: 'pods' }),
  watch: (client) => drain(client.watch(ConfigMap)),
};

/** Answers every request with the next of the hostile answers; streams get hostile lines in chunks cut anywhere. */
function hostileTransport(answers: HostileAnswers): Transport & { requests: number } {
  return {
    requests: 0,
    async send() {
      this.requests += 1;
      if (answers.pick(true, ...Array.from({ length: 20 }, () => false))) throw new Error('connection reset');
      return answers.response();
    },
    open(_request, handler) {
      this.requests += 1;
      let open = true;
      setImmediate(() => {
        if (open)
          misbehave(
            answers,
            guarded(handler, () => open),
          );
      });
      return { abort: () => void (open = false) };
    },
    close: async () => undefined,
  };
}

function guarded(handler: StreamHandler, open: () => boolean): StreamHandler {
  return {
    head: (status, headers) => open() && handler.head(status, headers),
    data: (chunk) => open() && handler.data(chunk),
    end: () => open() && handler.end(),
    error: (error) => open() && handler.error(error),
  };
}

function misbehave(answers: HostileAnswers, handler: StreamHandler): void {
  handler.head(answers.status(), answers.headers());
  const whole = answers.pick(
    () => answers.body(),
    () => Buffer.from(Array.from({ length: 5 }, () => answers.line()).join('\n')),
  )();
  const cut = Math.floor(whole.length / answers.pick(1, 2, 3));
  handler.data(whole.subarray(0, cut));
  handler.data(whole.subarray(cut));
  if (answers.pick(true, false)) handler.end();
  else handler.error(new Error('connection reset'));
}

describe(`a hostile server, ${count} answers from seed ${firstSeed} on`, () => {
  test(
    'gets an error out of the client that says what was asked, never a crash, a hang or a flood',
    async () => {
      const names = Object.keys(calls);
      const clock = hastyClock();
      const problems: string[] = [];
      globalThis.gc?.();
      const before = process.memoryUsage().heapUsed;
      let longest = 0;
      for (let index = 0; index < count; index += 1) {
        const seed = firstSeed + index;
        const name = names[seed % names.length]!;
        const transport = hostileTransport(new HostileAnswers(seededRandom(seed)));
        const client = createClient({
          transport,
          fieldManager: 'test',
          clock,
          random: seededRandom(seed),
          warn: () => undefined,
        });
        const startedAt = process.cpuUsage();
        try {
          await calls[name]!(client);
        } catch (error) {
          if (!(error instanceof KubeError))
            problems.push(`seed ${seed} ${name}: ${String(error instanceof Error ? error.stack : error)}`);
        }
        const { user, system } = process.cpuUsage(startedAt);
        longest = Math.max(longest, (user + system) / 1000);
        if (transport.requests > 200) problems.push(`seed ${seed} ${name}: ${transport.requests} requests`);
      }
      expect(problems.slice(0, 3)).toEqual([]);
      expect(uncaught).toEqual([]);
      // Processor time, not time on the wall: other programs of this machine do not count.
      expect(longest).toBeLessThan(mostCpuMs);
      globalThis.gc?.();
      const grown = (process.memoryUsage().heapUsed - before) / 1e6;
      process.stdout.write(
        `${count} answers: ${Math.round(longest)} ms for the slowest, ${grown.toFixed(1)} MB grown\n`,
      );
      expect(grown).toBeLessThan(32);
    },
    timeout,
  );

  test(
    'cannot end a cache: once it answers well, the cache is as it should be',
    async () => {
      const rounds = Math.ceil(count / 100);
      globalThis.gc?.();
      const before = process.memoryUsage().heapUsed;
      for (let round = 0; round < rounds; round += 1) {
        const seed = firstSeed + round;
        const answers = new HostileAnswers(seededRandom(seed));
        const hostile = hostileTransport(answers);
        let left = 100;
        const transport: Transport = {
          ...hostile,
          open: (request, handler) =>
            left-- > 0 ? hostile.open(request, handler) : wellBehaved(request.path, handler),
        };
        const clock = new VirtualClock();
        await using cache = createCache({ transport, clock, random: seededRandom(seed) });
        const informer = cache.informer(ConfigMap, { metadataOnly: false });
        informer.onEvent((event) => void event.meta.name);
        cache.start();
        const isGood = () => left <= 0 && [...informer.keys()].map(keyText).join() === 'good/good';
        await clock.runUntil(isGood).catch((cause: unknown) => {
          throw new Error(`seed ${seed}: ${JSON.stringify(cache.status())}, ${String(uncaught[0])}`, { cause });
        });
        expect({ seed, synced: informer.synced }).toEqual({ seed, synced: true });
      }
      expect(uncaught).toEqual([]);
      globalThis.gc?.();
      expect(process.memoryUsage().heapUsed - before).toBeLessThan(32 * 1024 * 1024);
    },
    timeout,
  );
});

/** Above every version a hostile answer claims: the cache holds on to what it saw at a newer one. */
const newest = `1${'0'.repeat(30)}`;

/** One object, at a version newer than anything; what is asked for at another version, or goes on from a token it never gave, is too old. */
function wellBehaved(path: string, handler: StreamHandler): { abort(): void } {
  let open = true;
  const good = { metadata: { namespace: 'good', name: 'good', uid: 'g', resourceVersion: newest } };
  const list = { metadata: { resourceVersion: newest }, items: [good] };
  setImmediate(() => {
    if (!open) return;
    if (path.includes('sendInitialEvents=')) {
      handler.head(422, {});
      handler.end();
    } else if (!path.includes('watch=') && !path.includes('continue=')) {
      handler.head(200, {});
      handler.data(Buffer.from(JSON.stringify(list)));
      handler.end();
    } else if (path.includes(`resourceVersion=${newest}`)) handler.head(200, {});
    else {
      handler.head(410, {});
      handler.end();
    }
  });
  return { abort: () => void (open = false) };
}
