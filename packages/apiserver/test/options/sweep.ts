import type { Json } from '../differential/case.ts';
import { gadgets, places, type Place } from './places.ts';
import { probesAt, type Probe } from './probes.ts';

export interface Asked {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** A server to be swept. */
export interface Swept {
  send(request: Asked): Promise<{ readonly status: number; readonly text: string }>;
  /** Waits a moment, for what the server writes into its own objects. */
  settle(): Promise<void>;
  /** How many such moments it may take. */
  readonly patience: number;
}

/**
 * What came of every probe at every place: code, reason, and what a later GET shows to be different. `K` stands for the kind of the
 * place.
 */
export type Outcomes = Readonly<Record<string, Readonly<Record<string, string>>>>;

const json = { accept: 'application/json', 'content-type': 'application/json' };

/** @param share every how manyeth probe is sent; the rest is left out */
export async function sweep(server: Swept, share = 1): Promise<Outcomes> {
  const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
  await server.send({ method: 'POST', path: definitions, headers: json, body: JSON.stringify(gadgets) });
  const custom = places.at(-1)!.collection;
  while ((await server.send({ method: 'GET', path: custom, headers: json })).status !== 200) await server.settle();
  const result: Record<string, Record<string, string>> = {};
  let number = 0;
  for (const [index, place] of places.entries()) {
    const outcomes: Record<string, string> = {};
    // Another share at every place, so that all places and all probes have their turn.
    const all = probesAt(place);
    const step = Math.min(share, all.length);
    const probes = all.filter((_, position) => (position + index) % step === 0);
    // Reads need only something to read.
    const shared = await made(server, place, ++number);
    for (const probe of probes) {
      const live = probe.method === 'GET' ? shared : await made(server, place, ++number);
      outcomes[probe.name] = await outcomeOf(server, place, probe, live);
    }
    result[place.name] = outcomes;
  }
  return result;
}

/** A new object for one probe; `probe` is its number. */
async function made(
  server: Swept,
  { name, collection, apiVersion, kind, example }: Place,
  number: number,
): Promise<Json> {
  const { object } = example(number);
  const { status, text } = await server.send({
    method: 'POST',
    path: collection,
    headers: json,
    body: JSON.stringify({ apiVersion, kind, ...object }),
  });
  if (status !== 201) throw new Error(`the example of ${name} is refused: ${status} ${text}`);
  const path = `${collection}/${object.metadata.name}`;
  if (kind in writtenByServer) await written(server, path, writtenByServer[kind]!);
  return { ...(await read(server, path)), probe: number };
}

/** Waits until a condition is there, and nothing has changed since. */
async function written(server: Swept, path: string, condition: string): Promise<void> {
  let last = '';
  for (let round = 0; round < server.patience; round += 1) {
    const { metadata, status } = await read(server, path);
    const isThere = status?.conditions?.some(({ type }: Json) => type === condition);
    if (isThere && metadata.resourceVersion === last) return;
    last = metadata.resourceVersion;
    await server.settle();
  }
}

/** The server's own controllers write these conditions a moment after the object was made. */
const writtenByServer: Readonly<Record<string, string>> = {
  APIService: 'Available',
  CustomResourceDefinition: 'Established',
  FlowSchema: 'Dangling',
};

async function outcomeOf(server: Swept, place: Place, probe: Probe, live: Json): Promise<string> {
  const { probe: _number, ...sent } = live;
  const body = probe.body?.(live);
  const { status, text } = await server.send({
    method: probe.method,
    path: place.collection + probe.path.replace('{name}', live.metadata.name),
    headers: { accept: 'application/json', ...probe.headers },
    ...(body === undefined ? {} : { body: JSON.stringify(withoutNumber(body)) }),
  });
  const said = `${status} ${gist(text, place)}`.trim();
  if (probe.method === 'GET') return said;
  if (probe.name.startsWith('create') && !place.subresource) {
    const created = place.example(Number(live.probe) + 10_000).object.metadata.name;
    return `${said}, ${(await read(server, `${place.collection}/${created}`)) ? 'made' : 'not made'}`;
  }
  const after = await read(server, `${place.collection}/${live.metadata.name}`);
  return `${said}, ${differenceOf(place, sent, after)}`;
}

function withoutNumber(body: Json): Json {
  if (Array.isArray(body)) return body;
  const { probe: _number, ...rest } = body;
  return rest;
}

async function read(server: Swept, path: string): Promise<Json> {
  const { status, text } = await server.send({ method: 'GET', path, headers: json });
  return status === 200 ? (JSON.parse(text) as Json) : undefined;
}

/** The reason of a refusal, otherwise what kind of thing was answered. */
function gist(text: string, { kind }: Place): string {
  let body: Json;
  try {
    body = JSON.parse(text);
  } catch {
    return text.startsWith('apiVersion:') ? 'yaml' : 'text';
  }
  if (body.kind === 'Status') return body.status === 'Failure' ? (body.reason ?? '') : 'Success';
  const shown = body.kind === kind ? 'K' : body.kind === `${kind}List` ? 'Ks' : body.kind;
  return `${shown}${body.metadata?.continue ? ', more' : ''}`;
}

/** What is different of an object, as far as the request can have done it. */
function differenceOf(place: Place, before: Json, after: Json): string {
  if (!after) return 'gone';
  // The controller in the server takes a definition that is going away at some moment of its own.
  if (after.metadata.deletionTimestamp) return place.kind === 'CustomResourceDefinition' ? 'gone' : 'going';
  const parts = new Set([...Object.keys(before), ...Object.keys(after)]);
  const different = [...parts].filter((part) => observed(before, part) !== observed(after, part));
  return different.length === 0 ? 'same' : different.toSorted().join('+');
}

function observed(object: Json, part: string): string {
  const value = object[part];
  if (part === 'metadata')
    return JSON.stringify([value.labels, value.annotations, value.finalizers, value.ownerReferences]);
  if (part !== 'status' || !value?.conditions) return JSON.stringify(value);
  const ours = value.conditions.filter(({ type }: { type: string }) => type === 'Tested' || type === 'Approved');
  return JSON.stringify(
    object.kind in writtenByServer ? ours.map(({ type }: Json) => type) : { ...value, conditions: ours },
  );
}
