import type { KubeObject, Transport, TransportRequest, TransportResponse } from '@slipway/kube';
import { expect, test } from 'vitest';

import { ManagedControlPlane } from '../src/api/managed-control-plane.ts';
import { componentTypes, kindOf } from '../src/component/component-type.ts';
import { key, Landscape, mcp } from './landscape.ts';

/** Reads along and writes down every finalizer the operator puts on or takes off, in order. */
class FinalizerLog {
  readonly lines: string[] = [];
  readonly #present = new Map<string, readonly string[]>();

  through(inner: Transport): Transport {
    return {
      send: async (request, signal) => {
        const response = await inner.send(request, signal);
        this.#read(request, response);
        return response;
      },
      open: (request, handler) => inner.open(request, handler),
      close: () => inner.close(),
    };
  }

  #read({ method, path }: TransportRequest, { status, body }: TransportResponse): void {
    if (method === 'GET' || status >= 300 || !path.includes('core.openmcp.cloud')) return;
    const { kind, metadata } = JSON.parse(Buffer.from(body).toString()) as KubeObject;
    if (kind === 'Status') return;
    const before = this.#present.get(kind) ?? [];
    const { finalizers = [] } = metadata;
    // In the answer to a delete they stand as they were; in that to the last removal there is none left.
    this.#present.set(kind, finalizers);
    for (const each of finalizers) if (!before.includes(each)) this.lines.push(`+ ${kind} ${each}`);
    for (const each of before) if (!finalizers.includes(each)) this.lines.push(`- ${kind} ${each}`);
  }

  takeAll(): string[] {
    return this.lines.splice(0);
  }
}

const dependencies = {
  APIServer: [],
  Authentication: ['APIServer'],
  Authorization: ['APIServer'],
  Landscaper: ['APIServer', 'Authentication', 'Authorization'],
  CloudOrchestrator: ['APIServer', 'Authentication', 'Authorization'],
} as const;

const own = (type: string) => `${type} openmcp.cloud.${type.toLowerCase()}`;
const pin = (dependency: string, by: string) => `${dependency} dependency.openmcp.cloud/${by.toLowerCase()}`;
const every = [
  'ManagedControlPlane finalizer.managedcontrolplane.openmcp.cloud',
  ...componentTypes.flatMap((type) => [own(type), ...dependencies[type].map((each) => pin(each, type))]),
].sort();

function expectOrder(lines: readonly string[], first: string, then: string): void {
  expect(lines.indexOf(first), `${first} before ${then}`).toBeLessThan(lines.indexOf(then));
}

test('every finalizer comes and goes once, in the order of dependencies', async () => {
  await using landscape = await Landscape.open();
  const log = new FinalizerLog();
  await landscape.run(log.through(landscape.cluster.transport()));
  const { client } = landscape.cluster;

  await client.create(mcp());
  await landscape.ready();
  const coming = log.takeAll();
  expect(coming.toSorted()).toEqual(every.map((line) => `+ ${line}`));
  expect(coming[0]).toBe('+ ManagedControlPlane finalizer.managedcontrolplane.openmcp.cloud');
  for (const type of componentTypes) {
    for (const dependency of dependencies[type]) {
      // Its own before those on others, and no dependency without one of its own.
      expectOrder(coming, `+ ${own(type)}`, `+ ${pin(dependency, type)}`);
      expectOrder(coming, `+ ${own(dependency)}`, `+ ${pin(dependency, type)}`);
    }
  }

  await client.delete(ManagedControlPlane, key);
  await landscape.gone();
  const going = log.takeAll();
  expect(going.toSorted()).toEqual(every.map((line) => `- ${line}`));
  expect(going.at(-2)).toBe(`- ${own('APIServer')}`);
  expect(going.at(-1)).toBe('- ManagedControlPlane finalizer.managedcontrolplane.openmcp.cloud');
  for (const type of componentTypes) {
    for (const dependency of dependencies[type]) {
      expectOrder(going, `- ${pin(dependency, type)}`, `- ${own(type)}`);
      expectOrder(going, `- ${pin(dependency, type)}`, `- ${own(dependency)}`);
    }
  }
  for (const type of componentTypes) expect(await client.get(kindOf(type), key)).toBeUndefined();
});
