import { VirtualClock } from '@slipway/testing/virtual-clock';
import { expect, test } from 'vitest';

import { createCache } from '../src/cache/create-cache.ts';
import { createClient } from '../src/client/create-client.ts';
import type { Kind } from '../src/kind.ts';
import { mutable } from '../src/mutable.ts';
import { systemRandom } from '../src/random.ts';
import type { KubeObject } from '../src/object.ts';
import type { StreamHandler, Transport } from '../src/transport.ts';

const Counter: Kind<KubeObject & { spec: { limit: unknown }; status?: unknown }> = {
  group: 'example.com',
  version: 'v1',
  kind: 'Counter',
  plural: 'counters',
  scope: 'Namespaced',
  apiVersion: 'example.com/v1',
};
const key = { namespace: 'default', name: 'a' };
const counter = (limit: string, version: string) =>
  `{"apiVersion":"example.com/v1","kind":"Counter","metadata":{"namespace":"default","name":"a","uid":"u","resourceVersion":"${version}"},"spec":{"limit":${limit}}}`;

/** A server that holds one object with a large integer and writes down what it is sent. */
function server(): Transport & { readonly bodies: string[]; watch: StreamHandler | undefined } {
  const bodies: string[] = [];
  return {
    bodies,
    watch: undefined,
    async send({ body }) {
      if (body !== undefined) bodies.push(String(body));
      return { status: 200, headers: {}, body: Buffer.from(counter('9007199254740993', '7')) };
    },
    open(request, handler) {
      const watches = request.path.includes('watch=');
      const streamed = request.path.includes('sendInitialEvents=');
      if (watches && !streamed) this.watch = handler;
      setImmediate(() => {
        handler.head(streamed ? 422 : 200, {});
        const list = `{"kind":"CounterList","metadata":{"resourceVersion":"7"},"items":[${counter('9007199254740993', '7')}]}`;
        if (!watches) handler.data(Buffer.from(list));
        if (streamed || !watches) handler.end();
      });
      return { abort: () => undefined };
    },
    close: async () => undefined,
  };
}

test('9007199254740993 goes unchanged from the server through the client and back', async () => {
  const transport = server();
  const client = createClient({ transport, fieldManager: 'test', kinds: [Counter] });
  const read = (await client.get(Counter, key))!;
  expect(JSON.stringify(read.spec)).toBe('{"limit":9007199254740993}');
  await client.update(read);
  await client.apply({ ...read, spec: mutable(read.spec) });
  await client.setStatus(read, { seen: read.spec.limit });
  expect(transport.bodies).toHaveLength(3);
  for (const body of transport.bodies) expect(body).toMatch(/"(limit|seen)":9007199254740993\b/);
});

test('9007199254740993 goes unchanged through reflector and cache, from a list and from a watch', async () => {
  const clock = new VirtualClock();
  const transport = server();
  await using cache = createCache({ transport, clock, random: systemRandom });
  const informer = cache.informer(Counter);
  const seen: string[] = [];
  informer.onEvent(({ type, object, old }) => {
    seen.push([type, JSON.stringify(object.spec), JSON.stringify(old?.spec)].join(' '));
  });
  cache.start();
  await clock.runUntil(() => informer.synced && transport.watch !== undefined);
  expect(JSON.stringify((await cache.get(Counter, key))?.spec)).toBe('{"limit":9007199254740993}');
  transport.watch!.data(Buffer.from(`{"type":"MODIFIED","object":${counter('-9223372036854775807', '8')}}\n`));
  await clock.advance(1);
  expect(seen).toEqual([
    'added {"limit":9007199254740993} ',
    'updated {"limit":-9223372036854775807} {"limit":9007199254740993}',
  ]);
  expect(JSON.stringify(await cache.list(Counter))).toContain('"limit":-9223372036854775807');
});
