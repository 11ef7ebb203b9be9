import { byteLength } from '../go/bytes.ts';
import { quote } from '../go/quote.ts';
import { GoObject, SizedInt, type GoFunction, type Value } from '../go/values.ts';
import { fn } from '../template/signature.ts';

/** Numbers may begin with zeros here, but those of a pre-release may not. */
const loose =
  /^v?(\d+)(?:\.(\d+))?(?:\.(\d+))?(?:-([0-9a-zA-Z-]+(?:\.[0-9a-zA-Z-]+)*))?(?:\+([0-9a-zA-Z-]+(?:\.[0-9a-zA-Z-]+)*))?$/;
const strict = /^(?:0|[1-9]\d*)\.(?:0|[1-9]\d*)\.(?:0|[1-9]\d*)(?:[-+]|$)/;
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
    if (byteLength(text) > longest) throw new Error(`version string is too long (max ${longest} bytes)`);
    const match = loose.exec(text);
    if (!match) throw new Error('invalid semantic version');
    const [, major, minor = '0', patch = '0', prerelease = '', metadata = ''] = match;
    const parts = [major!, minor, patch].map(BigInt) as [bigint, bigint, bigint];
    const tooLarge = parts.find((part) => part >= 1n << 64n);
    if (tooLarge !== undefined)
      throw new Error(
        `error parsing version segment: strconv.ParseUint: parsing ${quote(String(tooLarge))}: value out of range`,
      );
    if (prerelease.split('.').some((part) => /^0\d+$/.test(part))) throw new Error('version segment starts with 0');
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

  #changed(prerelease: string, metadata: string): RaisedVersion {
    const version = new SemverVersion([this.major, this.minor, this.patch], prerelease, metadata);
    SemverVersion.parse(version.text());
    return new RaisedVersion(version);
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
      case 'SetPrerelease':
        return fn(['string'], (prerelease) => this.#changed(prerelease as string, this.metadata));
      case 'SetMetadata':
        return fn(['string'], (metadata) => this.#changed(this.prerelease, metadata as string));
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

const methodsOfValues = new Set([
  'Major',
  'Minor',
  'Patch',
  'Prerelease',
  'Metadata',
  'IncMajor',
  'IncMinor',
  'IncPatch',
  'SetPrerelease',
  'SetMetadata',
  'String',
]);

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
    return methodsOfValues.has(name) ? this.#version.method(name) : undefined;
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

/** A number that fits no 64 bits is a word to Go. */
function isNumber(text: string): boolean {
  return /^\d+$/.test(text) && BigInt(text) < 1n << 64n;
}

function compareIdentifiers(a: string | undefined, b: string | undefined): number {
  if (a === b) return 0;
  if (a === undefined) return -1;
  if (b === undefined) return 1;
  const numericA = isNumber(a);
  const numericB = isNumber(b);
  if (numericA && numericB) return BigInt(a) < BigInt(b) ? -1 : 1;
  if (numericA || numericB) return numericA ? -1 : 1;
  return a < b ? -1 : 1;
}
