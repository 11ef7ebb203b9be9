import { byteLength, runeCount, textToBytes, withReplacements } from '../go/bytes.ts';
import { formatFloat } from '../go/float.ts';
import { GoObject, isNilContainer, SizedInt, type GoMap, type Value } from '../go/values.ts';
import { writeJson } from './json.ts';
import { naturalOrder } from './key-order.ts';
import { needsQuotes, type YamlDialect } from './resolve.ts';
import { scalarStyle, writeDoubleQuoted, writeLiteral, writePlain, writeSingleQuoted } from './write-scalar.ts';

export interface WriteYamlOptions {
  /** Default `v2`: what Helm's `toYaml` prints. */
  dialect?: YamlDialect;
  /** Columns per level. Default 2. */
  indent?: number;
  /**
   * Helm's `toYaml` writes JSON first and reads that as YAML: what its reader refuses cannot be written, and it takes U+0085 for the end
   * of a line. Default false.
   */
  throughJson?: boolean;
  /** Keys stay in the order of the map instead of go-yaml's, as a struct's do. Default false. */
  keepOrder?: boolean;
}

/** A value YAML cannot hold. */
export class UnwritableError extends Error {}

const maxDepth = 1000;
/** A longer key is written with a question mark before it. */
const longestSimpleKey = 128;

/**
 * Writes a value as go-yaml's emitter does, byte for byte: key order, quotes, folding at column 80 (v2), sequences not
 * indented under a mapping (v2). Ends with a line break.
 */
export function writeYaml(value: Value, options: WriteYamlOptions = {}): string {
  const writer = new Writer(options);
  writer.document(value);
  return writer.finished();
}

class Writer {
  /** Whole lines, and the one that is being written. A text that grows is made anew whenever somebody looks into it. */
  #lines = '';
  #last = '';
  readonly #dialect: YamlDialect;
  readonly #step: number;
  readonly #keepOrder: boolean;
  readonly #throughJson: boolean;
  readonly #width: number;

  constructor({ dialect = 'v2', indent = 2, keepOrder = false, throughJson = false }: WriteYamlOptions) {
    this.#dialect = dialect;
    this.#keepOrder = keepOrder;
    this.#throughJson = throughJson;
    this.#step = indent;
    this.#width = dialect === 'v2' ? 80 : Infinity;
  }

  finished(): string {
    // A literal block that keeps its line breaks ends with one already.
    return this.#last === '' && this.#lines !== '' ? this.#lines : `${this.#lines}${this.#last}\n`;
  }

