import type { Environment } from '@marcbachmann/cel-js';

class SemanticVersion {
  readonly numbers: readonly [bigint, bigint, bigint];
  readonly prerelease: readonly string[];
  constructor(numbers: readonly [bigint, bigint, bigint], prerelease: readonly string[]) {
    this.numbers = numbers;
    this.prerelease = prerelease;
  }
}

const pattern =
  /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(?:-((?:0|[1-9]\d*|\d*[A-Za-z-][0-9A-Za-z-]*)(?:\.(?:0|[1-9]\d*|\d*[A-Za-z-][0-9A-Za-z-]*))*))?(?:\+[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?$/;

function parse(text: string): SemanticVersion {
  const parts = pattern.exec(text);
  if (!parts) throw new Error(`semver parse error: ${JSON.stringify(text)}`);
  return new SemanticVersion([BigInt(parts[1]!), BigInt(parts[2]!), BigInt(parts[3]!)], parts[4]?.split('.') ?? []);
}

/** `v1.2` counts as `1.2.0` when the caller asks for leniency. */
function normalised(text: string): string {
  const [, core = '', rest = ''] = /^v?([0-9.]*)(.*)$/.exec(text) ?? [];
  const numbers = core.split('.').map((part) => part.replace(/^0+(?=\d)/, ''));
  while (numbers.length < 3) numbers.push('0');
  return numbers.join('.') + rest;
}

function compareParts(left: string, right: string): number {
  const numeric = /^\d+$/;
  if (numeric.test(left) && numeric.test(right)) return Number(BigInt(left) - BigInt(right));
  if (numeric.test(left)) return -1;
  if (numeric.test(right)) return 1;
  return left < right ? -1 : left > right ? 1 : 0;
}

function compare(left: SemanticVersion, right: SemanticVersion): number {
  for (const index of [0, 1, 2] as const) {
    if (left.numbers[index] !== right.numbers[index]) return left.numbers[index] < right.numbers[index] ? -1 : 1;
  }
  if (left.prerelease.length === 0 || right.prerelease.length === 0) {
    return right.prerelease.length - left.prerelease.length;
  }
  for (const [index, part] of left.prerelease.entries()) {
    const other = right.prerelease[index];
    if (other === undefined) return 1;
    const difference = compareParts(part, other);
    if (difference !== 0) return difference;
  }
  return left.prerelease.length - right.prerelease.length;
}

/** Kubernetes' functions for semantic versions. */
export function registerVersions(environment: Environment): void {
  const define = (signature: string, handler: (...values: never[]) => unknown): void => {
    environment.registerFunction(signature, handler as (...values: unknown[]) => unknown);
  };
  const isVersion = (text: string): boolean => pattern.test(text);
  environment.registerType('Semver', { ctor: SemanticVersion, fields: {} });
  define('semver(string): Semver', parse);
  define('semver(string, bool): Semver', (text: string, lenient: boolean) => parse(lenient ? normalised(text) : text));
  define('isSemver(string): bool', isVersion);
  define('isSemver(string, bool): bool', (text: string, lenient: boolean) =>
    isVersion(lenient ? normalised(text) : text),
  );
  define('Semver.major(): int', (version: SemanticVersion) => version.numbers[0]);
  define('Semver.minor(): int', (version: SemanticVersion) => version.numbers[1]);
  define('Semver.patch(): int', (version: SemanticVersion) => version.numbers[2]);
  define('Semver.compareTo(Semver): int', (left: SemanticVersion, right: SemanticVersion) =>
    BigInt(Math.sign(compare(left, right))),
  );
  define(
    'Semver.isLessThan(Semver): bool',
    (left: SemanticVersion, right: SemanticVersion) => compare(left, right) < 0,
  );
  define(
    'Semver.isGreaterThan(Semver): bool',
    (left: SemanticVersion, right: SemanticVersion) => compare(left, right) > 0,
  );
  environment.registerOperator(
    'Semver == Semver',
    (left: SemanticVersion, right: SemanticVersion) => compare(left, right) === 0,
  );
}
