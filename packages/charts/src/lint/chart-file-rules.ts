import { LineCounter, parseDocument } from 'yaml';

import { bytesToText } from '../go/bytes.ts';
import { isMap, type GoMap, type Value } from '../go/values.ts';
import { text } from '../chart/metadata.ts';
import { metadataFields, unknownField } from '../chart/metadata-fields.ts';
import { SemverVersion } from '../functions/semver-version.ts';
import { quote } from '../go/quote.ts';
import { readYaml } from '../yaml/read.ts';
import type { LintedChart } from './lint-chart.ts';
import type { Findings } from './lint-message.ts';

const file = 'Chart.yaml';

/** What is wrong with Chart.yaml. */
export function chartFileRules(findings: Findings, { files }: LintedChart): void {
  let document: GoMap;
  let fields: GoMap;
  const written = bytesToText(files.find(({ name }) => name === file)!.data);
  try {
    const read = readYaml(written);
    document = isMap(read) ? read : new Map<string, Value>();
    fields = metadataFields(readYaml(written, { numbers: 'int' }), file);
  } catch (error) {
    const message = (error as Error).message.replace(/^cannot load Chart\.yaml: /, '');
    const prefix = message.startsWith('error ') ? '' : 'error converting YAML to JSON: ';
    findings.note('ERROR', file, `unable to parse YAML\n\t${prefix}${message}`);
    return;
  }
  const [version, apiVersion, icon] = [text(fields, 'version'), text(fields, 'apiVersion'), text(fields, 'icon')];
  const unknown = unknownField(document);
  const strict =
    repeatedKeys(written) ??
    (unknown && `error unmarshaling JSON: while decoding JSON: json: unknown field ${quote(unknown)}`);
  findings.note('WARNING', file, strict && `failed to strictly parse chart metadata file\n\t${strict}`);
  findings.note('ERROR', file, nameComplaint(text(fields, 'name')));
  findings.note('ERROR', file, apiVersionComplaint(apiVersion));
  findings.note('ERROR', file, typeComplaint(document, 'version'));
  findings.note('ERROR', file, versionComplaint(version));
  findings.note('ERROR', file, typeComplaint(document, 'appVersion'));
  findings.note('ERROR', file, maintainerComplaint(listOf(fields, 'maintainers')));
  const source = (listOf(fields, 'sources') as string[]).find((each) => !isRequestUrl(each));
  findings.note('ERROR', file, source === undefined ? undefined : `invalid source URL '${source}'`);
  findings.note('INFO', file, icon === '' ? 'icon is recommended' : undefined);
  findings.note('ERROR', file, icon !== '' && !isRequestUrl(icon) ? `invalid icon URL '${icon}'` : undefined);
  const isV2 = apiVersion === 'v2';
  findings.note(
    'ERROR',
    file,
    text(fields, 'type') === '' || isV2
      ? undefined
      : `chart type is not valid in apiVersion '${apiVersion}'. It is valid in apiVersion 'v2'`,
  );
  findings.note(
    'ERROR',
    file,
    listOf(fields, 'dependencies').length === 0 || isV2
      ? undefined
      : `dependencies are not valid in the Chart file with apiVersion '${apiVersion}'. They are valid in apiVersion 'v2'`,
  );
  findings.note('WARNING', file, isStrictVersion(version) ? undefined : `version '${version}' is not a valid SemVerV2`);
}

function listOf(fields: GoMap, key: string): readonly Value[] {
  const value = fields.get(key);
  return Array.isArray(value) ? value : [];
}

/** Keys that are written twice in one mapping; the reader of charts takes the last. */
function repeatedKeys(text: string): string | undefined {
  const lines = new LineCounter();
  const repeated = parseDocument(text, { lineCounter: lines, version: '1.1' }).errors.filter(
    ({ code }) => code === 'DUPLICATE_KEY',
  );
  if (repeated.length === 0) return undefined;
  const complaints = repeated.map(({ pos }) => {
    const key = /^[^\s:]+/.exec(text.slice(pos[0]))?.[0] ?? '';
    return `\n  line ${lines.linePos(pos[0]).line}: key ${quote(key)} already set in map`;
  });
  return `error converting YAML to JSON: yaml: unmarshal errors:${complaints.join('')}`;
}

