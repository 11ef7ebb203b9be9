import { ChartError } from '../chart/chart-error.ts';
import { bytesToText } from '../go/bytes.ts';
import { deepCopy, isMap, type GoMap, type Value } from '../go/values.ts';
import { schemaComplaints } from '../render/schema.ts';
import { coalesceTables } from '../values/coalesce.ts';
import { jsonKind } from '../yaml/json-kind.ts';
import { readYaml } from '../yaml/read.ts';
import type { LintedChart } from './lint-chart.ts';
import type { Findings } from './lint-message.ts';

const file = 'values.yaml';

/** What is wrong with values.yaml, or with the user's values over it. */
export function valuesRules(findings: Findings, { files, options }: LintedChart): void {
  const values = files.find(({ name }) => name === file);
  if (!findings.note('INFO', file, values === undefined ? 'file does not exist' : undefined)) return;
  let defaults: GoMap;
  try {
    const read = readYaml(bytesToText(values!.data)) ?? new Map<string, Value>();
    if (!isMap(read)) {
      const wrong = `json: cannot unmarshal ${jsonKind(read)} into Go value of type common.Values`;
      findings.note('ERROR', file, `unable to parse YAML: error unmarshaling JSON: while decoding JSON: ${wrong}`);
      return;
    }
    defaults = read;
  } catch (error) {
    findings.note('ERROR', file, `unable to parse YAML: error converting YAML to JSON: ${(error as Error).message}`);
    return;
  }
  const schema = files.find(({ name }) => name === 'values.schema.json');
  if (schema === undefined || schema.data.length === 0 || options.skipSchemaValidation) return;
  const all = coalesceTables(deepCopy(options.values), defaults, false);
  try {
    findings.note('ERROR', file, schemaComplaints(schema.data, all));
  } catch (error) {
    // A schema that nobody can use is a mistake like others: what else is wrong is said, too.
    if (!(error instanceof ChartError)) throw error;
    findings.note('ERROR', file, error.message);
  }
}
