import { newObject, systemClock, systemRandom, type Transport, type TransportRequest } from '@slipway/kube';
import { Operand, operandOperator } from '@slipway/operand';
import { testCluster } from '@slipway/testing';
import { expect, test } from 'vitest';

import { soughtByWords } from '../src/sought-objects.ts';
import { WatchedObjects } from '../src/watched-objects.ts';

/** A transport that counts what is asked for once. Watches are opened, and not counted. */
function counting(inner: Transport, sent: TransportRequest[]): Transport {
  return {
    send: (request, signal) => {
      sent.push(request);
      return inner.send(request, signal);
    },
    open: (request, handler) => inner.open(request, handler),
    close: () => inner.close(),
  };
}

test('however often objects change, they are watched and never read again', async () => {
  await using cluster = await testCluster({ kinds: operandOperator.kinds });
  const sent: TransportRequest[] = [];
  const sought = soughtByWords([operandOperator], ['operands']);
  const { signal } = new AbortController();
  const time = { clock: systemClock, random: systemRandom };
  await using watched = new WatchedObjects({ transport: counting(cluster.transport(), sent) }, time, sought, {
    signal,
  });
  const seen: string[] = [];
  watched.start(({ row, isGone }) => seen.push(`${row.name} ${isGone ? 'gone' : row.state}`));
  await watched.loaded([], signal);
  const before = sent.length;

  for (let round = 0; round < 5; round += 1) {
    await cluster.client.create(newObject(Operand, { metadata: { name: `o-${round}` }, spec: {} }));
    await cluster.eventually('it is seen', () => watched.objects().some(({ name }) => name === `o-${round}`));
  }
  await cluster.client.delete(Operand, { name: 'o-0' });
  await cluster.eventually('its end is seen', () => seen.includes('o-0 gone'));
  expect(watched.objects().map(({ name }) => name)).toEqual(['o-1', 'o-2', 'o-3', 'o-4']);
  expect(sent.slice(before)).toEqual([]);
  expect(watched.problems()).toEqual([]);
});
