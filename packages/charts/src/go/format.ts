import { byteLength, bytesToText, runeCount, runes, textToBytes } from './bytes.ts';
import { formatBinaryFloat } from './binary-float.ts';
import { formatFloat, type FloatFormat } from './float.ts';
import { isPrintable, canBackquote, quote } from './quote.ts';
import { type GoObject, isNilContainer, SizedInt, sortedKeys, typeOf, type Value } from './values.ts';

/** Go's `fmt`: `Sprint`, `Sprintln`, `Sprintf`, with its verbs, flags and complaints (`%!d(string=x)`). */

export function sprint(args: readonly Value[]): string {
  let text = '';
  for (const [index, arg] of args.entries()) {
    const bothPlain = index > 0 && typeof arg !== 'string' && typeof args[index - 1] !== 'string';
    text += (bothPlain ? ' ' : '') + show(arg);
  }
  return text;
}

export function sprintln(args: readonly Value[]): string {
  return `${args.map(show).join(' ')}\n`;
}

/** `%v`. */
export function show(value: Value): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'bigint' || typeof value === 'boolean') return String(value);
  return formatArgument(value, 'v', noFlags);
}

interface Flags {
  sharp: boolean;
  zero: boolean;
  plus: boolean;
  minus: boolean;
  space: boolean;
  /** `%#v` */
  goSyntax: boolean;
  width: number | undefined;
  precision: number | undefined;
}

const noFlags: Readonly<Flags> = {
  sharp: false,
  zero: false,
  plus: false,
  minus: false,
  space: false,
  goSyntax: false,
  width: undefined,
  precision: undefined,
};

/** Widths above this are complaints in Go, too. */
const largestNumber = 1e6;

export function sprintf(format: string, args: readonly Value[]): string {
  let text = '';
  let index = 0;
  let argument = 0;
  let reordered = false;
  while (index < format.length) {
    const next = format.indexOf('%', index);
    if (next < 0) {
      text += format.slice(index);
      break;
    }
    text += format.slice(index, next);
    index = next + 1;
    const flags: Flags = { ...noFlags };
    for (; index < format.length; index += 1) {
      const char = format[index];
      if (char === '#') flags.sharp = true;
      else if (char === '0') flags.zero = true;
      else if (char === '+') flags.plus = true;
      else if (char === '-') flags.minus = true;
      else if (char === ' ') flags.space = true;
      else break;
    }
    let goodNumber = true;
    let afterIndex = false;
    const explicitIndex = () => {
      afterIndex = false;
      if (format[index] !== '[') return;
      reordered = true;
      const close = format.indexOf(']', index);
      if (close < 0) {
        goodNumber = false;
        index += 1;
        return;
      }
      const number = format.slice(index + 1, close);
      index = close + 1;
      // One that is out of range is an index all the same: no other may follow.
      afterIndex = /^\d+$/.test(number);
      if (!afterIndex || Number(number) < 1 || Number(number) > args.length) goodNumber = false;
      else argument = Number(number) - 1;
    };
    const digits = (): number | undefined => {
      const match = /^\d+/.exec(format.slice(index, index + 10));
      if (!match) return undefined;
      index += match[0].length;
      return Number(match[0]) > largestNumber ? undefined : Number(match[0]);
    };
    const numberFromArgument = (): number | undefined => {
      const value = args[argument];
      argument += 1;
      const number = typeof value === 'bigint' ? value : value instanceof SizedInt ? value.value : undefined;
      return number === undefined || number > 1_000_000n || number < -1_000_000n ? undefined : Number(number);
    };
    explicitIndex();
    if (format[index] === '*') {
      index += 1;
      flags.width = numberFromArgument();
      if (flags.width === undefined) text += '%!(BADWIDTH)';
      else if (flags.width < 0) {
        flags.width = -flags.width;
        flags.minus = true;
        flags.zero = false;
      }
      afterIndex = false;
    } else {
      flags.width = digits();
      if (afterIndex && flags.width !== undefined) goodNumber = false;
    }
    if (format[index] === '.' && index + 1 < format.length) {
      index += 1;
      if (afterIndex) goodNumber = false;
      explicitIndex();
      if (format[index] === '*') {
        index += 1;
        flags.precision = numberFromArgument();
        if (flags.precision !== undefined && flags.precision < 0) flags.precision = undefined;
        if (flags.precision === undefined) text += '%!(BADPREC)';
        afterIndex = false;
      } else {
        flags.precision = digits() ?? 0;
      }
    }
    if (!afterIndex) explicitIndex();
    if (index >= format.length) {
      text += '%!(NOVERB)';
      break;
    }
    const verb = String.fromCodePoint(format.codePointAt(index)!);
    index += verb.length;
    if (verb === '%') text += '%';
    else if (!goodNumber) text += `%!${verb}(BADINDEX)`;
    else if (argument >= args.length) text += `%!${verb}(MISSING)`;
    else {
      if (verb === 'v') {
        flags.goSyntax = flags.sharp;
        flags.sharp = false;
        flags.plus = false;
      }
      text += formatArgument(args[argument], verb, flags);
      argument += 1;
    }
  }
  if (!reordered && argument < args.length) {
    const extra = args.slice(argument).map((arg) => (isNil(arg) ? '<nil>' : `${typeOf(arg)}=${show(arg)}`));
    text += `%!(EXTRA ${extra.join(', ')})`;
  }
  return text;
}

