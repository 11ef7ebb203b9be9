import { isSecretFile } from './kinds.ts';
import type { LoadedValues } from './load.ts';
import { isEmpty, isTree, type Path, setAt, type Tree, unsetAt, valueAt } from './tree.ts';

/** A place the schema calls secret, with the template its first value is made from; an empty one is the user's to give. */
export interface SecretRule {
  /** `*` stands for every team. */
  readonly path: Path;
  readonly template: string;
}

const keyword = 'x-secret';
const transparent = ['anyOf', 'allOf', 'oneOf'];

/** All `x-secret` rules of a schema, in its order. A rule hides those below it. */
export function secretRules(schema: Tree): SecretRule[] {
  const rules = new Map<string, SecretRule>();
  collect(schema, [], schema, rules, 0);
  return [...rules.values()];
}

function collect(node: unknown, path: Path, root: Tree, rules: Map<string, SecretRule>, depth: number): void {
  if (!isTree(node) || depth > 64) return;
  const target = typeof node['$ref'] === 'string' ? resolve(node['$ref'], root) : node;
  if (!isTree(target)) return;
  const secret = node[keyword] ?? target[keyword];
  if (secret !== undefined) {
    rules.set(path.join('.'), { path, template: String(secret) });
    return;
  }
  for (const key of transparent) {
    const branches = target[key];
    if (Array.isArray(branches)) for (const branch of branches) collect(branch, path, root, rules, depth + 1);
  }
  const { properties, patternProperties } = target;
  if (isTree(properties))
    for (const [name, child] of Object.entries(properties)) collect(child, [...path, name], root, rules, depth + 1);
  if (isTree(patternProperties))
    for (const child of Object.values(patternProperties)) collect(child, [...path, '*'], root, rules, depth + 1);
}

function resolve(reference: string, root: Tree): unknown {
  if (!reference.startsWith('#/')) return undefined;
  return valueAt(
    root,
    reference
      .slice(2)
      .split('/')
      .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~')),
  );
}

/** The secret places of a tree: those of the rules, for every team it has, and all users. */
export function secretPathsOf(rules: readonly SecretRule[], tree: Tree): Path[] {
  return [...rules.flatMap(({ path }) => expandStar(path, tree)), ['users']];
}

export function expandStar(path: Path, tree: Tree): Path[] {
  const star = path.indexOf('*');
  if (star < 0) return [path];
  const parent = valueAt(tree, path.slice(0, star));
  if (!isTree(parent)) return [];
  return Object.keys(parent).flatMap((key) => expandStar([...path.slice(0, star), key, ...path.slice(star + 1)], tree));
}

/**
 * Places that are secret because somebody put them into a secret file, whatever the schema says: it would be nobody's wish to find them
 * in a plain one.
 */
export function secretPathsInFiles({ files }: LoadedValues): Path[] {
  return files
    .filter(({ path, kind }) => isSecretFile(path) && kind.items !== 'list')
    .flatMap(({ document, location }) => leavesOf(valueAt(document.toJS(), ['spec']), location));
}

function leavesOf(value: unknown, path: Path): Path[] {
  if (!isTree(value)) return value === undefined ? [] : [path];
  return Object.entries(value).flatMap(([key, child]) => leavesOf(child, [...path, key]));
}

/** The parts of a tree: what may be read by all, what is secret, and the secret places that hold nothing (any more). */
export interface SplitValues {
  readonly plain: Tree;
  readonly secret: Tree;
  readonly emptied: Tree;
}

/** Takes the secret places out of a tree. */
export function splitSecrets(tree: Tree, paths: readonly Path[]): SplitValues {
  const plain = structuredClone(tree);
  const secret: Tree = {};
  const emptied: Tree = {};
  for (const path of paths) {
    const value = valueAt(plain, path);
    if (value === undefined) continue;
    unsetAt(plain, path);
    setAt(isEmpty(value) ? emptied : secret, path, value);
  }
  return { plain, secret, emptied };
}
