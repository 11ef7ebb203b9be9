import { parseFloatLiteral, parseInteger } from '../template/numbers.ts';

/** What a plain scalar means. Helm reads YAML 1.1 as go-yaml v2 does; helmfile as go-yaml v3 does. */
export type YamlDialect = 'v2' | 'v3';

export type Resolved =
  | { readonly tag: 'str' | 'timestamp' | 'merge'; readonly value: string }
  | { readonly tag: 'null'; readonly value: null }
  | { readonly tag: 'bool'; readonly value: boolean }
  | { readonly tag: 'int'; readonly value: bigint }
  | { readonly tag: 'float'; readonly value: number };

const nulls = new Set(['', '~', 'null', 'Null', 'NULL']);
const trues = new Set(['true', 'True', 'TRUE']);
const falses = new Set(['false', 'False', 'FALSE']);
const oldTrues = new Set(['y', 'Y', 'yes', 'Yes', 'YES', 'on', 'On', 'ON']);
const oldFalses = new Set(['n', 'N', 'no', 'No', 'NO', 'off', 'Off', 'OFF']);
const special = new Map<string, number>();
for (const text of ['.inf', '.Inf', '.INF']) {
  special.set(text, Infinity);
  special.set(`+${text}`, Infinity);
  special.set(`-${text}`, -Infinity);
}
for (const text of ['.nan', '.NaN', '.NAN']) special.set(text, Number.NaN);

/** Characters a scalar that is not a string can begin with. */
const meaningful = /^[-+.0-9yYnNtTfFoO~<]/;
const yamlFloat = /^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$/;
const base60 = /^[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?$/;
const timestamp =
  /^(\d{4})-(\d{1,2})-(\d{1,2})(?:[Tt](\d{1,2}):(\d{1,2}):(\d{1,2})(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)| (\d{1,2}):(\d{1,2}):(\d{1,2})(?:\.\d+)?)?$/;
const minInt = -(1n << 63n);
const maxUint = (1n << 64n) - 1n;

export function resolvePlain(text: string, dialect: YamlDialect = 'v2'): Resolved {
  if (nulls.has(text)) return { tag: 'null', value: null };
  if (!meaningful.test(text)) return { tag: 'str', value: text };
  if (trues.has(text)) return { tag: 'bool', value: true };
  if (falses.has(text)) return { tag: 'bool', value: false };
  if (dialect === 'v2' && oldTrues.has(text)) return { tag: 'bool', value: true };
  if (dialect === 'v2' && oldFalses.has(text)) return { tag: 'bool', value: false };
  if (text === '<<') return { tag: 'merge', value: text };
  const limit = special.get(text);
  if (limit !== undefined) return { tag: 'float', value: limit };
  const first = text[0]!;
  if (first === '.') {
    const float = parseFloatLiteral(text);
    return float === undefined ? { tag: 'str', value: text } : { tag: 'float', value: float };
  }
  if (!/[-+0-9]/.test(first)) return { tag: 'str', value: text };
  if (isTimestamp(text)) return { tag: 'timestamp', value: text };
  return resolveNumber(text, dialect) ?? { tag: 'str', value: text };
}

function resolveNumber(text: string, dialect: YamlDialect): Resolved | undefined {
  const plain = text.replaceAll('_', '');
  const integer = parseInteger(plain);
  if (integer !== undefined && integer >= minInt && integer <= maxUint) return { tag: 'int', value: integer };
  if (yamlFloat.test(plain)) {
    const float = Number(plain);
    if (Number.isFinite(float)) return { tag: 'float', value: float };
  }
  const octal = dialect === 'v3' ? /^(-?)0o([0-7]+)$/.exec(plain) : null;
  return octal ? { tag: 'int', value: BigInt(`0o${octal[2]}`) * (octal[1] ? -1n : 1n) } : undefined;
}

function isTimestamp(text: string): boolean {
  const match = timestamp.exec(text);
  if (!match) return false;
  const [, year, month, day] = match.map(Number);
  const hour = Number(match[4] ?? match[7] ?? 0);
  const minute = Number(match[5] ?? match[8] ?? 0);
  const second = Number(match[6] ?? match[9] ?? 0);
  if (hour > 23 || minute > 59 || second > 59 || month! < 1 || month! > 12 || day! < 1) return false;
  return day! <= new Date(Date.UTC(year!, month!, 0)).getUTCDate();
}

/** Whether a string, written plainly, would be read back as something else. */
export function needsQuotes(text: string, dialect: YamlDialect = 'v2'): boolean {
  const { tag } = resolvePlain(text, dialect);
  if ((tag !== 'str' && tag !== 'merge') || base60.test(text)) return true;
  return dialect === 'v3' && (oldTrues.has(text) || oldFalses.has(text));
}
