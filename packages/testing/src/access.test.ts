import { expect, test } from 'vitest';

import { accessOf } from './access.ts';

test.each([
  ['GET', '/api/v1/namespaces/default/pods', { verb: 'list', group: '', resource: 'pods' }],
  ['GET', '/apis/apps/v1/deployments?watch=1', { verb: 'watch', group: 'apps', resource: 'deployments' }],
  ['GET', '/api/v1/namespaces/default/pods/a/log', { verb: 'get', group: '', resource: 'pods/log', name: 'a' }],
  ['GET', '/api/v1/namespaces/default', { verb: 'get', group: '', resource: 'namespaces', name: 'default' }],
  ['PUT', '/api/v1/namespaces/a/finalize', { verb: 'update', group: '', resource: 'namespaces/finalize', name: 'a' }],
  ['POST', '/api/v1/namespaces', { verb: 'create', group: '', resource: 'namespaces' }],
  [
    'PATCH',
    '/apis/sea.example.org/v1/namespaces/a/boats/b/status?fieldManager=x',
    { verb: 'patch', group: 'sea.example.org', resource: 'boats/status', name: 'b' },
  ],
  ['DELETE', '/api/v1/namespaces/a/secrets', { verb: 'deletecollection', group: '', resource: 'secrets' }],
  ['DELETE', '/api/v1/nodes/n', { verb: 'delete', group: '', resource: 'nodes', name: 'n' }],
  ['GET', '/apis/apps/v1', undefined],
  ['GET', '/api', undefined],
  ['GET', '/version', undefined],
] as const)('%s %s', (method, path, access) => {
  expect(accessOf({ method, path })).toEqual(access);
});
