import { expect, it } from 'vitest';
import { compareRuns } from './compare.ts';
import { normalise } from './normalise.ts';

const answer = { status: 200, headers: { 'content-type': 'application/json' }, text: '' };
const now = Date.UTC(2026, 5, 1);
const run = (...bodies: unknown[]) =>
  normalise(
    bodies.map((body) => ({ step: 's', answer, body })),
    now,
  ).map(({ body }) => body);
const uid = (digit: string) =>
  `${digit.repeat(8)}-${digit.repeat(4)}-${digit.repeat(4)}-${digit.repeat(4)}-${digit.repeat(12)}`;

it('identities are numbered as they appear and versions by their size', () => {
  const first = run(
    { metadata: { name: 'a', uid: uid('a'), resourceVersion: '90' } },
    { metadata: { name: 'b', uid: uid('b'), resourceVersion: '70' } },
    { metadata: { name: 'a', uid: uid('a'), resourceVersion: '90' } },
  );
  expect(first.map(({ metadata }) => [metadata.uid, metadata.resourceVersion])).toEqual([
    ['U1', 'R2'],
    ['U2', 'R1'],
    ['U1', 'R2'],
  ]);
});

it('the version of a list is told by what it covers', () => {
  const object = { metadata: { name: 'a', uid: uid('a'), resourceVersion: '90' } };
  const [, before, after] = run(
    object,
    { metadata: { resourceVersion: '89' } },
    { metadata: { resourceVersion: '95' } },
  );
  expect([before.metadata.resourceVersion, after.metadata.resourceVersion]).toEqual(['≥R0', '≥R1']);
});

it('times about now become T, those to come keep their distance, others stay', () => {
  expect(
    run({
      a: '2026-06-01T00:00:00Z',
      b: '2026-06-01T00:00:31Z',
      c: '2020-01-01T00:00:00Z',
      d: '2026-06-01T00:00:00.123456Z',
    }),
  ).toEqual([{ a: 'T', b: 'T+30s', c: '2020-01-01T00:00:00Z', d: 'T.000000' }]);
});

it('generated names, tokens and ports are replaced everywhere', () => {
  expect(
    run(
      { metadata: { generateName: 'a-', name: 'a-x7k2p' } },
      { message: 'a-x7k2p uses eyJh.eyJi.c on 127.0.0.1:4711' },
    ),
  ).toEqual([{ metadata: { generateName: 'a-', name: 'a-XXXXX' } }, { message: 'a-XXXXX uses JWT on 127.0.0.1:PORT' }]);
});

it('a difference names its step and path; the order of keys is none, that of lists is', () => {
  const exchange = (body: unknown, code = 200) => [{ step: 's', code, headers: {}, body }];
  expect(compareRuns('c', exchange({ a: 1, b: 2 }), exchange({ b: 2, a: 1 }))).toEqual([]);
  expect(compareRuns('c', exchange({ a: [1, 2] }), exchange({ a: [2, 1] })).map(({ path }) => path)).toEqual([
    'body.a.0',
    'body.a.1',
  ]);
  expect(compareRuns('c', exchange({}), exchange({ message: 'x' }, 404))).toMatchObject([
    { path: 'code', actual: '404: x' },
  ]);
  expect(compareRuns('c', exchange({}), [])).toMatchObject([{ path: 'step' }]);
});