function nameComplaint(name: string): string | undefined {
  if (name === '') return 'name is required';
  return name.includes('/') ? `chart name ${quote(name)} is invalid` : undefined;
}

function apiVersionComplaint(apiVersion: string): string | undefined {
  if (apiVersion === '') return 'apiVersion is required. The value must be either "v1" or "v2"';
  if (apiVersion === 'v1' || apiVersion === 'v2') return undefined;
  return `apiVersion '${apiVersion}' is not valid. The value must be either "v1" or "v2"`;
}

/** A version that is a number where it is read without a wish for a text. */
function typeComplaint(document: GoMap, key: string): string | undefined {
  const value = document.get(key);
  if (value === undefined || typeof value === 'string') return undefined;
  const type =
    value === null
      ? '<nil>'
      : typeof value === 'boolean'
        ? 'bool'
        : typeof value === 'number'
          ? 'float64'
          : Array.isArray(value)
            ? '[]interface {}'
            : 'map[string]interface {}';
  return `${key} should be of type string but it's of type ${type}`;
}

function versionComplaint(version: string): string | undefined {
  if (version === '') return 'version is required';
  try {
    SemverVersion.parse(version);
  } catch {
    return `version '${version}' is not a valid SemVer`;
  }
  return version === '0.0.0-0' ? 'version 0.0.0-0 is less than or equal to 0.0.0-0' : undefined;
}

function isStrictVersion(version: string): boolean {
  const number = '(?:0|[1-9]\\d*)';
  const identifier = '(?:0|[1-9]\\d*|\\d*[a-zA-Z-][0-9a-zA-Z-]*)';
  return new RegExp(
    `^${number}\\.${number}\\.${number}(?:-${identifier}(?:\\.${identifier})*)?(?:\\+[0-9A-Za-z-]+(?:\\.[0-9A-Za-z-]+)*)?$`,
  ).test(version);
}

function maintainerComplaint(maintainers: readonly Value[]): string | undefined {
  for (const maintainer of maintainers) {
    if (!isMap(maintainer)) return 'a maintainer entry is empty';
    const [name, email, url] = [text(maintainer, 'name'), text(maintainer, 'email'), text(maintainer, 'url')];
    if (name === '') return 'each maintainer requires a name';
    if (email !== '' && !isEmail(email)) return `invalid email '${email}' for maintainer '${name}'`;
    if (url !== '' && !isUrl(url)) return `invalid url '${url}' for maintainer '${name}'`;
  }
  return undefined;
}

/** Somebody at a place with a dot in it. */
function isEmail(text: string): boolean {
  const at = text.lastIndexOf('@');
  const user = text.slice(0, at);
  const host = text.slice(at + 1).replace(/\.$/, '');
  const labels = host.split('.');
  return (
    at > 0 &&
    /^(?:"[^"]*"|[^\s@"(),:;<>[\]\\.]+(?:\.[^\s@"(),:;<>[\]\\.]+)*)$/.test(user) &&
    labels.length > 1 &&
    labels.every((label) => /^[\p{L}\d](?:[\p{L}\d_~-]*[\p{L}\d])?$/u.test(label)) &&
    !/^\d/.test(labels.at(-1)!)
  );
}

/** With or without a scheme: `example.com/shop`. */
function isUrl(text: string): boolean {
  if (text.length <= 3 || text.length >= 2083 || text.startsWith('.')) return false;
  return /^(?:(?:ftp|tcp|udp|wss?|https?):\/\/)?(?:[^\s@/]+@)?(?:\[[0-9a-fA-F:.]+\]|[\p{L}\d](?:[\p{L}\d_-]*[\p{L}\d])?(?:\.[\p{L}\d](?:[\p{L}\d_-]*[\p{L}\d])?)*)\.?(?::\d{1,5})?(?:[/?#]\S*)?$/u.test(
    text,
  );
}

/** A scheme and something after it. */
function isRequestUrl(text: string): boolean {
  return /^[a-zA-Z][a-zA-Z0-9+.-]*:[^\s]+$/.test(text) && !/%(?![0-9a-fA-F]{2})/.test(text);
}
