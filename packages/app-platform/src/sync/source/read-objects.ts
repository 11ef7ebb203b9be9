import { readAllYaml, toPlain } from '@slipway/charts';
import type { KubeObject } from '@slipway/kube';
import { validateManifest } from '@slipway/manifests';

import { SourceError } from './source-error.ts';

/** The objects of a YAML text, lists taken apart. An object without a name must have a `generateName`: a hook may. */
export function readObjects(text: string, source: string): KubeObject[] {
  let documents: unknown[];
  try {
    documents = readAllYaml(text).map((document) => toPlain(document));
  } catch (error) {
    throw new SourceError('InvalidSource', `${source}: ${(error as Error).message}`, { cause: error });
  }
  return documents.flatMap(membersOf).map((object) => checked(object, source));
}

function membersOf(document: unknown): unknown[] {
  if (document === null || document === undefined) return [];
  const { kind, items } = document as { kind?: unknown; items?: unknown };
  const isList = typeof kind === 'string' && kind.endsWith('List') && Array.isArray(items);
  return isList ? (items as unknown[]).flatMap(membersOf) : [document];
}

function checked(value: unknown, source: string): KubeObject {
  const object = value as KubeObject;
  const { generateName, name } = (object?.metadata ?? {}) as { generateName?: string; name?: string };
  const isGenerated = name === undefined && typeof generateName === 'string';
  const [problem] = validateManifest(
    isGenerated ? { ...object, metadata: { ...object.metadata, generateName: undefined, name: generateName } } : object,
  );
  if (problem) throw new SourceError('InvalidSource', `${source}: ${problem.field} ${problem.message}`);
  return object;
}
