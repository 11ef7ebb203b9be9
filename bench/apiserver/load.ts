import { percentile } from '../lib/statistics.ts';

/** A way to send requests; each target has one. */
export interface Wire {
  send(request: LoadRequest): Promise<{ readonly status: number; readonly body: { toString(): string } }>;
  /** Opens a watch; `line` is called for each event. Returns how to close it. */
  open(path: string, line: () => void): () => void;
}

export interface LoadRequest {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface LoadPlan {
  /** Requests of each operation, by how many clients send them. */
  readonly requests: Readonly<Record<string, number>>;
  /** Tells rounds apart: each creates objects of its own. */
  readonly round: number;
}

export type Operation = (typeof operations)[number];
export const operations = ['create', 'get', 'patch', 'apply', 'list 100', 'delete'] as const;
/** Those that change something. */
export const writes: readonly Operation[] = ['create', 'patch', 'apply', 'delete'];

export interface Rate {
  readonly operation: Operation;
  readonly clients: number;
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

const base = '/api/v1/namespaces/default/configmaps';

/** Every operation with every number of clients, one after the other. */
export async function runLoad(wire: Wire, plan: LoadPlan): Promise<Rate[]> {
  const rates: Rate[] = [];
  for (const [text, count] of Object.entries(plan.requests)) {
    const clients = Number(text);
    const name = (index: number) => `load-${plan.round}-${clients}-${index}`;
    for (const operation of operations) {
      const total = operation === 'list 100' ? Math.ceil(count / 10) : count;
      rates.push(await measure(wire, operation, clients, total, name));
    }
  }
  return rates;
}

async function measure(
  wire: Wire,
  operation: Operation,
  clients: number,
  total: number,
  name: (index: number) => string,
): Promise<Rate> {
  const latencies: number[] = [];
  let next = 0;
  const begin = performance.now();
  const client = async () => {
    for (let index = next++; index < total; index = next++) {
      const request = requestOf(operation, name(index), index);
      const sent = performance.now();
      const { status, body } = await wire.send(request);
      latencies.push(performance.now() - sent);
      if (status >= 300) throw new Error(`${request.method} ${request.path}: ${status} ${body.toString()}`);
    }
  };
  await Promise.all(Array.from({ length: clients }, client));
  return {
    operation,
    clients,
    perSecond: (total * 1000) / (performance.now() - begin),
    p50Ms: percentile(latencies, 0.5),
    p99Ms: percentile(latencies, 0.99),
  };
}

function requestOf(operation: Operation, name: string, index: number): LoadRequest {
  const json = { 'content-type': 'application/json' };
  switch (operation) {
    case 'create':
      return { method: 'POST', path: base, headers: json, body: JSON.stringify(configMap(name)) };
    case 'get':
      return { method: 'GET', path: `${base}/${name}` };
    case 'patch':
      return {
        method: 'PATCH',
        path: `${base}/${name}`,
        headers: { 'content-type': 'application/merge-patch+json' },
        body: JSON.stringify({ data: { patched: String(index) } }),
      };
    case 'apply':
      return {
        method: 'PATCH',
        path: `${base}/${name}?fieldManager=bench&force=true`,
        headers: { 'content-type': 'application/apply-patch+yaml' },
        body: JSON.stringify({ ...configMap(name), data: { applied: String(index), colour: 'blue' } }),
      };
    case 'list 100':
      return { method: 'GET', path: `${base}?limit=100` };
    case 'delete':
      return { method: 'DELETE', path: `${base}/${name}` };
  }
}

/** About 1 KB. */
export function configMap(name: string): Record<string, unknown> {
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, namespace: 'default', labels: { app: 'load', tier: 'bench' } },
    data: { 'settings.yaml': 'colour: blue\nsize: large\n'.repeat(30), mode: 'fast' },
  };
}

export interface FanOut {
  readonly eventsPerSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

/** How long until `watchers` watches have heard of each of `changes` writes made by 4 clients. */
export async function fanOut(wire: Wire, watchers: number, changes: number): Promise<FanOut> {
  const name = 'fan-out';
  await wire.send(requestOf('create', name, 0));
  const { body } = await wire.send({ method: 'GET', path: `${base}/${name}` });
  const { metadata } = JSON.parse(body.toString()) as { metadata: { resourceVersion: string } };
  const sentAt: number[] = [];
  const latencies: number[] = [];
  const all = Promise.withResolvers<void>();
  const closers = Array.from({ length: watchers }, () => {
    let heard = 0;
    return wire.open(`${base}?watch=true&resourceVersion=${metadata.resourceVersion}`, () => {
      latencies.push(performance.now() - sentAt[heard]!);
      heard += 1;
      if (latencies.length === watchers * changes) all.resolve();
    });
  });
  // The watches have to stand before the first change is timed.
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  const begin = performance.now();
  for (let index = 0; index < changes; index += 1) {
    sentAt.push(performance.now());
    await wire.send(requestOf('patch', name, index));
  }
  await all.promise;
  const seconds = (performance.now() - begin) / 1000;
  for (const close of closers) close();
  await wire.send(requestOf('delete', name, 0));
  return {
    eventsPerSecond: (watchers * changes) / seconds,
    p50Ms: percentile(latencies, 0.5),
    p99Ms: percentile(latencies, 0.99),
  };
}

/** Creates `count` ConfigMaps with 16 clients. */
export async function fill(wire: Wire, count: number): Promise<void> {
  await measure(wire, 'create', 16, count, (index) => `filler-${index}`);
}
