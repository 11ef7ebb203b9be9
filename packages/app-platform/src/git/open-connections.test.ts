import { expect, test } from 'vitest';

import { OpenConnections } from './open-connections.ts';

function noting(): { closed: string[]; connection: (name: string) => AsyncDisposable } {
  const closed: string[] = [];
  return { closed, connection: (name) => ({ [Symbol.asyncDispose]: async () => void closed.push(name) }) };
}

test('a controller that stops closes its connection', async () => {
  const { closed, connection } = noting();
  const connections = new OpenConnections();
  const stop = connections.start();
  await connections.during(async () => await connections.keep(connection('git')));
  expect(closed).toEqual([]);
  stop();
  expect(closed).toEqual(['git']);
});

test('a round that is running when the controller stops keeps its connection to the end, and none begins after it', async () => {
  const { closed, connection } = noting();
  const connections = new OpenConnections();
  const stop = connections.start();
  const work = Promise.withResolvers<string>();
  const round = connections.during(async () => {
    await connections.keep(connection('git'));
    return await work.promise;
  });
  stop();
  expect(await connections.during(async () => 'begun')).toBeUndefined();
  expect(closed).toEqual([]);
  work.resolve('done');
  expect(await round).toBe('done');
  expect(closed).toEqual(['git']);
});

test('an attempt that is made again closes the connection of the one before', async () => {
  const { closed, connection } = noting();
  const connections = new OpenConnections();
  await connections.keep(connection('first'));
  await connections.keep(connection('second'));
  expect(closed).toEqual(['first']);
});
