import { expect, test } from 'vitest';

import { chartInVersion, inVersion } from './set-version.ts';

test('everything of the repository gets the version, and nothing else does', () => {
  const before = {
    name: '@slipway/harbour',
    version: '0.1.0',
    dependencies: { '@slipway/kube': '0.1.0', yaml: '2.9.1' },
    devDependencies: { '@slipway/testing': '0.1.0' },
    peerDependencies: { '@slipway/reference-cluster': '0.1.0', slipway: '0.1.0' },
  };
  expect(JSON.parse(inVersion(JSON.stringify(before), '0.2.0'))).toEqual({
    name: '@slipway/harbour',
    version: '0.2.0',
    dependencies: { '@slipway/kube': '0.2.0', yaml: '2.9.1' },
    devDependencies: { '@slipway/testing': '0.2.0' },
    peerDependencies: { '@slipway/reference-cluster': '0.2.0', slipway: '0.2.0' },
  });
});

test('so does the chart, and its format keeps its own', () => {
  const chart = 'apiVersion: v2\nname: slipway\nversion: 0.1.0\nappVersion: 0.1.0\n';
  expect(chartInVersion(chart, '0.2.0')).toBe('apiVersion: v2\nname: slipway\nversion: 0.2.0\nappVersion: 0.2.0\n');
});
