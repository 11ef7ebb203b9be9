/**
 * A whole number beyond what a JavaScript number holds exactly, as parsed JSON has it: it prints as it was written and is no
 * number to calculate with.
 */
export interface ExactInteger {
  readonly rawJSON: string;
}

declare global {
  interface JSON {
    /** A value that `JSON.stringify` prints as `text`, a JSON literal. */
    rawJSON(text: string): ExactInteger;
    isRawJSON(value: unknown): value is ExactInteger;
    parse(text: string, reviver: (key: string, value: unknown, context: { source?: string }) => unknown): unknown;
  }
}

/** A number where one is exact, its digits otherwise. */
export function exactInteger(value: bigint): number | ExactInteger {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : JSON.rawJSON(String(value));
}

export function isExactInteger(value: unknown): value is ExactInteger {
  return JSON.isRawJSON(value);
}

/** Whether a text may hold a whole number that a JavaScript number would round. */
const long = /\d{16}/;

/** `JSON.parse` that keeps whole numbers beyond 2^53 as {@link ExactInteger}. */
export function parseExactJson(text: string): unknown {
  if (!long.test(text)) return JSON.parse(text);
  return JSON.parse(text, (_key, value: unknown, { source }: { source?: string }) =>
    typeof value === 'number' && source !== undefined && /^-?\d+$/.test(source) && !Number.isSafeInteger(value)
      ? JSON.rawJSON(source)
      : value,
  );
}
