import type { SchemaDraft } from '@cfworker/json-schema';
import { goPattern } from './go-pattern.ts';

/** Which words a schema may use: `$schema` says when it was written. */
export type Draft = 4 | 6 | 7 | 2019 | 2020;

export function draftOf(name: unknown): Draft {
  const text = typeof name === 'string' ? name : '';
  if (text.includes('draft-04')) return 4;
  if (text.includes('draft-06')) return 6;
  if (text.includes('draft-07')) return 7;
  return text.includes('2019-09') ? 2019 : 2020;
}

/** What the validator calls it. */
export function validatorDraft(draft: Draft): SchemaDraft {
  if (draft === 4) return '4';
  if (draft < 2019) return '7';
  return draft === 2019 ? '2019-09' : '2020-12';
}

/** Words that meant nothing before. The validator knows them in every draft. */
const since = new Map<string, Draft>([
  ...['const', 'contains', 'propertyNames'].map((word) => [word, 6] as const),
  ...['if', 'then', 'else'].map((word) => [word, 7] as const),
  ...['dependentRequired', 'dependentSchemas', 'unevaluatedProperties', 'unevaluatedItems'].map(
    (word) => [word, 2019] as const,
  ),
  ...['minContains', 'maxContains', '$anchor', '$recursiveRef', '$recursiveAnchor'].map(
    (word) => [word, 2019] as const,
  ),
  ...['prefixItems', '$dynamicRef', '$dynamicAnchor'].map((word) => [word, 2020] as const),
]);

/** Their keys are names, not words of a schema. */
const tables = new Set(['properties', 'patternProperties', 'definitions', '$defs', 'dependentSchemas', 'dependencies']);
/** They hold values, not schemas. */
const literals = new Set(['enum', 'const', 'default', 'examples', 'required', 'dependentRequired']);

/** A schema as the validator has to be told it, to mean what it means to Helm. */
export function forValidator(schema: unknown, draft: Draft): unknown {
  if (Array.isArray(schema)) return schema.map((each) => forValidator(each, draft));
  if (!isTable(schema)) return schema;
  const told: [string, unknown][] = [];
  for (const [word, value] of Object.entries(schema)) {
    if ((since.get(word) ?? 4) > draft || (word === 'format' && !isChecked(value, draft))) continue;
    if (word === 'pattern' && typeof value === 'string') told.push([word, goPattern(value)]);
    else if (literals.has(word)) told.push([word, value]);
    else if (tables.has(word) && isTable(value)) told.push([word, tableFor(word, value, draft)]);
    else told.push([word, forValidator(value, draft)]);
  }
  return Object.fromEntries(told);
}

/** Formats are checked up to draft 7, later drafts made them remarks. Nearly everything is a reference to Go. */
function isChecked(format: unknown, draft: Draft): boolean {
  return draft <= 7 && format !== 'uri-reference';
}

function tableFor(word: string, table: Readonly<Record<string, unknown>>, draft: Draft): unknown {
  const name = (key: string) => (word === 'patternProperties' ? goPattern(key) : key);
  return Object.fromEntries(Object.entries(table).map(([key, value]) => [name(key), forValidator(value, draft)]));
}

function isTable(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
