import { deepCopy, deepEqual, isMap, type GoMap, type Value } from '../go/values.ts';
import { dialects } from '../chart/dialect.ts';
import { splitDocuments } from '../render/manifests.ts';
import { readYaml } from '../yaml/read.ts';
import { writeYaml } from '../yaml/write.ts';
import { diffLines, withContext, type DiffLine } from './line-diff.ts';

/** An object that is not the same in two manifests. */
export interface ObjectDifference {
  /** `Deployment apps/shop (apps/v1)` */
  readonly object: string;
  readonly change: 'added' | 'changed' | 'removed';
  readonly lines: readonly DiffLine[];
}

/** What differs between two manifests, object by object. Comments and the order of objects mean nothing. */
export function diffManifests(before: string, after: string, namespace: string): ObjectDifference[] {
  const old = objectsIn(before, namespace);
  const next = objectsIn(after, namespace);
  const differences: ObjectDifference[] = [];
  for (const [object, value] of next) {
    const present = old.get(object);
    if (!present) differences.push({ object, change: 'added', lines: compare(undefined, value) });
    else if (!deepEqual(present, value))
      differences.push({ object, change: 'changed', lines: compare(present, value) });
  }
  for (const [object, value] of old)
    if (!next.has(object)) differences.push({ object, change: 'removed', lines: compare(value, undefined) });
  return differences;
}

function objectsIn(manifest: string, namespace: string): Map<string, GoMap> {
  const objects = new Map<string, GoMap>();
  for (const document of splitDocuments(manifest, dialects.helm4))
    for (const value of listed(readYaml(document))) if (isMap(value)) objects.set(nameOf(value, namespace), value);
  return objects;
}

/** A list is what it holds: Secrets in it are Secrets. */
function listed(value: Value): readonly Value[] {
  if (!isMap(value)) return [value];
  const kind = textOf(value.get('kind'));
  const items = value.get('items');
  if (!kind.endsWith('List') || !Array.isArray(items)) return [value];
  const itemKind = kind.slice(0, -'List'.length);
  return (items as readonly Value[]).map((item) =>
    isMap(item) && itemKind !== '' && !item.has('kind')
      ? new Map([...item, ['kind', itemKind], ['apiVersion', value.get('apiVersion')]])
      : item,
  );
}

function nameOf(object: GoMap, namespace: string): string {
  const metadata = object.get('metadata');
  const field = (key: string) => (isMap(metadata) ? metadata.get(key) : undefined);
  const place = textOf(field('namespace')) || namespace;
  return `${textOf(object.get('kind'))} ${place}/${textOf(field('name'))} (${textOf(object.get('apiVersion'))})`;
}

function textOf(value: Value): string {
  return typeof value === 'string' ? value : '';
}

function compare(before: GoMap | undefined, after: GoMap | undefined): DiffLine[] {
  const [old, next] = withoutSecrets(before, after);
  const all = diffLines(linesOf(old), linesOf(next));
  return before && after ? withContext(all) : all;
}

function linesOf(object: GoMap | undefined): string[] {
  return object ? writeYaml(object).trimEnd().split('\n') : [];
}

/** Nobody should find a secret in a log: only whether it changed is told. */
function withoutSecrets(before: GoMap | undefined, after: GoMap | undefined): [GoMap | undefined, GoMap | undefined] {
  const secret = (before ?? after)?.get('kind') === 'Secret';
  if (!secret) return [before, after];
  const old = before && deepCopy(before);
  const next = after && deepCopy(after);
  for (const field of ['data', 'stringData']) {
    const left = mapAt(old, field);
    const right = mapAt(next, field);
    for (const key of new Set([...left.keys(), ...right.keys()])) {
      const same = left.has(key) && right.has(key) && deepEqual(left.get(key), right.get(key));
      if (left.has(key)) left.set(key, same ? '(hidden)' : '(hidden, before)');
      if (right.has(key)) right.set(key, same ? '(hidden)' : '(hidden, after)');
    }
  }
  return [old, next];
}

function mapAt(object: GoMap | undefined, key: string): GoMap {
  const value = object?.get(key);
  return isMap(value) ? value : new Map();
}
