import { seededRandom } from '../../src/random.ts';
import fc from 'fast-check';
import { expect, test } from 'vitest';

import type { Fault, RequestVerb } from '../faulty-server/fault.ts';
import { makeWorld, Widget } from './world.ts';

type Step =
  | { readonly do: 'put' | 'remove'; readonly key: number; readonly size: number }
  | { readonly do: 'pass'; readonly ms: number }
  | { readonly do: 'fault'; readonly verb: RequestVerb | undefined; readonly fault: Fault }
  | { readonly do: 'compact' | 'resetAll' | 'endWatches' | 'freezeWatches' | 'sendBookmarks' };

const after = fc.nat({ max: 4 });
const fault: fc.Arbitrary<Fault> = fc.oneof(
  fc.record({ type: fc.constant('reset' as const), after: fc.option(after, { nil: undefined }) }),
  fc.record({ type: fc.constant('half-open' as const), after }),
  fc.record({ type: fc.constant('end' as const), after }),
  fc.record({ type: fc.constant('error-event' as const), after, code: fc.constantFrom(410, 429, 500, 504) }),
  fc.record({
    type: fc.constant('garbage' as const),
    after,
    line: fc.constantFrom('garbage', '{}', '{"type":"ADDED","object":{"metadata":{"name":"x"}}}'),
  }),
  fc.record({ type: fc.constant('pieces' as const), bytes: fc.integer({ min: 1, max: 300 }) }),
  fc.record({
    type: fc.constant('drip' as const),
    bytes: fc.integer({ min: 50, max: 500 }),
    everyMs: fc.integer({ min: 1, max: 5_000 }),
  }),
  fc.record({
    type: fc.constant('status' as const),
    code: fc.constantFrom(400, 401, 403, 404, 410, 422, 429, 500, 503, 504),
    retryAfter: fc.option(fc.nat({ max: 20 }), { nil: undefined }),
  }),
  fc.constantFrom<Fault>({ type: 'no-answer' }, { type: 'no-end-marker' }, { type: 'cut-short' }),
);

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 8, arbitrary: fc.record({ do: fc.constant('put' as const), key: fc.nat({ max: 7 }), size: fc.nat() }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('remove' as const), key: fc.nat({ max: 7 }), size: fc.nat() }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('pass' as const), ms: fc.integer({ min: 1, max: 200_000 }) }) },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('fault' as const),
      verb: fc.constantFrom(undefined, 'list', 'watch', 'stream'),
      fault,
    }),
  },
  fc.record({ do: fc.constantFrom('compact', 'resetAll', 'endWatches', 'freezeWatches', 'sendBookmarks') }),
);

test('whatever happens and whatever goes wrong, the cache ends up with what the server has, and handlers heard of it all', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { minLength: 1, maxLength: 40 }),
      fc.boolean(),
      fc.boolean(),
      fc.nat(),
      async (steps, streamLists, bookmarks, seed) => {
        await using world = makeWorld({
          streamLists,
          random: seededRandom(seed),
          log: undefined,
          timings: { pageSize: 3 },
        });
        const { server, clock, informer } = world;
        server.bookmarks = bookmarks;
        // What a handler that believes every event would think exists.
        const heard = new Map<string, number>();
        const contradictions: string[] = [];
        informer.onEvent(({ type, key, object, old }) => {
          const known = heard.get(key.name);
          if (type === 'added' && known !== undefined) contradictions.push(`${key.name} was added twice`);
          if (type === 'updated' && known !== old?.spec.size) contradictions.push(`${key.name} has another old object`);
          if (type === 'deleted' && known === undefined) contradictions.push(`${key.name} was deleted twice`);
          if (type === 'deleted') heard.delete(key.name);
          else heard.set(key.name, object.spec.size);
        });
        world.cache.start();
        for (const next of steps) {
          switch (next.do) {
            case 'put':
              server.put(Widget, { namespace: 'a', name: `w${next.key}`, spec: { size: next.size } });
              break;
            case 'remove':
              server.remove(Widget, `a/w${next.key}`);
              break;
            case 'pass':
              await clock.advance(next.ms);
              break;
            case 'fault':
              server.next(next.verb, next.fault);
              break;
            default:
              server[next.do]();
          }
          expect(server.openAnswers).toBeLessThanOrEqual(1);
        }
        // Long enough for the slowest guard, the longest pause and every fault still planned.
        await clock.advance(3_600_000 * (1 + steps.length / 4));
        const expected = Object.fromEntries(
          [...server.objects(Widget)].map(([key, { spec }]) => [key, (spec as { size: number }).size]),
        );
        expect(await world.contents()).toEqual(expected);
        expect(Object.fromEntries([...heard].map(([name, size]) => [`a/${name}`, size]))).toEqual(expected);
        expect(contradictions).toEqual([]);
        expect(world.status().problem).toBeUndefined();
        expect(server.openWatches).toBe(1);
      },
    ),
    { numRuns: 60 },
  );
}, 300_000);
