import { expect, test } from 'vitest';

import { applicationOf } from './applications.ts';

const release = { name: 'web', namespace: 'team-red', chart: '../../charts/team-workload', installed: true };
const specWith = (values: string): unknown =>
  applicationOf(release, values, 'https://git.example.com/platform.git', 'v1.0.0').spec;

test.each([
  ['nothing', '', ''],
  ['comments', '# replicas: 3\n', ''],
  ['a document without content', '---\n', ''],
  ['a map', 'replicas: 3\n', 'replicas: 3\n'],
  ['a map in brackets', '{ replicas: 3 }\n', '{ replicas: 3 }\n'],
])('values that are %s', (_what, values, expected) => {
  expect(specWith(values)).toMatchObject({ source: { helm: { releaseName: 'web', values: expected } } });
});

test('the path of a chart is that in its repository, wherever the helmfile is', () => {
  expect(specWith('')).toMatchObject({ source: { path: 'charts/team-workload' } });
});
