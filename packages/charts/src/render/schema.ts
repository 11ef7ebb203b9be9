import { Validator, type OutputUnit, type Schema } from '@cfworker/json-schema';
import { ChartError } from '../chart/chart-error.ts';
import type { ChartNode } from '../chart/chart-node.ts';
import { isMap, toPlain, type GoMap } from '../go/values.ts';
import { boundedWork, WorkTooLong } from './bounded-work.ts';
import { draftOf, forValidator, validatorDraft } from './schema-draft.ts';

/** Checks the values against `values.schema.json` of the chart and, section by section, of its subcharts. */
export function validateValues(root: ChartNode, values: GoMap): void {
  const complaints = complaintsOf(root, values);
  if (complaints.length > 0)
    throw new ChartError(
      'InvalidValues',
      `values don't meet the specifications of the schema(s) in the following chart(s):\n${complaints.join('')}`,
    );
}

function complaintsOf(node: ChartNode, values: GoMap): string[] {
  const complaints: string[] = [];
  const { schema } = node.chart;
  if (schema) {
    const found = check(schema, toPlain(values), node.name);
    if (found.length > 0) complaints.push(`${node.name}:\n${found.map((line) => `- ${line}\n`).join('')}`);
  }
  for (const child of node.children) {
    const section = values.get(child.name);
    if (isMap(section)) complaints.push(...complaintsOf(child, section));
  }
  return complaints;
}

/** What is wrong with values by one schema, line by line. */
export function schemaComplaints(schema: Uint8Array, values: GoMap, mostMs = longestCheckMs): string | undefined {
  const found = check(schema, toPlain(values), 'values.yaml', mostMs);
  return found.length === 0 ? undefined : found.map((line) => `- ${line}\n`).join('');
}

/** Schemas in use, read, by their text. */
const validators = new Map<string, Validator>();
const mostValidators = 200;

/** The largest public schemas take a hundredth of this. A few lines with references or patterns can take for ever. */
const longestCheckMs = 10_000;

function check(schema: Uint8Array, value: unknown, chart: string, mostMs = longestCheckMs): string[] {
  const text = Buffer.from(schema).toString('utf8');
  try {
    const { valid, errors } = boundedWork(() => validatorOf(text).validate(value), mostMs);
    return valid
      ? []
      : innermost(errors).map(({ instanceLocation, error }) => `at '${instanceLocation.slice(1)}': ${error}`);
  } catch (error) {
    const why = error instanceof RangeError ? 'it nests too deeply, or refers to itself' : (error as Error).message;
    throw new ChartError('InvalidChart', `${chart}: values.schema.json cannot be used: ${why}`, {
      cause: error,
      ...(error instanceof WorkTooLong ? { hint: 'simplify it, or leave it out with --skip-schema-validation' } : {}),
    });
  }
}

function validatorOf(text: string): Validator {
  let validator = validators.get(text);
  if (!validator) {
    validator = makeValidator(text);
    if (validators.size >= mostValidators) validators.clear();
    validators.set(text, validator);
  }
  return validator;
}

/** Without those that only say that something below them is wrong. */
function innermost(errors: readonly OutputUnit[]): readonly OutputUnit[] {
  const leaves = errors.filter(
    ({ keyword }) => !['properties', 'items', '$ref', 'additionalProperties', 'allOf'].includes(keyword),
  );
  return leaves.length > 0 ? leaves : errors;
}

/**
 * The validator walks the schema as it is: compiling one, as others do, takes longer than rendering the chart. A schema of
 * another place is not fetched: a render reads nothing but the chart.
 */
function makeValidator(text: string): Validator {
  const schema = JSON.parse(text) as Schema | boolean;
  const draft = typeof schema === 'boolean' ? 2020 : draftOf(schema['$schema']);
  return new Validator(forValidator(schema, draft) as Schema, validatorDraft(draft), false);
}
