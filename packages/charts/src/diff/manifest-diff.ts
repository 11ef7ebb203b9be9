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

/** What differs between two manifests, object by object. Comments and the order of objects mean nothing. What asks to stay is not removed. */
export function diffManifests(before: string, after: string, namespace: string): ObjectDifference[] {
  const old = objectsIn(before, namespace);
  const next = objectsIn(after, namespace);
  const differences: ObjectDifference[] = [];
  const tell = (change: ObjectDifference['change'], present: GoMap | undefined, value: GoMap | undefined): void => {
    const object = nameOf((value ?? present)!, namespace);
    differences.push({ object, change, lines: compare(present, value) });
  };
  for (const [identity, value] of next) {
    const present = old.get(identity);
    if (!present) tell('added', undefined, value);
    else if (!deepEqual(present, value)) tell('changed', present, value);
  }
  for (const [identity, value] of old) if (!next.has(identity) && !isKept(value)) tell('removed', value, undefined);
  return differences;
}

/** Objects by what tells them apart: not the version they are written in. */
function objectsIn(manifest: string, namespace: string): Map<string, GoMap> {
  const objects = new Map<string, GoMap>();
  for (const document of splitDocuments(manifest, dialects.helm4))
    for (const value of listed(readYaml(document))) if (isMap(value)) objects.set(freeIdentity(value), value);
  return objects;

  /** An object that is there twice is what is said last. Hooks of one name are made one after another, beside an object that has it, too. */
  function freeIdentity(value: GoMap): string {
    const identity = identityOf(value, namespace);
    if (annotation(value, 'helm.sh/hook') === undefined) return identity;
    let hooks = 1;
    while (objects.has(`${identity} ${hooks}`)) hooks += 1;
    return `${identity} ${hooks}`;
  }
}

/** A list is what it holds, also one in another: Secrets in it are Secrets. */
function listed(value: Value): readonly Value[] {
  if (!isMap(value)) return [value];
  const kind = textOf(value.get('kind'));
  const items = value.get('items');
  if (!kind.endsWith('List') || !Array.isArray(items)) return [value];
  const itemKind = kind.slice(0, -'List'.length);
  return (items as readonly Value[]).flatMap((item) =>
    listed(
      isMap(item) && itemKind !== '' && !item.has('kind')
        ? new Map([...item, ['kind', itemKind], ['apiVersion', value.get('apiVersion')]])
        : item,
    ),
  );
}

function nameOf(object: GoMap, namespace: string): string {
  return `${kindAndPlace(object, namespace)} (${textOf(object.get('apiVersion'))})`;
}

function identityOf(object: GoMap, namespace: string): string {
  const version = textOf(object.get('apiVersion'));
  return `${kindAndPlace(object, namespace)} (${version.slice(0, Math.max(0, version.indexOf('/')))})`;
}

function kindAndPlace(object: GoMap, namespace: string): string {
  const metadata = mapAt(object, 'metadata');
  const place = textOf(metadata.get('namespace')) || namespace;
  return `${textOf(object.get('kind'))} ${place}/${textOf(metadata.get('name'))}`;
}

function annotation(object: GoMap, key: string): Value {
  return mapAt(mapAt(object, 'metadata'), 'annotations').get(key);
}

function isKept(object: GoMap): boolean {
  return textOf(annotation(object, 'helm.sh/resource-policy')).trim().toLowerCase() === 'keep';
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
    for (const object of [old, next])
      if (object?.has(field) && !isMap(object.get(field))) object.set(field, '(hidden)');
    const left = mapAt(old, field);
    const right = mapAt(next, field);
    hide(left, right, new Set([...left.keys(), ...right.keys()]));
  }
  const annotations = (object: GoMap | undefined) => mapAt(mapAt(object, 'metadata'), 'annotations');
  hide(annotations(old), annotations(next), [lastAppliedAnnotation]);
  return [old, next];
}

/** kubectl keeps the whole Secret in it. */
const lastAppliedAnnotation = 'kubectl.kubernetes.io/last-applied-configuration';

function hide(left: GoMap, right: GoMap, keys: Iterable<string>): void {
  for (const key of keys) {
    const same = left.has(key) && right.has(key) && deepEqual(left.get(key), right.get(key));
    if (left.has(key)) left.set(key, same ? '(hidden)' : '(hidden, before)');
    if (right.has(key)) right.set(key, same ? '(hidden)' : '(hidden, after)');
  }
}

function mapAt(object: GoMap | undefined, key: string): GoMap {
  const value = object?.get(key);
  return isMap(value) ? value : new Map();
}
