import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { stringify } from 'yaml';

import { toCustomResourceDefinition } from './custom-resource-definition.ts';
import type { DefinedKind } from './define-kind.ts';

const header = '# Written from the kinds in code; change those and write again.\n';

/** The YAML of a kind's CRD. */
export function crdYaml(kind: DefinedKind): string {
  const text = stringify(toCustomResourceDefinition(kind), { lineWidth: 0, aliasDuplicateObjects: false });
  return `${header}---\n${text}`;
}

/** `<group>_<plural>.yaml` */
export function crdFileName(kind: DefinedKind): string {
  return `${kind.group}_${kind.plural}.yaml`;
}

/** Writes one CRD file per kind into `directory` (made when missing). Returns the names of the files that changed. */
export async function writeCrds(directory: string, kinds: readonly DefinedKind[]): Promise<string[]> {
  await mkdir(directory, { recursive: true });
  const changed: string[] = [];
  for (const kind of kinds) {
    const name = crdFileName(kind);
    const text = crdYaml(kind);
    if ((await readOrUndefined(join(directory, name))) === text) continue;
    await writeFile(join(directory, name), text);
    changed.push(name);
  }
  return changed;
}

/** What is wrong with the CRD files in `directory`: missing, out of date, or of a kind that is no longer there. Empty when all is well. */
export async function checkCrds(directory: string, kinds: readonly DefinedKind[]): Promise<string[]> {
  const problems: string[] = [];
  const expected = new Set(kinds.map(crdFileName));
  for (const kind of kinds) {
    const name = crdFileName(kind);
    const text = await readOrUndefined(join(directory, name));
    if (text === undefined) problems.push(`${name} is missing`);
    else if (text !== crdYaml(kind)) problems.push(`${name} is not what the kind ${kind.kind} says; write it again`);
  }
  for (const name of await filesIn(directory)) {
    if (expected.has(name) || !/\.ya?ml$/.test(name)) continue;
    const text = await readOrUndefined(join(directory, name));
    if (text?.startsWith(header)) problems.push(`${name} belongs to no kind`);
  }
  return problems;
}

async function filesIn(directory: string): Promise<string[]> {
  try {
    return (await readdir(directory)).toSorted();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

async function readOrUndefined(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