function isNil(value: Value): value is null | undefined {
  return value === null || value === undefined;
}

function formatArgument(value: Value, verb: string, flags: Readonly<Flags>): string {
  if (isNil(value)) return verb === 'T' || verb === 'v' ? pad('<nil>', flags) : `%!${verb}(<nil>)`;
  if (verb === 'T') return formatString(typeOf(value), 's', flags)!;
  return formatValue(value, verb, flags);
}

/** One value, at any depth. A complaint shows it with the same flags. */
function formatValue(value: Value, verb: string, flags: Readonly<Flags>): string {
  const text = formatted(value, verb, flags);
  return text ?? `%!${verb}(${typeOf(value)}=${formatted(value, 'v', { ...flags, goSyntax: false })})`;
}

function formatted(value: Value, verb: string, flags: Readonly<Flags>): string | undefined {
  if (isNil(value)) return flags.goSyntax ? 'interface {}(nil)' : '<nil>';
  switch (typeof value) {
    case 'boolean':
      return verb === 't' || verb === 'v' ? pad(String(value), flags) : undefined;
    case 'string':
      return formatString(value, verb, flags);
    case 'bigint':
      return formatInteger(value, verb, flags);
    case 'number':
      return formatNumber(value, verb, flags);
  }
  if (value instanceof SizedInt) {
    const named = value.text !== undefined && (verb === 'v' || verb === 's') && !flags.goSyntax;
    return named ? formatString(value.text, 's', flags) : formatInteger(value.value, verb, flags);
  }
  if (value instanceof Uint8Array) return formatBytes(value, verb, flags);
  if (flags.goSyntax && isNilContainer(value)) return `${typeOf(value)}(nil)`;
  if (Array.isArray(value)) {
    const items = value.map((item) => formatValue(item, verb, flags));
    return flags.goSyntax ? `${typeOf(value)}{${items.join(', ')}}` : `[${items.join(' ')}]`;
  }
  if (value instanceof Map) {
    const entries = sortedKeys(value).map(
      (key) => `${formatValue(key, verb, flags)}:${formatValue(value.get(key), verb, flags)}`,
    );
    return flags.goSyntax ? `${typeOf(value)}{${entries.join(', ')}}` : `map[${entries.join(' ')}]`;
  }
  return formatObject(value, verb, flags);
}

function formatObject(value: GoObject, verb: string, flags: Readonly<Flags>): string | undefined {
  const isContainer = value.goKind === 'map' || value.goKind === 'slice';
  if (isContainer && verb !== 'v' && verb !== 's') return formatted(value.contents(), verb, flags);
  return formatString(value.text(), verb === 'v' ? 's' : verb, { ...flags, goSyntax: false });
}

function formatString(value: string, verb: string, flags: Readonly<Flags>): string | undefined {
  switch (verb) {
    case 'v':
      if (flags.goSyntax) return pad(quote(truncate(value, flags)), flags);
      return pad(truncate(value, flags), flags);
    case 's':
      return pad(truncate(value, flags), flags);
    case 'q': {
      const text = truncate(value, flags);
      if (flags.sharp && canBackquote(text)) return pad(`\`${text}\``, flags);
      return pad(quote(text, '"', { ascii: flags.plus }), flags);
    }
    case 'x':
    case 'X':
      return hexOf(textToBytes(value), verb, flags);
    default:
      return undefined;
  }
}

function formatBytes(value: Uint8Array, verb: string, flags: Readonly<Flags>): string | undefined {
  if (verb === 'v' || verb === 'd') {
    if (flags.goSyntax) return `[]byte{${[...value].map((byte) => `0x${byte.toString(16)}`).join(', ')}}`;
    return `[${[...value].map((byte) => formatInteger(BigInt(byte), 'd', flags)).join(' ')}]`;
  }
  if (verb === 's' || verb === 'q' || verb === 'x' || verb === 'X')
    return formatString(bytesToText(value), verb, flags);
  return `[${[...value].map((byte) => formatValue(new SizedInt('uint8', BigInt(byte)), verb, flags)).join(' ')}]`;
}

function hexOf(bytes: Uint8Array, verb: string, flags: Readonly<Flags>): string {
  const kept = flags.precision === undefined ? bytes : bytes.subarray(0, flags.precision);
  let text = [...kept]
    .map((byte, index) => {
      const digits = byte.toString(16).padStart(2, '0');
      if (flags.space) return (index > 0 ? ' ' : '') + (flags.sharp ? '0x' : '') + digits;
      return digits;
    })
    .join('');
  if (flags.sharp && !flags.space && text !== '') text = `0x${text}`;
  return pad(verb === 'X' ? text.toUpperCase() : text, flags);
}

function truncate(text: string, flags: Readonly<Flags>): string {
  return flags.precision === undefined ? text : runes(text).slice(0, flags.precision).join('');
}

