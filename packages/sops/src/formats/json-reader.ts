import { SopsError } from '../sops-error.ts';
import { type Leaf, Mapping, maxDepth, Sequence, type Value } from '../tree.ts';
import { maxValues, tooManyValues } from './too-many-values.ts';

/**
 * Reads any JSON value. Node's own parser judges what is JSON, but forgets the order of keys like `"7"` and the digits of large numbers,
 * so what it took is gone through once more. Nothing here calls itself: depth costs no stack.
 */
export function readJsonValue(text: string): Value {
  parseJson(text);
  const open: (Mapping | Sequence)[] = [];
  let key: string | undefined;
  let root: Value = null;
  let values = 0;
  const add = (value: Value): void => {
    values += 1;
    if (values > maxValues) throw tooManyValues('the file');
    const parent = open.at(-1);
    if (parent instanceof Mapping) parent.entries.push({ kind: 'item', key: key!, value });
    else if (parent instanceof Sequence) parent.elements.push({ kind: 'element', value });
    else root = value;
    key = undefined;
  };
  for (let at = 0; at < text.length;) {
    const character = text[at]!;
    let end = at + 1;
    if (character === '{' || character === '[') {
      const made = character === '{' ? new Mapping() : new Sequence();
      add(made);
      open.push(made);
      if (open.length > maxDepth) {
        throw new SopsError('input', `nested more than ${maxDepth} levels deep${placeOf(text, at)}`);
      }
    } else if (character === '}' || character === ']') open.pop();
    else if (character === '"') {
      end = endOfString(text, at);
      const word = JSON.parse(text.slice(at, end)) as string;
      if (key === undefined && open.at(-1) instanceof Mapping) key = word;
      else add(word);
    } else if (!' \t\n\r,:'.includes(character)) {
      end = endOfWord(text, at);
      add(leafOf(text, at, end));
    }
    at = end;
  }
  return root;
}

function parseJson(text: string): void {
  try {
    JSON.parse(text);
  } catch (error) {
    // The text of the error quotes the file, which may hold a secret; only the place is taken from it.
    const at = /at position (\d+)/.exec(String(error))?.[1];
    throw new SopsError('input', `not valid JSON${at === undefined ? '' : placeOf(text, Number(at))}`);
  }
}

function placeOf(text: string, at: number): string {
  const before = text.slice(0, at).split('\n');
  return ` at line ${before.length}, column ${before.at(-1)!.length + 1}`;
}

function endOfString(text: string, start: number): number {
  for (let at = start + 1; ; at += 1) {
    const character = text[at];
    if (character === '"') return at + 1;
    if (character === '\\') at += 1;
  }
}

function endOfWord(text: string, start: number): number {
  let at = start;
  while (at < text.length && !' \t\n\r,]}'.includes(text[at]!)) at += 1;
  return at;
}

function leafOf(text: string, start: number, end: number): Leaf {
  const word = text.slice(start, end);
  if (word === 'null') return null;
  if (word === 'true' || word === 'false') return word === 'true';
  // More digits than an int64 has are a float, however many they are.
  if (/^-?\d{1,19}$/.test(word)) {
    const whole = BigInt(word);
    if (BigInt.asIntN(64, whole) === whole) return whole;
  }
  const number = Number(word);
  if (Number.isFinite(number)) return number;
  throw new SopsError('input', `a number too large for a float cannot be encrypted${placeOf(text, start)}`, {
    hint: 'write it in quotes',
  });
}
