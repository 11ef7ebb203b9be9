import { stringify } from 'yaml';

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

/** A value as YAML: long lines stay whole, nothing is abbreviated. */
export function yamlText(value: unknown): string {
  return stringify(value, { lineWidth: 0, aliasDuplicateObjects: false });
}

/** Values as a YAML stream. */
export function yamlStream(values: readonly unknown[]): string {
  return values.map(yamlText).join('---\n');
}
