import { describe, expect, it } from 'vitest';
import { startCluster } from './cluster.ts';
import type { ApiObject } from './object.ts';

describe('a cluster in this process', () => {
  it('stores, shows, changes and removes objects without a socket', async () => {
    await using cluster = await startCluster();
    const { transport } = cluster;
    const path = '/api/v1/namespaces/default/configmaps';
    const send = async (method: 'GET' | 'POST' | 'PUT' | 'DELETE', url: string, body?: unknown) => {
      const response = await transport.send({
        method,
        path: url,
        headers: { 'content-type': 'application/json' },
        ...(body ? { body: JSON.stringify(body) } : {}),
      });
      return { status: response.status, body: JSON.parse(response.body.toString()) as ApiObject };
    };
    const created = await send('POST', path, { metadata: { name: 'a' }, data: { x: '1' } });
    expect(created.status).toBe(201);
    expect(created.body).toMatchObject({ kind: 'ConfigMap', apiVersion: 'v1', data: { x: '1' } });
    const changed = await send('PUT', `${path}/a`, { ...created.body, data: { x: '2' } });
    expect(changed.status).toBe(200);
    expect(Number(changed.body.metadata.resourceVersion)).toBeGreaterThan(
      Number(created.body.metadata.resourceVersion),
    );
    expect((await send('GET', `${path}/a`)).body).toEqual(changed.body);
    expect((await send('DELETE', `${path}/a`)).body).toMatchObject({ kind: 'Status', status: 'Success' });
    expect((await send('GET', `${path}/a`)).status).toBe(404);
  });

  it('answers the same over HTTP and tells watchers', async () => {
    await using cluster = await startCluster({ port: 0 });
    const lines: string[] = [];
    const seen = new Promise<void>((resolve) => {
      cluster.transport.open(
        { method: 'GET', path: '/api/v1/configmaps?watch=true' },
        {
          head: () => undefined,
          data(chunk) {
            lines.push(...chunk.toString().trim().split('\n'));
            if (lines.some((line) => line.includes('"over-http"'))) resolve();
          },
          end: () => undefined,
          error: () => undefined,
        },
      );
    });
    // oxlint-disable-next-line no-restricted-globals -- the point is a client that is not ours
    const response = await fetch(`${cluster.url}/api/v1/namespaces/default/configmaps`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ metadata: { name: 'over-http' } }),
    });
    expect(response.status).toBe(201);
    await seen;
    expect(JSON.parse(lines.at(-1)!)).toMatchObject({ type: 'ADDED', object: { metadata: { name: 'over-http' } } });
  });
});