function pad(text: string, flags: Readonly<Flags>): string {
  if (flags.width === undefined) return text;
  const missing = flags.width - runeCount(text);
  if (missing <= 0) return text;
  if (flags.minus) return text + ' '.repeat(missing);
  return (flags.zero ? '0' : ' ').repeat(missing) + text;
}

const bases: Readonly<Record<string, number>> = { v: 10, d: 10, b: 2, o: 8, O: 8, x: 16, X: 16 };

function formatInteger(value: bigint, verb: string, flags: Readonly<Flags>): string | undefined {
  if (verb === 'c') return pad(runeText(value), flags);
  if (verb === 'q') return pad(quote(runeText(value), "'", { ascii: flags.plus }), flags);
  if (verb === 'U') return formatCodePoint(value, flags);
  const base = bases[verb];
  if (base === undefined) return undefined;
  const negative = value < 0n;
  let digits = (negative ? -value : value).toString(base);
  if (flags.precision === 0 && value === 0n) return ' '.repeat(flags.width ?? 0);
  const signed = negative || flags.plus || flags.space;
  if (flags.precision !== undefined) digits = digits.padStart(flags.precision, '0');
  else if (flags.zero && !flags.minus && flags.width !== undefined)
    digits = digits.padStart(flags.width - (signed ? 1 : 0), '0');
  let prefix = '';
  if (flags.sharp) {
    if (base === 2) prefix = '0b';
    else if (base === 8 && digits[0] !== '0') prefix = '0';
    else if (base === 16) prefix = '0x';
  }
  if (verb === 'O') prefix = `0o${prefix}`;
  let text = prefix + digits;
  if (verb === 'X') text = text.toUpperCase();
  const sign = negative ? '-' : flags.plus ? '+' : flags.space ? ' ' : '';
  return pad(sign + text, { ...flags, zero: false });
}

function runeText(value: bigint): string {
  const valid = value >= 0n && value <= 0x10ffffn && !(value >= 0xd800n && value <= 0xdfffn);
  return valid ? String.fromCodePoint(Number(value)) : '\ufffd';
}

function formatCodePoint(value: bigint, flags: Readonly<Flags>): string {
  const digits = BigInt.asUintN(64, value)
    .toString(16)
    .toUpperCase()
    .padStart(Math.max(flags.precision ?? 4, 4), '0');
  const char =
    flags.sharp && value >= 0n && value <= 0x10ffffn && isPrintable(runeText(value)) ? ` '${runeText(value)}'` : '';
  return pad(`U+${digits}${char}`, { ...flags, zero: false });
}

function formatNumber(value: number, verb: string, flags: Readonly<Flags>): string | undefined {
  let text: string;
  switch (verb) {
    case 'v':
      text = formatFloat(value, 'g', flags.precision ?? -1);
      break;
    case 'e':
    case 'E':
    case 'f':
    case 'F':
      text = formatFloat(value, (verb === 'F' ? 'f' : verb) as FloatFormat, flags.precision ?? 6);
      break;
    case 'g':
    case 'G':
      text = formatFloat(value, verb, flags.precision ?? -1);
      break;
    case 'b':
    case 'x':
    case 'X':
      text = Number.isFinite(value) ? formatBinaryFloat(value, verb, flags.precision) : formatFloat(value, 'g');
      break;
    default:
      return undefined;
  }
  if (flags.sharp && !flags.goSyntax && verb !== 'b') text = keepPoint(text, verb, flags);
  const signed = text.startsWith('+') || text.startsWith('-') ? text : `+${text}`;
  if (!Number.isFinite(value)) {
    const shown = signed.startsWith('-') || flags.plus ? signed : Number.isNaN(value) ? 'NaN' : '+Inf';
    return pad(flags.space && !flags.plus && !shown.startsWith('-') ? ` ${shown.replace('+', '')}` : shown, {
      ...flags,
      zero: false,
    });
  }
  const sign = signed.startsWith('-') ? '-' : flags.plus ? '+' : flags.space ? ' ' : '';
  const digits = signed.slice(1);
  if (flags.zero && !flags.minus && flags.width !== undefined && flags.width > byteLength(sign + digits))
    return sign + digits.padStart(flags.width - sign.length, '0');
  return pad(sign + digits, { ...flags, zero: false });
}

/** With `#`, a point is always shown, and `%g` keeps trailing zeros. */
function keepPoint(text: string, verb: string, flags: Readonly<Flags>): string {
  const isHex = verb === 'x' || verb === 'X';
  const [, mantissa = '', exponent = ''] = (isHex ? /^(.*?)([pP].*)?$/ : /^(.*?)([eE].*)?$/).exec(text)!;
  let missing = 'vgGx'.includes(verb) ? (flags.precision ?? 6) : 0;
  missing -= mantissa.replace(/^[-+]?[0.]*|\./g, '').length;
  const hasPoint = mantissa.includes('.');
  if (!hasPoint && /^[-+]?0$/.test(mantissa)) missing -= 1;
  return mantissa + (hasPoint ? '' : '.') + '0'.repeat(Math.max(missing, 0)) + exponent;
}
