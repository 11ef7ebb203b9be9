import { Scalar, stringify } from 'yaml';

import { isLargeInteger, toBigInt } from '../json.ts';

/** `-o` of the commands that print rows. */
export const outputFlag = {
  type: 'string',
  short: 'o',
  value: 'format',
  summary: 'output format',
  choices: ['table', 'wide', 'json', 'yaml', 'name'],
  default: 'table',
} as const;

export type OutputFormat = (typeof outputFlag.choices)[number];

/**
 * A value as YAML: long lines stay whole, nothing is abbreviated. Texts such as `yes` and `12:30:45` are quoted, because
 * kubectl reads YAML 1.1, where they are something else.
 */
export function yamlText(value: unknown): string {
  return stringify(value, unmistakable, { lineWidth: 0, aliasDuplicateObjects: false, compat: 'yaml-1.1' });
}

/** Such as `+_0` and `0e_1`: Go, and so kubectl, takes away the underscores and reads a number. */
const numberWithUnderscores = /^(?=.*_)[-+.0-9_eE]+$/;

/** The writer of YAML prints integers of any size but knows only JavaScript's own, and does not know all texts that look like numbers. */
function unmistakable(_key: unknown, value: unknown): unknown {
  if (typeof value === 'string' && numberWithUnderscores.test(value)) {
    const quoted = new Scalar(value);
    quoted.type = Scalar.QUOTE_DOUBLE;
    return quoted;
  }
  return isLargeInteger(value) ? toBigInt(value) : value;
}

/** Values as a YAML stream. */
export function yamlStream(values: readonly unknown[]): string {
  return values.map(yamlText).join('---\n');
}
