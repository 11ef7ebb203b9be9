import type { Environment } from '@marcbachmann/cel-js';
import { compileRe2 } from './re2.ts';

class StringsNamespace {}

/** The name `matches` is evaluated under: the one of the language's library backtracks. Nobody can write it. */
export const linearMatches = '@matches';

/** The strings extension (what the language does not already have) and Kubernetes' regular expressions. */
export function registerStrings(environment: Environment): void {
  const define = (signature: string, handler: (...values: never[]) => unknown): void => {
    environment.registerFunction(signature, handler as (...values: unknown[]) => unknown);
  };
  define('string.charAt(int): string', (text: string, index: bigint) => {
    const letters = Array.from(text);
    if (index < 0n || index > BigInt(letters.length)) throw new Error(`index out of range: ${index}`);
    return letters[Number(index)] ?? '';
  });
  define('string.replace(string, string): string', (text: string, old: string, next: string) =>
    text.replaceAll(old, () => next),
  );
  define('string.replace(string, string, int): string', (text: string, old: string, next: string, limit: bigint) => {
    if (limit < 0n) return text.replaceAll(old, () => next);
    let result = '';
    let rest = text;
    for (let count = 0n; count < limit; count++) {
      const index = rest.indexOf(old);
      if (index < 0) break;
      result += rest.slice(0, index) + next;
      rest = rest.slice(index + old.length);
      if (old === '') {
        result += rest.slice(0, 1);
        rest = rest.slice(1);
      }
    }
    return result + rest;
  });
  define('string.reverse(): string', (text: string) => Array.from(text).toReversed().join(''));
  environment.registerFunction({
    name: linearMatches,
    receiverType: 'string',
    returnType: 'bool',
    params: [{ name: 'pattern', type: 'string' }],
    handler: (text: string, pattern: string) => compileRe2(pattern).test(text),
  });
  define('string.find(string): string', (text: string, pattern: string) => compileRe2(pattern).find(text) ?? '');
  define('string.findAll(string): list<string>', (text: string, pattern: string) => findAll(text, pattern, -1n));
  define('string.findAll(string, int): list<string>', (text: string, pattern: string, limit: bigint) =>
    findAll(text, pattern, limit),
  );
  define('string.format(list): string', (text: string, values: unknown[]) => formatted(text, values));
  environment.registerType('StringsNamespace', { ctor: StringsNamespace, fields: {} });
  environment.registerConstant('strings', 'StringsNamespace', new StringsNamespace());
  define('StringsNamespace.quote(string): string', (_namespace: unknown, text: string) => JSON.stringify(text));
}

function findAll(text: string, pattern: string, limit: bigint): string[] {
  return compileRe2(pattern).findAll(text, limit < 0n ? Infinity : Number(limit));
}

/** `'%d of %s'.format([1, 'x'])`. */
function formatted(text: string, values: readonly unknown[]): string {
  let next = 0;
  return text.replace(/%(%|(?:\.(\d+))?([sdfeboxX]))|%/g, (whole, body?: string, precision?: string, verb?: string) => {
    if (body === '%') return '%';
    if (verb === undefined) throw new Error(`could not parse formatting clause: ${whole}`);
    if (next >= values.length) throw new Error(`index ${next} out of range`);
    return clause(verb, values[next++], precision === undefined ? undefined : Number(precision));
  });
}

function clause(verb: string, value: unknown, precision: number | undefined): string {
  switch (verb) {
    case 's':
      return printed(value);
    case 'd':
      if (typeof value === 'bigint' || typeof value === 'number') return value.toString();
      break;
    case 'f':
      if (typeof value === 'bigint' || typeof value === 'number') return Number(value).toFixed(precision ?? 6);
      break;
    case 'e':
      if (typeof value === 'bigint' || typeof value === 'number') {
        return Number(value)
          .toExponential(precision ?? 6)
          .replace(/e([+-])(\d)$/, 'e$10$2');
      }
      break;
    case 'b':
      if (typeof value === 'boolean') return value ? '1' : '0';
      if (typeof value === 'bigint') return value.toString(2);
      break;
    case 'o':
      if (typeof value === 'bigint') return value.toString(8);
      break;
    default: {
      const upper = verb === 'X';
      let hex: string | undefined;
      if (typeof value === 'bigint') hex = value.toString(16);
      else if (typeof value === 'string') hex = Buffer.from(value).toString('hex');
      else if (value instanceof Uint8Array) hex = Buffer.from(value).toString('hex');
      if (hex !== undefined) return upper ? hex.toUpperCase() : hex;
    }
  }
  throw new Error(`error during formatting: no formatting function for %${verb}`);
}

function printed(value: unknown): string {
  if (value === null || value === undefined) return 'null';
  if (value instanceof Date) return value.toISOString().replace('.000Z', 'Z');
  if (Array.isArray(value))
    return `[${value.map((item) => (typeof item === 'string' ? `"${item}"` : printed(item))).join(', ')}]`;
  if (value instanceof Map) {
    const entries = [...value.entries()].map(
      ([key, entry]) => `"${String(key)}": ${typeof entry === 'string' ? `"${entry}"` : printed(entry)}`,
    );
    return `{${entries.toSorted().join(', ')}}`;
  }
  return String(value);
}
