import { createHash } from 'node:crypto';
import { sha256 as shortSha256 } from '@noble/hashes/sha2.js';
import { bytesToText, textToBytes } from '../go/bytes.ts';
import { nilMap, nilSlice, type Value } from '../go/values.ts';
import type { FunctionTable, TemplateFunction } from '../template/run.ts';
import { fn } from '../template/signature.ts';
import { readJson, writeJson } from '../yaml/json.ts';
import { readToml, writeToml, type TomlTimeKind } from '../yaml/toml.ts';
import { listOf, mapOf, readYamlList, readYamlMap } from '../yaml/unmarshal.ts';
import { writeYaml } from '../yaml/write.ts';
import { GoTime } from './go-time.ts';
import { decodeBase32, decodeBase64, encodeBase32 } from './base-encodings.ts';

function hash(algorithm: string): TemplateFunction {
  return fn(['string'], (text) => createHash(algorithm).update(textToBytes(text)).digest('hex'));
}

/**
 * Most charts hash a few maps to notice their changes, and nothing else: that takes less time than Node takes to load its cryptography. A
 * process that hashes more than this gains by it.
 */
const fewBytes = 128 * 1024;
let hashedBytes = 0;

const sha256 = fn(['string'], (text) => {
  const bytes = textToBytes(text);
  if (hashedBytes <= fewBytes) hashedBytes += bytes.length;
  return hashedBytes > fewBytes
    ? createHash('sha256').update(bytes).digest('hex')
    : Buffer.from(shortSha256(bytes)).toString('hex');
});

function adler32(text: string): string {
  let a = 1;
  let b = 0;
  for (const byte of textToBytes(text)) {
    a = (a + byte) % 65_521;
    b = (b + a) % 65_521;
  }
  return String(((b << 16) | a) >>> 0);
}

function toYaml(value: Value): string {
  return writeYaml(value, { throughJson: true }).replace(/\n$/, '');
}

/** The functions without `must` swallow what goes wrong. */
function orElse<T>(attempt: () => T, otherwise: (error: Error) => T): T {
  try {
    return attempt();
  } catch (error) {
    return otherwise(error as Error);
  }
}

function toToml(value: Value): string {
  if (value === null || value === undefined) throw new Error('reflect: call of reflect.Value.Type on zero Value');
  return orElse(
    () => writeToml(value),
    (error) => error.message,
  );
}

/** A time of TOML is Go's; without a zone, it says of what kind it is in the place of one. */
function tomlTime(text: string, kind: TomlTimeKind): Value {
  const zone = { name: kind, offset: 0 };
  if (kind === 'date-local') return new GoTime(Date.parse(`${text}T00:00:00Z`), zone);
  if (kind === 'time-local') return new GoTime(Date.parse(`0000-01-01T${text}Z`), zone);
  if (kind === 'datetime-local') return new GoTime(Date.parse(`${text}Z`), zone);
  const [, sign, hours, minutes] = /([-+])(\d\d):(\d\d)$/.exec(text) ?? [];
  const size = Number(hours ?? 0) * 3600 + Number(minutes ?? 0) * 60;
  return new GoTime(Date.parse(text), sign ? { name: '', offset: sign === '-' ? -size : size } : 'UTC');
}

function failure(error: Error): Value {
  return new Map([['Error', error.message]]);
}

export const encodingFunctions: FunctionTable = new Map<string, TemplateFunction>([
  ['b64enc', fn(['string'], (text) => Buffer.from(textToBytes(text)).toString('base64'))],
  [
    'b64dec',
    fn(['string'], (text) =>
      orElse(
        () => bytesToText(decodeBase64(text)),
        (error) => error.message,
      ),
    ),
  ],
  ['b32enc', fn(['string'], (text) => encodeBase32(textToBytes(text)))],
  [
    'b32dec',
    fn(['string'], (text) =>
      orElse(
        () => bytesToText(decodeBase32(text)),
        (error) => error.message,
      ),
    ),
  ],
  ['sha1sum', hash('sha1')],
  ['sha256sum', sha256],
  ['sha512sum', hash('sha512')],
  ['adler32sum', fn(['string'], adler32)],
  [
    'toYaml',
    fn(['any'], (value) =>
      orElse(
        () => toYaml(value),
        () => '',
      ),
    ),
  ],
  ['mustToYaml', fn(['any'], toYaml)],
  [
    'toYamlPretty',
    fn(['any'], (value) =>
      orElse(
        () => writeYaml(value, { dialect: 'v3' }).replace(/\n$/, ''),
        () => '',
      ),
    ),
  ],
  ['fromYaml', fn(['string'], (text) => orElse<Value>(() => readYamlMap(text) ?? new Map(), failure))],
  [
    'fromYamlArray',
    fn(['string'], (text) =>
      orElse(
        () => readYamlList(text) ?? [],
        (error) => [error.message],
      ),
    ),
  ],
  [
    'toJson',
    fn(['any'], (value) =>
      orElse(
        () => writeJson(value),
        () => '',
      ),
    ),
  ],
  ['mustToJson', fn(['any'], (value) => writeJson(value))],
  [
    'toPrettyJson',
    fn(['any'], (value) =>
      orElse(
        () => writeJson(value, { indent: '  ' }),
        () => '',
      ),
    ),
  ],
  ['mustToPrettyJson', fn(['any'], (value) => writeJson(value, { indent: '  ' }))],
  ['toRawJson', fn(['any'], (value) => writeJson(value, { escapeHtml: false }))],
  ['mustToRawJson', fn(['any'], (value) => writeJson(value, { escapeHtml: false }))],
  ['fromJson', fn(['string'], (text) => orElse(() => mapOf(readJson(text) ?? nilMap(), 'json'), failure))],
  ['mustFromJson', fn(['string'], readJson)],
  [
    'fromJsonArray',
    fn(['string'], (text) =>
      orElse(
        () => listOf(readJson(text) ?? nilSlice(), 'json'),
        (error) => [error.message],
      ),
    ),
  ],
  ['toToml', fn(['any'], toToml)],
  ['mustToToml', fn(['any'], writeToml)],
  ['fromToml', fn(['string'], (text) => orElse(() => readToml(text, tomlTime), failure))],
]);
