import type { Value } from '../go/values.ts';
import { composeAll, composeFirst } from './compose.ts';
import { construct, keyText, unsupportedNumber, type ReadYamlOptions } from './construct.ts';
import { readPlain, type PlainRules } from './read-plain.ts';
import { resolvePlain } from './resolve.ts';
import { YamlError } from './yaml-error.ts';

export { PlainScalar, type ReadYamlOptions } from './construct.ts';
export { YamlError } from './yaml-error.ts';

/** What is not written plainly takes many bytes for each of its own. */
const longestStrict = 8 * 1024 * 1024;

/** Reads the first document of a text, as `sigs.k8s.io/yaml` does. An empty text is null. */
export function readYaml(text: string, options: ReadYamlOptions = {}): Value {
  const rules = plainRules(options);
  const source = firstDocument(text);
  const plain = rules && readPlain(source, rules);
  if (plain !== undefined) return plain;
  checkLength(source);
  const document = composeFirst(text, options.dialect ?? 'v2');
  return document ? construct(document, options) : null;
}

/** Reads every document of a text. */
export function readAllYaml(text: string, options: ReadYamlOptions = {}): Value[] {
  checkLength(text);
  return composeAll(text, options.dialect ?? 'v2').map((document) => construct(document, options));
}

function checkLength({ length }: string): void {
  if (length > longestStrict)
    throw new YamlError(
      `yaml: ${length} characters that are not all plain mappings, lists and texts; at most ${longestStrict} are read`,
    );
}

/** For what charts, values and manifests are read with. */
function plainRules({
  dialect = 'v2',
  numbers = 'float64',
  timestamp,
  keepText = false,
}: ReadYamlOptions): PlainRules | undefined {
  if (dialect !== 'v2' || timestamp !== undefined || keepText) return undefined;
  return numbers === 'int' ? integerRules : helmRules;
}

function rulesWith(numbers: 'float64' | 'int'): PlainRules {
  return {
    plain: (text) => plainValue(text, numbers),
    plainKey: (text) => keyText(resolvePlain(text).value, 'v2'),
    strict: (text) => readAllYaml(text, { numbers })[0] ?? null,
    strictKey: (text) => keyText(readAllYaml(text, { numbers: 'int' })[0], 'v2'),
  };
}

export const helmRules = rulesWith('float64');
const integerRules = rulesWith('int');

function plainValue(text: string, numbers: 'float64' | 'int'): Value {
  const { value } = resolvePlain(text);
  if (numbers === 'int') return value;
  if (typeof value === 'number' && !Number.isFinite(value)) throw new YamlError(unsupportedNumber(value));
  return typeof value === 'bigint' ? Number(value) : value;
}

/** A marker at the start of a line ends a document wherever it stands: what follows need not even be YAML. */
function firstDocument(text: string): string {
  if (!text.includes('---')) return text;
  const marker = /^---(?=[ \t\r\n]|$)/gm;
  let match = marker.exec(text);
  // The first one may only begin the document.
  if (match && text.slice(0, match.index).split('\n').every(saysNothing)) match = marker.exec(text);
  return match ? text.slice(0, match.index) : text;
}

function saysNothing(line: string): boolean {
  return line.startsWith('%') || /^\s*(?:#|$)/.test(line);
}
