import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import { Ajv2019 } from 'ajv/dist/2019.js';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { ChartError } from '../chart/chart-error.ts';
import type { ChartNode } from '../chart/chart-node.ts';
import { isMap, toPlain, type GoMap } from '../go/values.ts';

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

/** Schemas in use, compiled, by their text. */
const compiled = new Map<string, ValidateFunction>();
const mostCompiled = 200;

function check(schema: Uint8Array, value: unknown, chart: string): string[] {
  const text = Buffer.from(schema).toString('utf8');
  let validate = compiled.get(text);
  if (!validate) {
    try {
      validate = compile(text);
    } catch (error) {
      throw new ChartError('InvalidChart', `${chart}: values.schema.json cannot be used: ${(error as Error).message}`, {
        cause: error,
      });
    }
    if (compiled.size >= mostCompiled) compiled.clear();
    compiled.set(text, validate);
  }
  return validate(value) ? [] : (validate.errors ?? []).map(complaint);
}

function complaint(error: ErrorObject): string {
  return `at '${error.instancePath}': ${error.message ?? error.keyword}`;
}

/** A schema of another place is not fetched: a render reads nothing but the chart. */
function compile(text: string): ValidateFunction {
  const schema = JSON.parse(text) as Record<string, unknown> | boolean;
  const options = { strict: false, allErrors: true, validateFormats: false, logger: false } as const;
  if (typeof schema === 'boolean') return new Ajv2020(options).compile(schema);
  const draft = typeof schema['$schema'] === 'string' ? schema['$schema'] : '';
  if (/draft-0[46]/.test(draft)) return new Ajv(options).compile(withoutOldWords(schema) as object);
  const { $schema: _dialect, ...rest } = schema;
  if (/draft-07/.test(draft)) return new Ajv(options).compile(rest);
  return new (/2019-09/.test(draft) ? Ajv2019 : Ajv2020)(options).compile(rest);
}

/** Draft 4 said `id` and made exclusive limits flags; later drafts made them limits of their own. */
function withoutOldWords(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withoutOldWords);
  if (typeof schema !== 'object' || schema === null) return schema;
  const result: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(schema)) {
    if (key === '$schema' || (key === 'id' && typeof value === 'string')) continue;
    if ((key === 'exclusiveMinimum' || key === 'exclusiveMaximum') && typeof value === 'boolean') continue;
    result[key] = withoutOldWords(value);
  }
  const flags = schema as Record<string, unknown>;
  for (const limit of ['minimum', 'maximum'] as const) {
    const exclusive = limit === 'minimum' ? 'exclusiveMinimum' : 'exclusiveMaximum';
    if (flags[exclusive] !== true || typeof flags[limit] !== 'number') continue;
    delete result[limit];
    result[exclusive] = flags[limit];
  }
  return result;
}
