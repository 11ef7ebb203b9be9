import type { Send } from '../differential/case.ts';

export interface RawRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly body: Buffer | undefined;
}

/** Numbers from 0 up to a bound, the same ones for the same seed. */
export function dice(seed: number): (bound: number) => number {
  let state = (seed ^ 0x9e37_79b9) >>> 0;
  return (bound) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    state >>>= 0;
    return state % bound;
  };
}

export function requestOf({ method, path, headers, body }: Send): RawRequest {
  const fill = (text: string) => text.replaceAll('{ns}', 'default').replaceAll(/\{[a-z]\w*\}/gi, '1');
  const text = body === undefined ? undefined : fill(typeof body === 'string' ? body : JSON.stringify(body));
  const filled = Object.fromEntries(Object.entries(headers ?? {}).map(([name, value]) => [name, fill(value)]));
  return {
    method,
    path: fill(path),
    headers: {
      accept: 'application/json',
      ...(text === undefined ? {} : { 'content-type': 'application/json' }),
      ...filled,
    },
    body: text === undefined ? undefined : Buffer.from(text),
  };
}

type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

const odd: readonly Json[] = [
  null,
  true,
  0,
  -1,
  1.5,
  1e308,
  2 ** 53 + 2,
  '',
  '\u0000',
  'x\u0000y',
  '\ud800',
  '__proto__',
  'constructor',
  'a'.repeat(5_000),
  '${a}',
  '%s%n',
  [],
  {},
  [[[[]]]],
  { __proto__x: 1 },
  ['a', 1, null, {}],
  { a: { b: { c: { d: [] } } } },
  '2026-13-45T99:99:99Z',
  '1Gi1',
  'self.',
];

const oddText = [
  '%00',
  '%ff',
  '%',
  '..',
  '/',
  '\\',
  "'",
  '"',
  '<script>',
  '=',
  ',',
  '!',
  '(',
  ')',
  ' in (',
  '&watch=1',
  '&limit=-5',
  '\u{1f600}',
];

/** A request as nobody would send it, close to one that somebody does. */
export function mutated(request: RawRequest, seed: number): RawRequest {
  const roll = dice(seed);
  let { method, path, body } = request;
  const headers = { ...request.headers };
  for (let count = 1 + roll(3); count > 0; count -= 1) {
    switch (roll(10)) {
      case 0:
        path = inserted(path, oddText[roll(oddText.length)]!, roll);
        break;
      case 1:
        method = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS', 'TRACE'][roll(8)]!;
        break;
      case 2:
        headers['content-type'] = contentTypes[roll(contentTypes.length)]!;
        break;
      case 3:
        headers['accept'] = ['application/json;as=Table;v=v1;g=meta.k8s.io', 'application/yaml', '*/*', ';', 'a/b;q=x'][
          roll(5)
        ]!;
        break;
      case 4:
        body = body?.subarray(0, roll(body.length + 1));
        break;
      case 5:
        body = body && flipped(body, roll);
        break;
      case 6:
        body = body && Buffer.from(`${'['.repeat(roll(3_000))}${body.toString()}`);
        break;
      default:
        body = body && changedValue(body, roll);
    }
  }
  // Watches do not end by themselves; they have tests of their own.
  path = path.replaceAll(/watch=[^&]*/g, 'watch=0').replace('/watch/', '/');
  return { method, path, headers, body };
}

const contentTypes = [
  'application/json',
  'application/yaml',
  'application/vnd.kubernetes.protobuf',
  'application/merge-patch+json',
  'application/json-patch+json',
  'application/strategic-merge-patch+json',
  'application/apply-patch+yaml',
  'text/plain',
  '',
];

function inserted(text: string, piece: string, roll: (bound: number) => number): string {
  const at = 1 + roll(text.length);
  return text.slice(0, at) + piece + text.slice(at);
}

function flipped(body: Buffer, roll: (bound: number) => number): Buffer {
  const bytes = Buffer.from(body);
  for (let count = 1 + roll(4); count > 0 && bytes.length > 0; count -= 1) bytes[roll(bytes.length)] = roll(256);
  return bytes;
}

/** One value somewhere in the document becomes something else, vanishes or moves under another key. */
function changedValue(body: Buffer, roll: (bound: number) => number): Buffer {
  let document: Json;
  try {
    document = JSON.parse(body.toString()) as Json;
  } catch {
    return body;
  }
  const holders: { holder: Json[] | { [key: string]: Json }; key: string }[] = [];
  const visit = (value: Json) => {
    if (typeof value !== 'object' || value === null) return;
    for (const key of Object.keys(value)) {
      holders.push({ holder: value, key });
      visit((value as { [key: string]: Json })[key]!);
    }
  };
  visit(document);
  if (holders.length === 0) return Buffer.from(JSON.stringify(odd[roll(odd.length)]));
  const { holder, key } = holders[roll(holders.length)]!;
  const object = holder as { [key: string]: Json };
  const choice = roll(4);
  if (choice === 0) delete object[key];
  else if (choice === 1) object[`${key}${roll(2) ? '\u0000' : 'X'}`] = object[key]!;
  else object[key] = odd[roll(odd.length)]!;
  return Buffer.from(JSON.stringify(document));
}
