import { VirtualClock } from '@slipway/testing';
import { expect, test } from 'vitest';

import { createLogger } from './create-logger.ts';

function sink(isTTY: boolean) {
  const lines: string[] = [];
  return { lines, isTTY, write: (line: string) => lines.push(line) };
}

test('a cluster gets one JSON object per line, with the clock that was passed in', () => {
  const destination = sink(false);
  const log = createLogger({ destination, clock: new VirtualClock() }).with({ controller: 'website' });
  log.info('reconciled', { reconcileID: 'r-1', count: 2 });
  expect(JSON.parse(destination.lines[0]!)).toEqual({
    level: 'info',
    time: '2026-01-01T00:00:00.000Z',
    controller: 'website',
    reconcileID: 'r-1',
    count: 2,
    msg: 'reconciled',
  });
});

test('an error is printed with type, message and cause, not with whatever else it carries', () => {
  const destination = sink(false);
  const error = Object.assign(new TypeError('no', { cause: new Error('because') }), { request: { token: 'hush' } });
  createLogger({ destination }).error('failed', { error });
  expect(JSON.parse(destination.lines[0]!).error).toMatchObject({
    type: 'TypeError',
    message: 'no',
    cause: { message: 'because' },
  });
  expect(destination.lines[0]).not.toContain('hush');
});

test('a terminal gets readable lines', () => {
  const destination = sink(true);
  const log = createLogger({ destination, clock: new VirtualClock(), level: 'debug' });
  log.with({ name: 'a' }).debug('two words', { note: 'x y', object: { a: 1 } });
  expect(destination.lines).toEqual(['00:00:00.000 DEBUG two words name=a note="x y" object={"a":1}\n']);
});

test('lines below the level are dropped', () => {
  const destination = sink(true);
  createLogger({ destination, level: 'warn' }).info('quiet');
  expect(destination.lines).toEqual([]);
});
