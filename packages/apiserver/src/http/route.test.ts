import { expect, test } from 'vitest';
import { routeOf } from './route.ts';

test.each([
  ['/api/v1/pods', ['', 'v1', 'pods', '', '', '']],
  ['/api/v1/namespaces/n/pods/p/status', ['', 'v1', 'pods', 'n', 'p', 'status']],
  ['/api/v1/namespaces/n', ['', 'v1', 'namespaces', '', 'n', '']],
  ['/api/v1/namespaces/n/finalize', ['', 'v1', 'namespaces', '', 'n', 'finalize']],
  ['/apis/apps/v1/namespaces/n/deployments/d/scale', ['apps', 'v1', 'deployments', 'n', 'd', 'scale']],
  [
    '/apis/rbac.authorization.k8s.io/v1/clusterroles/system%3Anode',
    ['rbac.authorization.k8s.io', 'v1', 'clusterroles', '', 'system:node', ''],
  ],
  ['/api/v1/watch/namespaces/n/configmaps', ['', 'v1', 'configmaps', 'n', '', '']],
])('%s', (path, expected) => {
  const route = routeOf(path);
  if (route.to !== 'resource') throw new Error('not a resource');
  const { group, version, plural, namespace, name, subresource } = route;
  expect([group, version, plural, namespace, name, subresource]).toEqual(expected);
  expect(route.watch).toBe(path.includes('/watch/'));
});

test.each(['/version', '/api', '/apis', '/apis/apps', '/apis/apps/v1', '/healthz', '/'])(
  '%s is not about objects',
  (path) => {
    expect(routeOf(path).to).toBe('other');
  },
);

test('a broken escape is a bad request', () => {
  expect(() => routeOf('/api/v1/namespaces/%zz/pods')).toThrow('invalid URL escape');
});
