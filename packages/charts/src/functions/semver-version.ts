import { GoObject, SizedInt, type GoFunction, type Value } from '../go/values.ts';
import { fn } from '../template/signature.ts';

const loose =
  /^v?(0|[1-9]\d*)(?:\.(0|[1-9]\d*))?(?:\.(0|[1-9]\d*))?(?:-((?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*)(?:\.(?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*))*))?(?:\+([0-9a-zA-Z-]+(?:\.[0-9a-zA-Z-]+)*))?$/;
const strict = /^\d+\.\d+\.\d+(?:[-+]|$)/;
const longest = 256;

/** A version as Masterminds/semver reads it: `v1.2` is 1.2.0. */
export class SemverVersion extends GoObject {
  override readonly goType = '*semver.Version';
  override readonly goKind = 'ptr';
  readonly major: bigint;
  readonly minor: bigint;
  readonly patch: bigint;
  readonly prerelease: string;
  readonly metadata: string;
  readonly original: string;

  private constructor(
    parts: readonly [bigint, bigint, bigint],
    prerelease: string,
    metadata: string,
    original?: string,
  ) {
    super();
    [this.major, this.minor, this.patch] = parts;
    this.prerelease = prerelease;
    this.metadata = metadata;
    this.original = original ?? this.text();
  }

  static parse(text: string): SemverVersion {
    const match = text.length <= longest ? loose.exec(text) : null;
    if (!match) throw new Error('invalid semantic version');
    const [, major, minor = '0', patch = '0', prerelease = '', metadata = ''] = match;
    const parts = [major!, minor, patch].map(BigInt) as [bigint, bigint, bigint];
    if (parts.some((part) => part >= 1n << 64n)) throw new Error('error parsing version segment: value out of range');
    return new SemverVersion(parts, prerelease, metadata, text);
  }

  /** Only all three numbers will do, without `v`. */
  static parseStrict(text: string): SemverVersion {
    if (!strict.test(text)) throw new Error('invalid semantic version');
    return SemverVersion.parse(text);
  }

  compare(other: SemverVersion): number {
    for (const part of ['major', 'minor', 'patch'] as const) {
      if (this[part] !== other[part]) return this[part] < other[part] ? -1 : 1;
    }
    return comparePrerelease(this.prerelease, other.prerelease);
  }

  override text(): string {
    const metadata = this.metadata === '' ? '' : `+${this.metadata}`;
    const prerelease = this.prerelease === '' ? '' : `-${this.prerelease}`;
    return `${this.major}.${this.minor}.${this.patch}${prerelease}${metadata}`;
  }

  override method(name: string): GoFunction<unknown> | undefined {
    const answer = (value: Value) => fn([], () => value);
    const number = (value: bigint) => answer(new SizedInt('uint64', value));
    const other = (compare: (result: number) => Value) =>
      fn(['struct *semver.Version'], (version) => compare(this.compare(version as SemverVersion)));
    const raised = (...parts: [bigint, bigint, bigint]) => answer(new RaisedVersion(new SemverVersion(parts, '', '')));
    switch (name) {
      case 'Major':
        return number(this.major);
      case 'Minor':
        return number(this.minor);
      case 'Patch':
        return number(this.patch);
      case 'Prerelease':
        return answer(this.prerelease);
      case 'Metadata':
        return answer(this.metadata);
      case 'Original':
        return answer(this.original);
      case 'String':
        return answer(this.text());
      case 'Compare':
        return other((result) => BigInt(result));
      case 'Equal':
        return other((result) => result === 0);
      case 'LessThan':
        return other((result) => result < 0);
      case 'LessThanEqual':
        return other((result) => result <= 0);
      case 'GreaterThan':
        return other((result) => result > 0);
      case 'GreaterThanEqual':
        return other((result) => result >= 0);
      case 'IncMajor':
        return raised(this.major + 1n, 0n, 0n);
      case 'IncMinor':
        return raised(this.major, this.minor + 1n, 0n);
      case 'IncPatch':
        return this.prerelease === ''
          ? raised(this.major, this.minor, this.patch + 1n)
          : raised(this.major, this.minor, this.patch);
      default:
        return undefined;
    }
  }
}

/** What `IncMajor` and its siblings answer: a version that is no pointer, whose methods on pointers are out of reach. */
class RaisedVersion extends GoObject {
  override readonly goType = 'semver.Version';
  readonly #version: SemverVersion;

  constructor(version: SemverVersion) {
    super();
    this.#version = version;
  }

  override text(): string {
    return this.#version.text();
  }

  override method(name: string): GoFunction<unknown> | undefined {
    return this.#version.method(name);
  }
}

export function comparePrerelease(a: string, b: string): number {
  if (a === b) return 0;
  if (a === '') return 1;
  if (b === '') return -1;
  const left = a.split('.');
  const right = b.split('.');
  for (let i = 0; i < Math.max(left.length, right.length); i += 1) {
    const result = compareIdentifiers(left[i], right[i]);
    if (result !== 0) return result;
  }
  return 0;
}

function compareIdentifiers(a: string | undefined, b: string | undefined): number {
  if (a === b) return 0;
  if (a === undefined) return -1;
  if (b === undefined) return 1;
  const numericA = /^\d+$/.test(a);
  const numericB = /^\d+$/.test(b);
  if (numericA && numericB) return BigInt(a) < BigInt(b) ? -1 : 1;
  if (numericA || numericB) return numericA ? -1 : 1;
  return a < b ? -1 : 1;
}
