import type { Json } from './case.ts';
import type { TargetAnswer } from './target.ts';

export interface RawExchange {
  readonly step: string;
  readonly answer: TargetAnswer;
  readonly body: Json;
}

/** An answer without anything that differs from run to run. */
export interface Exchange {
  readonly step: string;
  readonly code: number;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly body: Json;
}

const uuid = /\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g;
const time = /\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g;
const token = /\beyJ[\w-]+\.[\w-]+\.[\w-]+/g;
const pem = /-----BEGIN [^-]+-----[^-]+-----END [^-]+-----\n?/g;
const age = /^(?:\d+[smhdy])+(?: ago)?$/;
const buildFields = new Set(['gitCommit', 'buildDate', 'goVersion', 'compiler', 'platform', 'gitTreeState']);
const hashLabels = new Set(['pod-template-hash', 'controller-revision-hash']);
const dayMs = 86_400_000;

/**
 * Makes the answers of a case comparable between servers: identities become U1, U2 … and versions R1, R2 … in the order of
 * their size; the version of a list or bookmark, which other writers move, becomes the newest version seen that it covers.
 */
export function normalise(exchanges: readonly RawExchange[], nowMs = new Date().getTime()): Exchange[] {
  const versions = new Set<number>();
  const names = new Map<string, string>();
  for (const { body } of exchanges) collect(body, versions, names);
  const ranked = [...versions].toSorted((a, b) => a - b);
  // Longer names first: one may begin with the other.
  const renamed = [...names].toSorted(([a], [b]) => b.length - a.length);
  const uids = new Map<string, string>();

  function text(value: string): string {
    let result = value
      .replaceAll(uuid, (found) => numbered(uids, found, 'U'))
      .replaceAll(time, (found, fraction: string | undefined) => timeText(found, fraction, nowMs))
      .replaceAll(token, 'JWT')
      .replaceAll(pem, 'PEM')
      .replaceAll(/too old resource version: \d+ \(\d+\)/g, 'too old resource version: R (R)')
      .replaceAll(/, current: \d+/g, ', current: R')
      .replaceAll(/\(\d+\)\. The object might have been modified/g, '(R). The object might have been modified')
      .replaceAll(/(\\?"resourceVersion\\?":\\?")\d+/g, '$1R')
      .replaceAll(/Made_[a-z0-9]{5}/g, 'Made_XXXXX')
      .replaceAll(/"name":"g-[a-z0-9]{5}"/g, '"name":"g-XXXXX"')
      .replaceAll(/192\.0\.2\.10:\d+/g, '127.0.0.1:PORT')
      .replaceAll(/127\.0\.0\.1:\d+/g, '127.0.0.1:PORT')
      .replaceAll(/&?core\.PodSpec\{.*$/gs, '<Go dump>');
    for (const [from, to] of renamed) if (result.includes(from)) result = result.replaceAll(from, to);
    return result;
  }

  function rank(version: string): string {
    const index = ranked.indexOf(Number(version));
    return index >= 0 ? `R${index + 1}` : version;
  }

  function covered(version: string | number): string {
    const number = Number(version);
    if (!Number.isInteger(number)) return String(version);
    return `≥R${ranked.filter((other) => other <= number).length}`;
  }

  function walk(value: Json, key: string, parent: Json): Json {
    if (typeof value === 'string') {
      if (key === 'resourceVersion' && value !== '') return isListMeta(parent) ? covered(value) : rank(value);
      if (key === 'continue' && value !== '') return continueToken(value);
      if (key === 'caBundle' || key === 'ca.crt') return 'CA';
      if (buildFields.has(key)) return key;
      return text(value);
    }
    if (Array.isArray(value)) {
      const items =
        key === 'managedFields' ? value.toSorted(byOwner) : key === 'causes' ? withoutRepeats(value) : value;
      return items.map((item: Json) => walk(item, key, value));
    }
    if (value && typeof value === 'object') {
      const object = 'columnDefinitions' in value && 'rows' in value ? withoutAges(value) : value;
      const result: Record<string, unknown> = {};
      for (const [name, item] of Object.entries<Json>(object)) result[text(name)] = walk(item, name, object);
      return result;
    }
    return typeof value === 'number' && (key === 'nodePort' || key === 'healthCheckNodePort') && value > 0
      ? 'PORT'
      : value;
  }

  function continueToken(value: string): Json {
    try {
      const decoded = JSON.parse(Buffer.from(value, 'base64url').toString()) as { rv?: number };
      return decoded.rv === undefined ? decoded : { ...decoded, rv: covered(decoded.rv) };
    } catch {
      return value;
    }
  }

  return exchanges.map(({ step, answer, body }) => ({
    step,
    code: answer.status,
    headers: headersOf(answer, text),
    body: walk(body, '', undefined),
  }));
}

/** List metadata has a version that moves with every write; that of an object belongs to it. */
function isListMeta(parent: Json): boolean {
  return parent && !('uid' in parent) && !('name' in parent);
}

function collect(value: Json, versions: Set<number>, names: Map<string, string>): void {
  if (!value || typeof value !== 'object') return;
  if (Array.isArray(value)) {
    for (const item of value) collect(item, versions, names);
    return;
  }
  if ('uid' in value && typeof value.resourceVersion === 'string' && /^\d+$/.test(value.resourceVersion)) {
    versions.add(Number(value.resourceVersion));
  }
  const { generateName, name, clusterIP, nodePort } = value;
  if (typeof generateName === 'string' && typeof name === 'string' && name.startsWith(generateName)) {
    names.set(name, `${generateName}XXXXX`);
  }
  if (typeof clusterIP === 'string' && /^\d/.test(clusterIP)) numbered(names, clusterIP, 'IP');
  if (typeof nodePort === 'number' && nodePort > 0) names.set(`:${nodePort}/`, ':PORT/');
  for (const [key, item] of Object.entries<Json>(value)) {
    if (hashLabels.has(key) && typeof item === 'string') names.set(item, 'HASH');
    collect(item, versions, names);
  }
}

function numbered(map: Map<string, string>, found: string, prefix: string): string {
  const known = map.get(found);
  if (known) return known;
  const count = [...map.values()].filter((value) => value.startsWith(prefix)).length;
  map.set(found, `${prefix}${count + 1}`);
  return map.get(found)!;
}

/** Times about now are told from fixed ones in the requests, and how far a time to come is away is kept. */
function timeText(found: string, fraction: string | undefined, nowMs: number): string {
  const distance = Date.parse(found) - nowMs;
  if (Math.abs(distance) > 40 * dayMs) return found;
  const ahead = distance > 5_000 ? `+${Math.round(distance / 10_000) * 10}s` : '';
  return `T${ahead}${fraction ? `.${'0'.repeat(fraction.length - 1)}` : ''}`;
}

function withoutAges(table: Json): Json {
  return {
    ...table,
    rows: table.rows?.map((row: Json) => ({
      ...row,
      cells: row.cells?.map((cell: Json) => (typeof cell === 'string' && age.test(cell) ? 'AGE' : cell)),
    })),
  };
}

/** Some kinds check their metadata up to four times on one update, and say so as often. */
function withoutRepeats(causes: readonly Json[]): Json[] {
  const seen = new Set<string>();
  return causes.filter((cause) => !seen.has(JSON.stringify(cause)) && seen.add(JSON.stringify(cause)));
}

/** The server sorts by time, which falls into the same second or not as it happens. */
function byOwner(a: Json, b: Json): number {
  const key = (entry: Json) =>
    [entry?.operation, entry?.manager, entry?.subresource, entry?.apiVersion, JSON.stringify(entry?.fieldsV1)].join(
      '\0',
    );
  return key(a) < key(b) ? -1 : key(a) > key(b) ? 1 : 0;
}

function headersOf({ headers }: TargetAnswer, text: (value: string) => string): Exchange['headers'] {
  const result: Record<string, string | readonly string[]> = {};
  for (const name of ['content-type', 'retry-after', 'allow', 'location', 'cache-control', 'vary']) {
    const value = headers[name];
    if (value !== undefined) result[name] = text(String(value));
  }
  if (headers['etag']) result['etag'] = 'present';
  // Node joins repeated headers; every warning begins with its code.
  if (headers['warning']) result['warning'] = text(String(headers['warning'])).split(/, (?=299 )/);
  return result;
}
