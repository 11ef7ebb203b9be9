import { basename } from 'node:path';

import { SopsError } from '../sops-error.ts';
import type { Documents, Mapping, Value } from '../tree.ts';
import { binaryFormat } from './binary-format.ts';
import { dotenvFormat } from './dotenv-format.ts';
import { jsonFormat } from './json-format.ts';
import { yamlFormat } from './yaml-format.ts';

/** How a file is read and written. */
export interface Format {
  readonly name: FormatName;
  readPlain(bytes: Uint8Array): Documents;
  writePlain(documents: Documents, indent?: number): Buffer;
  /** One value of a file, as `decrypt --extract` of sops gives it. */
  writeValue(value: Value): Buffer;
  /** Reads an encrypted file and takes its `sops` block out; undefined when there is none. */
  readEncrypted(bytes: Uint8Array): { readonly documents: Documents; readonly block: Mapping | undefined };
  writeEncrypted(documents: Documents, block: Mapping, indent?: number): Buffer;
}

/** The formats of files. What has no other is `binary`: any bytes. */
export type FormatName = 'yaml' | 'json' | 'dotenv' | 'binary';

export const formats: Readonly<Record<FormatName, Format>> = {
  yaml: yamlFormat,
  json: jsonFormat,
  dotenv: dotenvFormat,
  binary: binaryFormat,
};

/** The format a file name asks for, as sops chooses it: by its ending, else binary. */
export function formatOfPath(path: string): Format {
  const name = basename(path);
  if (name.endsWith('.yaml') || name.endsWith('.yml')) return yamlFormat;
  if (name.endsWith('.json')) return jsonFormat;
  if (name.endsWith('.env')) return dotenvFormat;
  if (name.endsWith('.ini')) {
    throw new SopsError('unsupported', `${path}: the INI format is not supported`, {
      hint: 'use YAML, JSON or dotenv',
    });
  }
  return binaryFormat;
}

/** The format of that name; an unknown one is an error that lists the known. */
export function formatNamed(name: string): Format {
  if (Object.hasOwn(formats, name)) return formats[name as FormatName];
  throw new SopsError('config', `there is no format '${name}'`, {
    hint: `known formats: ${Object.keys(formats).join(', ')}`,
  });
}
