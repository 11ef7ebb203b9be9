import { byteLength } from '../go/bytes.ts';
import { quote } from '../go/quote.ts';
import { comparePrerelease, SemverVersion } from './semver-version.ts';

/** A range of versions as Masterminds/semver reads it: `>=1.2, <3 || ^4.0.0-0`. */
export interface SemverConstraint {
  check(version: SemverVersion): boolean;
}

interface Condition {
  readonly operator: string;
  readonly version: SemverVersion;
  /** Some part of the version was left out or is `x`. */
  readonly dirty: boolean;
  readonly minorDirty: boolean;
  readonly patchDirty: boolean;
}

const operators = '=|!=|>=|=>|<=|=<|>|<|~>|~|\\^|';
const versionPattern =
  'v?([0-9|xX*]+)(\\.[0-9|xX*]+)?(\\.[0-9|xX*]+)?(-(?:[0-9A-Za-z-]+(?:\\.[0-9A-Za-z-]+)*))?(\\+(?:[0-9A-Za-z-]+(?:\\.[0-9A-Za-z-]+)*))?';
const anonymous = versionPattern.replace(/\((?!\?)/g, '(?:');
const single = new RegExp(`^\\s*(${operators})\\s*${versionPattern}\\s*$`);
const each = new RegExp(`(?:${operators})\\s*${anonymous}`, 'g');
const group = new RegExp(
  `^\\s*(?:${operators})\\s*${anonymous}\\s*(?:(?:\\s+|,\\s*)(?:${operators})\\s*${anonymous}\\s*)*$`,
);
const range = new RegExp(`\\s*(${anonymous})\\s+-\\s+(${anonymous})\\s*`, 'g');
const longest = 512;
const mostGroups = 32;

export function parseConstraint(text: string): SemverConstraint {
  if (byteLength(text) > longest) throw new Error(`constraint string is too long (max ${longest} bytes)`);
  const parts = text.replace(range, (_whole, from: string, to: string) => `>= ${from}, <= ${to} `).split('||');
  if (parts.length > mostGroups) throw new Error(`too many constraint groups (max ${mostGroups})`);
  const groups = parts.map(parseGroup);
  return { check: (version) => groups.some((conditions) => checkGroup(conditions, version)) };
}

function parseGroup(text: string): Condition[] {
  if (!group.test(text)) throw new Error(`improper constraint: ${quote(text)}`);
  return (text.match(each) ?? [text]).map(parseCondition);
}

function parseCondition(text: string): Condition {
  const match = single.exec(text);
  if (!match) throw new Error(`improper constraint: ${quote(text)}`);
  const [, operator, major, minor = '', patch = '', prerelease = ''] = match;
  const open = (part: string) => part === '' || /^\.?[xX*]$/.test(part);
  const minorDirty = !open(major!) && open(minor);
  const patchDirty = !open(major!) && !minorDirty && open(patch);
  const dirty = open(major!) || minorDirty || patchDirty;
  const written = open(major!)
    ? `0.0.0${prerelease}`
    : minorDirty
      ? `${major}.0.0${prerelease}`
      : `${major}${minor}${patchDirty ? '.0' : patch}${prerelease}`;
  try {
    return { operator: operator!, version: SemverVersion.parse(written), dirty, minorDirty, patchDirty };
  } catch (error) {
    throw new Error('constraint parser error', { cause: error });
  }
}

function checkGroup(conditions: readonly Condition[], version: SemverVersion): boolean {
  // A pre-release satisfies only a range that names one.
  if (version.prerelease !== '' && conditions.every((condition) => condition.version.prerelease === '')) return false;
  return conditions.every((condition) => holds(condition, version));
}

function holds(condition: Condition, version: SemverVersion): boolean {
  const { version: wanted, dirty, minorDirty, patchDirty } = condition;
  const order = version.compare(wanted);
  switch (condition.operator) {
    case '':
    case '=':
      return dirty ? tilde(condition, version) : order === 0;
    case '!=':
      return dirty ? differs(condition, version) : order !== 0;
    case '>':
      if (!dirty || version.major !== wanted.major) return order > 0 && (!dirty || version.major > wanted.major);
      if (minorDirty) return false;
      return patchDirty ? version.minor > wanted.minor : order > 0;
    case '<':
      return order < 0;
    case '>=':
    case '=>':
      return order >= 0;
    case '<=':
    case '=<':
      if (!dirty) return order <= 0;
      if (version.major !== wanted.major) return version.major < wanted.major;
      return version.minor <= wanted.minor || minorDirty;
    case '~':
    case '~>':
      return tilde(condition, version);
    default:
      return caret(condition, version);
  }
}

function differs({ version: wanted, minorDirty, patchDirty }: Condition, version: SemverVersion): boolean {
  if (version.major !== wanted.major) return true;
  if (minorDirty) return false;
  if (version.minor !== wanted.minor) return true;
  if (!patchDirty) return version.compare(wanted) !== 0;
  return comparePrerelease(version.prerelease, wanted.prerelease) !== 0;
}

function tilde({ version: wanted, minorDirty, patchDirty }: Condition, version: SemverVersion): boolean {
  if (version.compare(wanted) < 0) return false;
  const isZero = wanted.major === 0n && wanted.minor === 0n && wanted.patch === 0n;
  if (isZero && !minorDirty && !patchDirty) return true;
  if (version.major !== wanted.major) return false;
  return version.minor === wanted.minor || minorDirty;
}

function caret({ version: wanted, minorDirty, patchDirty }: Condition, version: SemverVersion): boolean {
  if (version.compare(wanted) < 0) return false;
  if (version.major !== wanted.major) return false;
  if (wanted.major > 0n || minorDirty) return true;
  if (wanted.minor > 0n || patchDirty) return version.minor === wanted.minor;
  return version.minor === 0n && version.patch === wanted.patch;
}
