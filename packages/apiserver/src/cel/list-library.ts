import type { Environment } from '@marcbachmann/cel-js';

type Ordered = bigint | number | string;

class SetsNamespace {}
class MathNamespace {}

/** Kubernetes' list functions, sets and the part of the math extension that people use. */
export function registerLists(environment: Environment): void {
  const define = (signature: string, handler: (...values: never[]) => unknown): void => {
    environment.registerFunction(signature, handler as (...values: unknown[]) => unknown);
  };
  for (const type of ['int', 'double', 'string']) {
    define(`list<${type}>.isSorted(): bool`, (list: Ordered[]) =>
      list.every((item, index) => index === 0 || list[index - 1]! <= item),
    );
    define(`list<${type}>.min(): ${type}`, (list: Ordered[]) => extreme(list, (left, right) => left < right, 'min'));
    define(`list<${type}>.max(): ${type}`, (list: Ordered[]) => extreme(list, (left, right) => left > right, 'max'));
    define(`list<${type}>.indexOf(${type}): int`, (list: Ordered[], item: Ordered) => BigInt(list.indexOf(item)));
    define(`list<${type}>.lastIndexOf(${type}): int`, (list: Ordered[], item: Ordered) =>
      BigInt(list.lastIndexOf(item)),
    );
    define(`list<${type}>.sort(): list<${type}>`, (list: Ordered[]) =>
      list.toSorted((left, right) => (left < right ? -1 : left > right ? 1 : 0)),
    );
  }
  define('list<int>.sum(): int', (list: bigint[]) => list.reduce((total, item) => total + item, 0n));
  define('list<double>.sum(): double', (list: number[]) => list.reduce((total, item) => total + item, 0));
  define('list<A>.distinct(): list<A>', (list: unknown[]) => [...new Set(list)]);
  define('list<A>.reverse(): list<A>', (list: unknown[]) => list.toReversed());
  define('list<A>.slice(int, int): list<A>', (list: unknown[], from: bigint, to: bigint) => {
    if (from < 0n || to < from || to > BigInt(list.length))
      throw new Error(`cannot slice(${from}, ${to}), list is length ${list.length}`);
    return list.slice(Number(from), Number(to));
  });
  define('list.flatten(): list', (list: unknown[]) => list.flat());

  environment.registerType('SetsNamespace', { ctor: SetsNamespace, fields: {} });
  environment.registerConstant('sets', 'SetsNamespace', new SetsNamespace());
  const contains = (list: unknown[], part: unknown[]): boolean => {
    const members = new Set(list);
    return part.every((item) => members.has(item));
  };
  define('SetsNamespace.contains(list, list): bool', (_: unknown, list: unknown[], part: unknown[]) =>
    contains(list, part),
  );
  define(
    'SetsNamespace.equivalent(list, list): bool',
    (_: unknown, left: unknown[], right: unknown[]) => contains(left, right) && contains(right, left),
  );
  define('SetsNamespace.intersects(list, list): bool', (_: unknown, left: unknown[], right: unknown[]) => {
    const members = new Set(right);
    return left.some((item) => members.has(item));
  });

  environment.registerType('MathNamespace', { ctor: MathNamespace, fields: {} });
  environment.registerConstant('math', 'MathNamespace', new MathNamespace());
  for (const type of ['int', 'double']) {
    define(`MathNamespace.greatest(list<${type}>): ${type}`, (_: unknown, list: Ordered[]) =>
      extreme(list, (left, right) => left > right, 'greatest'),
    );
    define(`MathNamespace.least(list<${type}>): ${type}`, (_: unknown, list: Ordered[]) =>
      extreme(list, (left, right) => left < right, 'least'),
    );
    for (const count of [2, 3, 4]) {
      const parameters = Array.from({ length: count }, () => type).join(', ');
      define(`MathNamespace.greatest(${parameters}): ${type}`, (_: unknown, ...list: Ordered[]) =>
        extreme(list, (left, right) => left > right, 'greatest'),
      );
      define(`MathNamespace.least(${parameters}): ${type}`, (_: unknown, ...list: Ordered[]) =>
        extreme(list, (left, right) => left < right, 'least'),
      );
    }
  }
  define('MathNamespace.abs(int): int', (_: unknown, value: bigint) => (value < 0n ? -value : value));
  define('MathNamespace.abs(double): double', (_: unknown, value: number) => Math.abs(value));
  define('MathNamespace.ceil(double): double', (_: unknown, value: number) => Math.ceil(value));
  define('MathNamespace.floor(double): double', (_: unknown, value: number) => Math.floor(value));
  define('MathNamespace.round(double): double', (_: unknown, value: number) => Math.round(value));
}

function extreme(list: readonly Ordered[], wins: (left: Ordered, right: Ordered) => boolean, name: string): Ordered {
  if (list.length === 0) throw new Error(`${name} called on empty list`);
  return list.reduce((best, item) => (wins(item, best) ? item : best));
}
