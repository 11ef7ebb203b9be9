import { expect, test } from 'vitest';

import { startCluster } from '../index.ts';

async function warningsOf(path: string, body: object, method = 'POST'): Promise<unknown> {
  await using cluster = await startCluster({ controllers: 'none' });
  const { headers, status } = await cluster.transport.send({
    method: method as 'POST',
    path,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  expect(status).toBe(201);
  return headers['warning'];
}

test.each([
  [
    '/api/v1/namespaces/default/resourcequotas',
    { metadata: { name: 'q' }, spec: { hard: { pods: '1' } } },
    ['299 - "this server stores resourcequotas and does not act on them: nothing is counted and nothing is refused"'],
  ],
  [
    '/apis/batch/v1/namespaces/default/jobs',
    {
      metadata: { name: 'j' },
      spec: {
        podFailurePolicy: { rules: [{ action: 'FailJob', onExitCodes: { operator: 'In', values: [1] } }] },
        template: { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] } },
      },
    },
    ['299 - "spec.podFailurePolicy: this server stores it and does not act on it"'],
  ],
  [
    '/api/v1/namespaces',
    { metadata: { name: 'n', labels: { 'pod-security.kubernetes.io/enforce': 'restricted' } } },
    ['299 - "metadata.labels[pod-security.kubernetes.io/enforce]: this server does not check the security of pods"'],
  ],
  ['/api/v1/namespaces/default/configmaps', { metadata: { name: 'c' } }, undefined],
])('who writes what has no effect here is told: %s', async (path, body, warning) => {
  expect(await warningsOf(path, body)).toEqual(warning);
});
