import type { Cache, Client, KubeObject } from '@slipway/kube';
import { ConfigMap } from '@slipway/kube';
import { expect, test } from 'vitest';

import { APIServer } from '../api/components.ts';
import { ManagedControlPlane } from '../api/managed-control-plane.ts';
import { ContractViolation } from './component-error.ts';
import { componentKinds } from './component-type.ts';
import { guardedCache, guardedClient } from './guarded-client.ts';

const key = { namespace: 'default', name: 'demo' };

/** Remembers the calls that got through. */
function recording(): { calls: string[]; client: Client; cache: Cache } {
  const calls: string[] = [];
  const all = new Proxy({}, { get: (_target, verb) => () => calls.push(String(verb)) });
  return { calls, client: all as Client, cache: all as Cache };
}

function objectOf(kind: { apiVersion: string; kind: string }): KubeObject {
  return { apiVersion: kind.apiVersion, kind: kind.kind, metadata: key, spec: {} };
}

test("No-Gos: a component cannot modify any component resource's spec, including its own one", () => {
  const { calls, client } = recording();
  const guarded = guardedClient(client);
  for (const kind of Object.values(componentKinds)) {
    const writes = [
      () => guarded.create(objectOf(kind)),
      () => guarded.update(objectOf(kind)),
      () => guarded.apply(objectOf(kind)),
      () => guarded.patch(kind, key, { type: 'merge', body: { spec: {} } }),
      () => guarded.delete(kind, key),
    ];
    for (const write of writes) expect(write).toThrow(ContractViolation);
  }
  expect(calls).toEqual([]);
});

test('No-Gos: a component cannot read or modify the owning ManagedControlPlane', () => {
  const { calls, client, cache } = recording();
  const guarded = guardedClient(client);
  const cached = guardedCache(cache);
  const attempts = [
    () => guarded.get(ManagedControlPlane, key),
    () => guarded.list(ManagedControlPlane),
    () => guarded.listPage(ManagedControlPlane),
    () => cached.get(ManagedControlPlane, key),
    () => cached.list(ManagedControlPlane),
    () => guarded.create(objectOf(ManagedControlPlane)),
    () => guarded.update(objectOf(ManagedControlPlane)),
    () => guarded.apply(objectOf(ManagedControlPlane)),
    () => guarded.patch(ManagedControlPlane, key, { type: 'merge', body: {} }, { subresource: 'status' }),
    () => guarded.delete(ManagedControlPlane, key),
    () => guarded.get({ ...ManagedControlPlane, kind: 'Disguised' }, key),
  ];
  for (const attempt of attempts) expect(attempt).toThrow(ContractViolation);
  expect(calls).toEqual([]);
});

test('a component reads other components and writes what is its own', () => {
  const { calls, client } = recording();
  const guarded = guardedClient(client);
  void guarded.get(APIServer, key);
  void guarded.list(APIServer);
  void guarded.apply(objectOf(ConfigMap));
  void guarded.delete(ConfigMap, key);
  expect(calls).toEqual(['get', 'list', 'apply', 'delete']);
});
