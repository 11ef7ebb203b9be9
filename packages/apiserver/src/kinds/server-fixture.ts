import { startCluster } from '../cluster.ts';
import type { ApiObject, JsonObject } from '../object.ts';

/** A request to a cluster of this test, with the answer as JSON. */
export type Send = (
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE',
  path: string,
  body?: unknown,
  headers?: Readonly<Record<string, string>>,
) => Promise<{ status: number; body: ApiObject & JsonObject; headers: Readonly<Record<string, unknown>> }>;

export interface Fixture {
  readonly send: Send;
  stop(): Promise<void>;
}

/** Starts a cluster without controllers for one test file; tests share it and keep apart by names. */
export async function startFixture(): Promise<Fixture> {
  const cluster = await startCluster({ controllers: 'none' });
  return {
    async send(method, path, body, headers = {}) {
      const response = await cluster.transport.send({
        method,
        path,
        headers: { 'content-type': 'application/json', ...headers },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      return {
        status: response.status,
        body: JSON.parse(response.body.toString()) as ApiObject & JsonObject,
        headers: response.headers,
      };
    },
    stop: () => cluster.stop(),
  };
}

export const mergePatch: Readonly<Record<string, string>> = { 'content-type': 'application/merge-patch+json' };
export const asTable: Readonly<Record<string, string>> = { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' };
