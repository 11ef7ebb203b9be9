import { floatText } from '../leaf-bytes.ts';
import { type Comment, type Documents, type Leaf, Mapping, Sequence, Timestamp, type Value } from '../tree.ts';
import { blockText, defaultIndent, inlineText } from './yaml-strings.ts';

/** YAML in the layout of sops, so that a file both of them write changes only where its content does. */
export function writeDocuments(documents: Documents, indent: number = defaultIndent): string {
  // The Go library takes no other, and says nothing.
  const writer = new Writer(indent < 2 || indent > 9 ? 2 : indent);
  return documents.map((mapping) => writer.document(mapping)).join('---\n');
}

/** One value as a document of its own. */
export function writeValue(value: Value): string {
  return new Writer(defaultIndent).value(value);
}

class Writer {
  readonly #indent: number;

  constructor(indent: number) {
    this.#indent = indent;
  }

  value(value: Value): string {
    if (value instanceof Mapping) return this.document(value);
    const lines = this.#value(value, 0, 0);
    // The line of a key that is not there.
    if (isFull(value)) lines.shift();
    return lines.map((line) => `${line}\n`).join('');
  }

  document(mapping: Mapping): string {
    const lines = this.#mapping(mapping, 0);
    if (!hasItems(mapping)) lines.push('{}');
    return lines.map((line) => `${line}\n`).join('');
  }

  #mapping(mapping: Mapping, column: number): string[] {
    const lines: string[] = [];
    const waiting = new WaitingComments(column);
    for (const entry of mapping.entries) {
      if (entry.kind === 'comment') {
        waiting.add(entry);
        continue;
      }
      // Quoted, a merge would be one no more.
      const key = entry.key === '<<' ? '!!merge <<' : inlineText(entry.key);
      const margin = ' '.repeat(column);
      const [first, ...rest] = this.#value(entry.value, this.#below(column), column);
      // YAML reads a key of more than 1024 characters only in this form.
      const before = key.length > 1024 ? [`${margin}? ${key}`, `${margin}:`] : [`${margin}${key}:`];
      before.push(before.pop()! + (first === '' ? '' : ` ${first}`));
      append(lines, waiting.around(before, entry.value, rest.length > 0), rest);
    }
    return [...lines, ...waiting.left()];
  }

  #sequence(sequence: Sequence, column: number): string[] {
    const lines: string[] = [];
    const waiting = new WaitingComments(column);
    for (const element of sequence.elements) {
      if (element.kind === 'comment') {
        waiting.add(element);
        continue;
      }
      const dash = `${' '.repeat(column)}- `;
      const inner = column + 2;
      if (isFull(element.value)) {
        const [first = '', ...rest] = this.#collection(element.value, inner);
        append(lines, waiting.around([dash + first.slice(inner)], element.value, true), rest);
      } else {
        const [first = '', ...rest] = this.#value(element.value, inner, column);
        append(lines, waiting.around([dash + first], element.value, rest.length > 0), rest);
      }
    }
    return [...lines, ...waiting.left()];
  }

  /** What stands on the line of the key, empty when nothing does, and the lines below it in a column. The key begins in another. */
  #value(value: Value, column: number, begin: number): string[] {
    if (isFull(value)) return ['', ...this.#collection(value, column)];
    if (value instanceof Mapping) return ['{}'];
    if (value instanceof Sequence) return ['[]'];
    if (value instanceof Uint8Array) return [`!!binary ${Buffer.from(value).toString('base64')}`];
    if (typeof value !== 'string') return [plainText(value)];
    const step = column - begin === this.#indent ? this.#indent : undefined;
    return (blockText(value, column, step) ?? inlineText(value)).split('\n');
  }

  #collection(value: Mapping | Sequence, column: number): string[] {
    return value instanceof Mapping ? this.#mapping(value, column) : this.#sequence(value, column);
  }

  /** Where what is below a key begins: at the next multiple of the indentation. */
  #below(column: number): number {
    return (Math.floor(column / this.#indent) + 1) * this.#indent;
  }
}

/** One by one: a call takes only so many arguments. */
function append(lines: string[], ...more: readonly (readonly string[])[]): void {
  for (const each of more) for (const line of each) lines.push(line);
}

function hasItems(mapping: Mapping): boolean {
  return mapping.entries.some((entry) => entry.kind === 'item');
}

function isFull(value: Value): value is Mapping | Sequence {
  if (value instanceof Mapping) return hasItems(value);
  return value instanceof Sequence && value.elements.some((element) => element.kind === 'element');
}

/** Comments on their way to the line they stand above, at the end of, or below. */
class WaitingComments {
  readonly #margin: string;
  #own: string[] = [];
  #inline: string[] = [];

  constructor(column: number) {
    this.#margin = ' '.repeat(column);
  }

  add(comment: Comment): void {
    (comment.inline ? this.#inline : this.#own).push(`#${comment.text}`);
  }

  around(lines: readonly string[], value: Value, goesOn: boolean): string[] {
    const [inline] = this.#inline;
    const fits = this.#inline.length === 1 && !goesOn && !(value instanceof Mapping) && !(value instanceof Sequence);
    if (inline === undefined || !fits) return [...this.left(), ...lines];
    this.#inline = [];
    return [...this.left(), ...lines.slice(0, -1), `${lines.at(-1)} ${inline}`];
  }

  left(): string[] {
    const lines = [...this.#own, ...this.#inline].map((comment) => this.#margin + comment);
    this.#own = [];
    this.#inline = [];
    return lines;
  }
}

function plainText(leaf: Exclude<Leaf, string | Uint8Array>): string {
  if (leaf === null) return 'null';
  if (leaf instanceof Timestamp) return leaf.text;
  if (typeof leaf !== 'number') return String(leaf);
  if (Number.isNaN(leaf)) return '.nan';
  if (!Number.isFinite(leaf)) return leaf > 0 ? '.inf' : '-.inf';
  const [mantissa = '', exponent = ''] = leaf.toExponential().split('e');
  // As the Go library has it, but that a whole number which was a float stays one.
  if (Number(exponent) < -4 || Number(exponent) >= 6) {
    return `${mantissa}e${exponent.replace(/^([-+])(\d)$/, '$10$2')}`;
  }
  const text = floatText(leaf);
  return text.includes('.') ? text : `${text}.0`;
}
