import { stringify } from 'yaml';

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
  return stringify(value, exactInteger, { lineWidth: 0, aliasDuplicateObjects: false, compat: 'yaml-1.1' });
}

/** The writer of YAML prints an integer of any size, but knows only JavaScript's own. */
function exactInteger(_key: unknown, value: unknown): unknown {
  return isLargeInteger(value) ? toBigInt(value) : value;
}

/** Values as a YAML stream. */
export function yamlStream(values: readonly unknown[]): string {
  return values.map(yamlText).join('---\n');
}
