import { ChartError } from '../chart/chart-error.ts';
import { readValuesText } from '../chart/load.ts';
import { mergeMaps } from '../chart/merge-maps.ts';
import { fromPlain, isMap, type GoMap } from '../go/values.ts';
import { parseSet, parseSetFile, SetBudget } from './set.ts';

/** Where a user's values come from, as on Helm's command line. */
export interface ValueSources {
  /** `-f`: later ones lie over earlier ones. */
  readonly files?: readonly string[];
  /** `--set-json`: `key=json`, or an object. */
  readonly setJson?: readonly string[];
  /** `--set`: `a.b=1,c[0]=x`, with numbers, booleans and null. */
  readonly set?: readonly string[];
  /** `--set-string`: the same, every value a text. */
  readonly setString?: readonly string[];
  /** `--set-file`: `key=path`. */
  readonly setFile?: readonly string[];
  /** `--set-literal`: one value, taken as it stands. */
  readonly setLiteral?: readonly string[];
}

/** Reads and merges them in Helm's order: files, then each kind of `--set`. `read` answers the text of a file. */
export async function collectValues(sources: ValueSources, read: (path: string) => Promise<string>): Promise<GoMap> {
  let values: GoMap = new Map();
  const budget = new SetBudget();
  for (const path of sources.files ?? []) values = mergeMaps(values, readValuesFile(await read(path), path));
  for (const text of sources.setJson ?? []) {
    if (text.trimStart().startsWith('{')) values = mergeMaps(values, readJsonValues(text));
    else parseSet(text, values, 'json', budget);
  }
  for (const text of sources.set ?? []) parseSet(text, values, 'typed', budget);
  for (const text of sources.setString ?? []) parseSet(text, values, 'string', budget);
  for (const text of sources.setFile ?? []) await parseSetFile(text, values, read, budget);
  for (const text of sources.setLiteral ?? []) parseSet(text, values, 'literal', budget);
  return values;
}

function readValuesFile(text: string, path: string): GoMap {
  try {
    return readValuesText(text);
  } catch (error) {
    throw new ChartError('InvalidValues', `failed to parse ${path}: ${(error as Error).message}`, { cause: error });
  }
}

function readJsonValues(text: string): GoMap {
  try {
    const value = fromPlain(JSON.parse(text));
    if (isMap(value)) return value;
  } catch (error) {
    throw new ChartError('InvalidValues', `failed parsing --set-json data JSON: ${(error as Error).message}`, {
      cause: error,
    });
  }
  throw new ChartError('InvalidValues', 'failed parsing --set-json data JSON: it is no object');
}
