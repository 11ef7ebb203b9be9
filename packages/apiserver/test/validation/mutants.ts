import type { Json } from '../differential/case.ts';

/** A body with one thing wrong, and what. */
export interface Mutant {
  readonly name: string;
  readonly body: Json;
}

const oddTexts: readonly string[] = ['', 'Not_A_Name!', 'x'.repeat(300), '-1', '10.0.0.999'];
const oddNumbers: readonly number[] = [-1, 0, 70_000, 2 ** 31 - 1];

function oddValues(value: Json): readonly [string, Json][] {
  if (typeof value === 'string') return oddTexts.map((text) => [JSON.stringify(text.slice(0, 12)), text]);
  if (typeof value === 'number') return oddNumbers.map((number) => [String(number), number]);
  if (typeof value === 'boolean') return [[String(!value), !value]];
  if (Array.isArray(value))
    return [['[]', []], ...(value.length > 0 ? [['twice', [...value, ...value]] as [string, Json]] : [])];
  return [['{}', {}]];
}

/** The same object with the value at one place changed in one way, or left out; every place and every way. */
export function mutantsOf(body: Json, spared: (path: string) => boolean = () => false): Mutant[] {
  const found: Mutant[] = [];
  const visit = (value: Json, path: readonly (string | number)[]): void => {
    const text = path.join('.');
    if (path.length > 0 && !spared(text)) {
      for (const [name, odd] of oddValues(value))
        found.push({ name: `${text}: ${name}`, body: replaced(body, path, odd) });
      found.push({ name: `${text}: gone`, body: replaced(body, path, undefined) });
    }
    if (typeof value !== 'object' || value === null) return;
    for (const [key, inner] of Object.entries(value)) visit(inner, [...path, Array.isArray(value) ? Number(key) : key]);
  };
  visit(body, []);
  return found;
}

function replaced(value: Json, [head, ...rest]: readonly (string | number)[], odd: Json): Json {
  if (head === undefined) return odd;
  if (Array.isArray(value)) {
    const copy = [...value];
    const inner = replaced(copy[head as number], rest, odd);
    if (inner === undefined) copy.splice(head as number, 1);
    else copy[head as number] = inner;
    return copy;
  }
  const { [head]: inner, ...others } = value;
  const changed = replaced(inner, rest, odd);
  return changed === undefined ? others : { ...others, [head]: changed };
}
