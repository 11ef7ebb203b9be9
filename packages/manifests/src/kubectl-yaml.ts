import {
  isAlias,
  isMap,
  isSeq,
  Scalar,
  type CollectionTag,
  type Node,
  type ScalarTag,
  type Tags,
  type YAMLMap,
} from 'yaml';

import { exactInteger } from './exact-integer.ts';

/**
 * YAML as kubectl reads it: the rules of 1.1 for booleans and nulls, Go's for numbers (`0o17` is 15, `12:30:45` is text), times
 * as text, and merge keys that count in the order in which they stand.
 *
 * @param tags those of the 1.1 schema
 */
export function kubectlTags(tags: Tags): Tags {
  const kept = tags.filter((tag) => typeof tag === 'string' || !replaced.has(shortName(tag.tag)));
  return [...kept, integer, float, notANumber, binary, mergeKey];
}

const replaced = new Set(['int', 'float', 'timestamp', 'binary', 'set', 'omap', 'pairs', 'merge']);

function shortName(tag: string): string {
  return tag.slice(tag.lastIndexOf(':') + 1);
}

const integer: ScalarTag = {
  tag: 'tag:yaml.org,2002:int',
  default: true,
  test: /^[-+]?(?:[1-9][0-9_]*|0[_]*(?:[oO]?[0-7_]+|[xX][0-9a-fA-F_]+|[bB][01_]+)?)$/,
  resolve(text, onError) {
    const [, sign, digits] = /^([-+]?)(.*)$/s.exec(text.replaceAll('_', ''))!;
    const value = BigInt(/^0[0-7]+$/.test(digits!) ? `0o${digits!.slice(1)}` : digits!);
    const signed = sign === '-' ? -value : value;
    if (BigInt.asIntN(64, signed) === signed || BigInt.asUintN(64, signed) === signed) return exactInteger(signed);
    onError(`${text} is no 64-bit number; put it in quotes if it is text`);
    return text;
  },
};

/** Also whole numbers that look octal and are not, such as `08`. */
const float: ScalarTag = {
  tag: 'tag:yaml.org,2002:float',
  default: true,
  test: /^(?:\.[0-9]+|[0-9][0-9_]*(?:\.[0-9_]*)?|[-+](?:\.[0-9_]+|[0-9_]+(?:\.[0-9_]*)?))(?:[eE][-+]?[0-9_]+)?$/,
  resolve(text) {
    const value = Number(text.replaceAll('_', ''));
    return Number.isFinite(value) ? value : text;
  },
};

const notANumber: ScalarTag = {
  tag: 'tag:yaml.org,2002:float',
  default: true,
  test: /^(?:[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$/,
  resolve(text, onError) {
    onError(`${text} cannot be sent to a server; put it in quotes if it is text`);
    return text;
  },
};

const binary: ScalarTag = {
  tag: 'tag:yaml.org,2002:binary',
  resolve: (text) => Buffer.from(text, 'base64').toString('utf8'),
};

/** What a converting node is handed; not exported by the library. */
type JsContext = Parameters<NonNullable<Scalar['toJSON']>>[1];

/** A merge replaces what stands before it in the map, and is replaced by what stands behind. */
const mergeKey: ScalarTag & Pick<CollectionTag, 'tag'> = {
  tag: 'tag:yaml.org,2002:merge',
  default: 'key',
  test: /^<<$/,
  resolve: () => Object.assign(new Scalar(Symbol('<<')), { addToJSMap: merge }),
};

function merge(context: JsContext, target: object, value: unknown): void {
  const source = resolved(context, value);
  // Of several, the first counts most.
  const sources = isSeq(source) ? (source.items as Node[]).toReversed() : [source];
  for (const item of sources) {
    const map = resolved(context, item);
    if (!isMap(map)) throw new Error('a merge key (<<) needs a map or a list of maps');
    for (const [key, entry] of entriesOf(map, context)) set(target, key, entry);
  }
}

function resolved(context: JsContext, value: unknown): unknown {
  return isAlias(value) && context ? value.resolve(context.doc, context) : value;
}

function entriesOf(map: YAMLMap, context: JsContext): Iterable<[unknown, unknown]> {
  return map.toJSON(null, context, Map) as Map<unknown, unknown>;
}

function set(target: object, key: unknown, value: unknown): void {
  if (target instanceof Map) target.set(key, value);
  else
    Object.defineProperty(target, key === null ? '' : String(key), {
      value,
      writable: true,
      enumerable: true,
      configurable: true,
    });
}