  #write(text: string): void {
    const lineBreak = text.lastIndexOf('\n');
    if (lineBreak < 0) {
      this.#last += text;
      return;
    }
    this.#lines += this.#last + text.slice(0, lineBreak + 1);
    this.#last = text.slice(lineBreak + 1);
  }

  document(value: Value): void {
    const plain = toData(value, this.#dialect);
    if (isFilled(plain)) this.#collection(plain, 0, 1);
    else this.#scalar(plain, 0, 0);
  }

  /** A mapping or sequence whose entries start at column `indent`; the first stands where the text ends now. */
  #collection(value: GoMap | Value[], indent: number, depth: number): void {
    if (depth > maxDepth) throw new UnwritableError('the value is nested too deeply');
    if (value instanceof Map) this.#mapping(value, indent, depth);
    else this.#sequence(value, indent, depth);
  }

  #mapping(map: GoMap, indent: number, depth: number): void {
    let first = true;
    for (const key of this.#keepOrder ? map.keys() : naturalOrder(map.keys())) {
      if (!first) this.#line(indent);
      first = false;
      const value = toData(map.get(key), this.#dialect);
      if (this.#throughJson) checkReadable(key);
      const complex = lineBreak.test(key) || byteLength(key) > longestSimpleKey;
      if (complex) {
        this.#write('? ');
        this.#string(key, indent, indent + 2, false);
        this.#line(indent);
      } else this.#string(key, indent, this.#column(), true);
      this.#write(':');
      this.#value(value, indent, depth, !complex);
    }
  }

  #sequence(items: Value[], indent: number, depth: number): void {
    for (const [index, item] of items.entries()) {
      if (index > 0) this.#line(indent);
      this.#write('-');
      this.#value(toData(item, this.#dialect), indent, depth, false);
    }
  }

  /** What follows `:` or `-`. */
  #value(value: Value, indent: number, depth: number, inMapping: boolean): void {
    if (!isFilled(value)) {
      this.#write(' ');
      this.#scalar(value, indent, this.#column());
      return;
    }
    if (!inMapping) {
      // Nested entries start on the line of the dash.
      this.#write(' '.repeat(Math.max(this.#step - 1, 1)));
      this.#collection(value, indent + this.#step, depth + 1);
      return;
    }
    const indentless = Array.isArray(value) && this.#dialect === 'v2';
    const inner = indentless ? indent : indent + this.#step;
    this.#line(inner);
    this.#collection(value, inner, depth + 1);
  }

  #scalar(value: Value, indent: number, column: number): void {
    if (typeof value === 'string') this.#string(value, indent, column, false);
    else this.#write(scalarText(value, this.#dialect));
  }

  #string(written: string, indent: number, column: number, isKey: boolean): void {
    if (this.#dialect === 'v3' && !written.isWellFormed()) {
      this.#write(`!!binary ${Buffer.from(textToBytes(written)).toString('base64')}`);
      return;
    }
    const value = this.#throughJson ? readBack(written) : written;
    const layout = { indent: indent + this.#step, step: this.#step, column, width: isKey ? Infinity : this.#width };
    switch (scalarStyle(value, { quoted: needsQuotes(value, this.#dialect), isKey, dialect: this.#dialect })) {
      case 'plain':
        this.#write(writePlain(value, layout));
        break;
      case 'single':
        this.#write(writeSingleQuoted(value, layout));
        break;
      case 'double':
        this.#write(writeDoubleQuoted(value, layout));
        break;
      case 'literal':
        this.#write(writeLiteral(value, layout));
    }
  }

  #line(indent: number): void {
    // A literal block that keeps its last line breaks has ended the line already.
    if (this.#last !== '' || this.#lines === '')
      this.#lines += endsLine.test(this.#last) ? this.#last : `${this.#last}\n`;
    this.#last = ' '.repeat(indent);
  }

  #column(): number {
    return runeCount(this.#last);
  }
}

/** What ends a line of YAML. */
const lineBreak = /[\n\r\u0085\u2028\u2029]/;
/** What ends one that is being written. */
const endsLine = /[\u2028\u2029]$/;

/** Helm's reader does not look further for the colon behind a key in JSON, nor on another line. */
const longestReadKey = 1024;

function checkReadable(key: string): void {
  // An escape takes six characters at most.
  const isTooLong = key.length * 6 > longestReadKey && runeCount(writeJson(key)) > longestReadKey;
  if (isTooLong || key.includes('\u0085')) throw new UnwritableError("yaml: did not find expected ',' or '}'");
}

/** What Helm's reader makes of a text in JSON. */
function readBack(text: string): string {
  if (!/[\x7f-\x9f\ufffe\uffff]/.test(text)) return text;
  if (/[\x7f-\x84\x86-\x9f\ufffe\uffff]/.test(text))
    throw new UnwritableError('yaml: control characters are not allowed');
  return text.replace(/ *\u0085[ \u0085]*/g, (ends) => {
    const more = ends.replaceAll(' ', '').length - 1;
    return more === 0 ? ' ' : '\n'.repeat(more);
  });
}

/** Resolves what encoders see of objects and bytes. */
function toData(value: Value, dialect: YamlDialect): Value {
  if (value instanceof GoObject && value.isYamlScalar && dialect === 'v3') return value;
  if (value instanceof GoObject) return toData(value.plain(), dialect);
  if (value instanceof Uint8Array && dialect === 'v3') return [...value].map(BigInt);
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64');
  if (dialect === 'v2' && isNilContainer(value)) return null;
  return typeof value === 'string' && dialect === 'v2' && !value.isWellFormed() ? withReplacements(value) : value;
}

function isFilled(value: Value): value is GoMap | Value[] {
  return (value instanceof Map && value.size > 0) || (Array.isArray(value) && value.length > 0);
}

function scalarText(value: Value, dialect: YamlDialect): string {
  if (value === null || value === undefined) return 'null';
  if (typeof value === 'boolean' || typeof value === 'bigint') return String(value);
  if (typeof value === 'number') return numberText(value, dialect);
  if (value instanceof SizedInt) return String(value.value);
  // A time is no string: v3 writes it without quotes.
  if (value instanceof GoObject) return value.plain() as string;
  return Array.isArray(value) ? '[]' : '{}';
}

function numberText(value: number, dialect: YamlDialect): string {
  if (dialect === 'v2') {
    if (!Number.isFinite(value)) throw new UnwritableError(`json: unsupported value: ${formatFloat(value, 'g')}`);
    // Helm's way goes through JSON, where a whole float is written without a point.
    // With as few digits as tell it from others, it is read back as an integer where 64 bits hold that.
    const isWhole = Number.isInteger(value) && Math.abs(value) < 2 ** 64;
    return isWhole && BigInt(String(value)) >= -(1n << 63n) ? String(value) : formatFloat(value, 'g');
  }
  if (Number.isNaN(value)) return '.nan';
  if (!Number.isFinite(value)) return value > 0 ? '.inf' : '-.inf';
  return formatFloat(value, 'g');
}
