import { expect, test } from 'vitest';

import { expandPath } from './migration-path.ts';

const tree = {
  teamConfig: {
    red: { services: [{ ports: [1] }, { ports: [2, 3] }] },
    blue: { services: [] },
  },
};

test.each([
  ['cluster.name', [['cluster', 'name']]],
  ['teamConfig.{team}.settings', ['blue', 'red'].map((team) => ['teamConfig', team, 'settings'])],
  ['teamConfig.{team}.services[].name', ['0', '1'].map((index) => ['teamConfig', 'red', 'services', index, 'name'])],
  [
    'teamConfig.red.services[].ports[]',
    [
      ['teamConfig', 'red', 'services', '0', 'ports', '0'],
      ['teamConfig', 'red', 'services', '1', 'ports', '0'],
      ['teamConfig', 'red', 'services', '1', 'ports', '1'],
    ],
  ],
  ['apps.{team}.x', []],
  ['teamConfig.red.missing[].x', []],
] as [string, string[][]][])(
  '%s means %j: teams in the order of their names, every element of a list',
  (path, places) => {
    expect(expandPath(path, tree)).toEqual(places);
  },
);
