import type { Json } from '../object.ts';
import { asObject } from '../kinds/json-access.ts';
import { getOwn } from '../own-property.ts';
import { parseJsonPath, type JsonPathNode } from './json-path-parser.ts';

/** kubectl's JSONPath, as printer columns use it. */
export interface JsonPath {
  /** All values found, in order. Throws an `Error` where the path does not fit the value, such as an index into a map. */
  find(root: unknown): Json[];
}

/** Compiles a path; throws an `Error` that says what is wrong with it. */
export function compileJsonPath(path: string): JsonPath {
  const nodes = parseJsonPath(path);
  return { find: (root) => walk([root as Json], nodes) };
}

function walk(values: Json[], nodes: readonly JsonPathNode[]): Json[] {
  return nodes.reduce(step, values);
}

function step(values: Json[], node: JsonPathNode): Json[] {
  switch (node.is) {
    case 'field':
      return values.flatMap((value) => {
        const object = asObject(value);
        const found = object && getOwn(object, node.name);
        return found === undefined ? [] : [found];
      });
    case 'wildcard':
      return values.flatMap(childrenOf);
    case 'recursive':
      return values.flatMap(descendantsOf);
    case 'slice':
      return values.flatMap((value) => (value === null ? [] : slice(value, node)));
    case 'union':
      return node.of.flatMap((nodes) => walk(values, nodes));
    case 'filter':
      return values.flatMap((value) => filter(value, node));
    case 'literal':
      return [node.value];
    case 'identifier':
      return [];
  }
}

function childrenOf(value: Json): Json[] {
  return Array.isArray(value) ? value : Object.values(asObject(value) ?? {});
}

/** A value with children, and the same of each of them: leaves are not found this way. */
function descendantsOf(value: Json): Json[] {
  const children = childrenOf(value);
  return children.length === 0 ? [] : [value, ...children.flatMap(descendantsOf)];
}

function slice(value: Json, { from, to, one, by }: Extract<JsonPathNode, { is: 'slice' }>): Json[] {
  if (!Array.isArray(value)) throw new Error('not a list');
  const { length } = value;
  const start = from < 0 ? from + length : from;
  let end = one ? from + 1 : (to ?? length);
  if (end < 0 || (end === 0 && one)) end += length;
  if (start === end) return [];
  if (start >= length || start < 0 || end > length || end < 0) throw new Error('array index out of bounds');
  if (start > end) throw new Error('the slice ends before it starts');
  if (by <= 0) throw new Error('step must be > 0');
  return value.slice(start, end).filter((_, index) => index % by === 0);
}

function filter(value: Json, node: Extract<JsonPathNode, { is: 'filter' }>): Json[] {
  if (!Array.isArray(value)) throw new Error('not a list, and cannot be filtered');
  return value.filter((item) => {
    const left = walk([item], node.left);
    if (node.operator === 'exists') return left.length > 0;
    const right = walk([item], node.right);
    if (left.length > 1 || right.length > 1) throw new Error('can only compare one element at a time');
    return left.length === 1 && right.length === 1 && compare(left[0]!, node.operator, right[0]!);
  });
}

function compare(left: Json, operator: string, right: Json): boolean {
  const comparable = typeof left === typeof right && (typeof left !== 'object' || typeof right !== 'object');
  if (!comparable) throw new Error('incompatible types for comparison');
  switch (operator) {
    case '==':
      return left === right;
    case '!=':
      return left !== right;
    case '<':
      return left! < right!;
    case '<=':
      return left! <= right!;
    case '>':
      return left! > right!;
    case '>=':
      return left! >= right!;
    default:
      throw new Error(`unrecognized filter operator ${operator}`);
  }
}
