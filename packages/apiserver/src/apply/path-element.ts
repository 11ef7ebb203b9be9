import type { Json, JsonObject } from '../object.ts';

/**
 * One step of a field path in the text form of FieldsV1: `f:name` a field, `k:{"a":1}` an element of a list map by its keys,
 * `v:"x"` an element of a set by its value, `i:0` an element by position.
 */
export function fieldElement(name: string): string {
  return `f:${name}`;
}

export function keyElement(keys: JsonObject): string {
  return `k:${JSON.stringify(Object.fromEntries(Object.entries(keys).toSorted(([a], [b]) => (a < b ? -1 : 1))))}`;
}

export function valueElement(value: Json): string {
  return `v:${JSON.stringify(value)}`;
}

export function isElement(text: string): boolean {
  switch (text.slice(0, 2)) {
    case 'f:':
      return true;
    case 'k:':
      return isJson(text.slice(2), (value) => typeof value === 'object' && value !== null && !Array.isArray(value));
    case 'v:':
      return isJson(text.slice(2), () => true);
    case 'i:':
      return /^-?\d+$/.test(text.slice(2));
    default:
      return false;
  }
}

function isJson(text: string, accept: (value: unknown) => boolean): boolean {
  try {
    return accept(JSON.parse(text));
  } catch {
    return false;
  }
}

const ranks: Readonly<Record<string, number>> = { f: 0, k: 1, v: 2, i: 3 };

/** Fields first, then keys, values and positions; alike ones by their text. */
export function compareElements(a: string, b: string): number {
  const rank = (ranks[a.charAt(0)] ?? 4) - (ranks[b.charAt(0)] ?? 4);
  if (rank !== 0) return rank;
  if (a.startsWith('i:')) return Number(a.slice(2)) - Number(b.slice(2));
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Go's text of an element: `.name`, `[port=1,proto="TCP"]`, `[="x"]`, `[0]`. */
export function printElement(element: string): string {
  const rest = element.slice(2);
  switch (element.charAt(0)) {
    case 'f':
      return `.${rest}`;
    case 'k':
      return `[${Object.entries(JSON.parse(rest) as JsonObject)
        .map(([name, value]) => `${name}=${JSON.stringify(value)}`)
        .join(',')}]`;
    case 'v':
      return `[=${rest}]`;
    default:
      return `[${rest}]`;
  }
}
