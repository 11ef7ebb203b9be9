import { describe, expect, test } from 'vitest';

import { compileJsonPath } from './json-path.ts';

const object = {
  metadata: { labels: { 'app.kubernetes.io/name': 'shop' } },
  spec: { ports: [{ port: 80 }, { port: 443 }] },
  status: {
    phase: 'Running',
    ready: true,
    conditions: [
      { type: 'Synced', status: 'True' },
      { type: 'Ready', status: 'False', reason: 'Waiting' },
    ],
  },
};

describe('a JSON path', () => {
  test.each([
    ['.status.phase', ['Running']],
    ['status.phase', ['Running']],
    ['$.status.phase', ['Running']],
    ['{.status.phase}', ['Running']],
    ['.spec.ports[0].port', [80]],
    ['.spec.ports[-1].port', [443]],
    ['.spec.ports[9].port', []],
    ['.spec.ports[*].port', [80, 443]],
    [".metadata.labels['app.kubernetes.io/name']", ['shop']],
    ['.status.conditions[?(@.type=="Ready")].status', ['False']],
    [".status.conditions[?(@.type != 'Ready')].type", ['Synced']],
    ['.status.nothing.here', []],
    ['.status.phase.length', []],
    ['.constructor', []],
  ])('%s', (path, values) => {
    expect(compileJsonPath(path)(object)).toEqual(values);
  });

  test.each(['', '{}', '.status..phase', '.status.conditions[?(@.type~"x")]', '.a[', '.a b'])(
    'refuses %j and shows the place',
    (path) => {
      expect(() => compileJsonPath(path)).toThrow(/is not a path/);
    },
  );
});
