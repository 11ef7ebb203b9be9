import { mkdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { cp } from 'node:fs/promises';
import { basename, dirname, join, resolve, sep } from 'node:path';
import { fromPlain, helmFunctions, makeEnvironment, TemplateSet } from '@slipway/charts';
import { parse } from 'yaml';

import { decryptedSuffix, secretPrefix } from './kinds.ts';
import { expandPath } from './migration-path.ts';
import { setAt, type Tree, unsetAt, valueAt } from './tree.ts';
import { ValuesError } from './values-error.ts';

/** One step from a version of the values to the next, as `values-changes.yaml` writes it. */
export interface ValuesChange {
  readonly version: number;
  /** Files that move: from, to. */
  readonly renamings?: readonly Readonly<Record<string, string>>[];
  /** Files that are made, empty. */
  readonly fileAdditions?: readonly string[];
  readonly fileDeletions?: readonly string[];
  /** Places that get a value. */
  readonly additions?: readonly Tree[];
  /** Places that get the content of a JSON file of the platform. */
  readonly bulkAdditions?: readonly Readonly<Record<string, string>>[];
  /** Places whose value moves: from, to. */
  readonly relocations?: readonly Readonly<Record<string, string>>[];
  /** Places whose value changes: to a literal, or by a template that sees it as `.prev`. */
  readonly mutations?: readonly Tree[];
  readonly customFunctions?: readonly string[];
  readonly deletions?: readonly string[];
}

export type CustomMigration = (tree: Tree) => void | Promise<void>;

export interface MigrationOptions {
  readonly directory: string;
  readonly changes: readonly ValuesChange[];
  /** The tree, read after files have moved. */
  readonly read: () => Promise<Tree>;
  readonly write: (tree: Tree) => Promise<void>;
  /** Reads a file of the platform for `bulkAdditions`. */
  readonly readPlatform?: (path: string) => Promise<string>;
  /** Finds a function that `customFunctions` names. */
  readonly findFunction?: (name: string) => Promise<CustomMigration | undefined>;
}

const operations = new Set([
  'version',
  'renamings',
  'fileAdditions',
  'fileDeletions',
  'additions',
  'bulkAdditions',
  'relocations',
  'mutations',
  'customFunctions',
  'deletions',
]);

/** Brings the values to the newest version. Gives the versions it went through; none when there was nothing to do. */
export async function migrateValues(options: MigrationOptions): Promise<number[]> {
  const version = valueAt(await options.read(), ['versions', 'specVersion']);
  // A repository that never had a version is as new as its platform: the defaults write the number down.
  if (typeof version !== 'number') return [];
  const due = options.changes.filter((change) => change.version > version).sort((a, b) => a.version - b.version);
  if (due.length === 0) return [];
  for (const change of due) refuseUnknown(change);
  const functions = await functionsOf(due, options);

  for (const { renamings = [], fileAdditions = [] } of due) {
    for (const [from, to] of renamings.flatMap((entry) => Object.entries(entry)))
      await moveFile(options.directory, from, to);
    for (const path of fileAdditions) await addFile(options.directory, path);
  }
  const tree = structuredClone(await options.read());
  const gone: string[] = [];
  for (const change of due) gone.push(...(await applyChange(tree, change, functions, options)));
  await options.write(tree);
  // Saving never deletes: without this the file would bring back what was deleted from the tree.
  for (const path of gone) await removeFile(options.directory, path);
  return due.map((change) => change.version);
}

/** A misspelt operation would be a change that silently never happened. */
function refuseUnknown(change: ValuesChange): void {
  for (const name of Object.keys(change)) {
    if (!operations.has(name))
      throw new ValuesError(
        'Migration',
        `values-changes.yaml: version ${change.version}: there is no operation '${name}'`,
      );
  }
}

/** The functions that changes name. One that is missing is found out before a file has moved. */
async function functionsOf(
  changes: readonly ValuesChange[],
  { findFunction }: MigrationOptions,
): Promise<ReadonlyMap<string, CustomMigration>> {
  const functions = new Map<string, CustomMigration>();
  for (const name of changes.flatMap(({ customFunctions = [] }) => customFunctions)) {
    const found = await findFunction?.(name);
    if (!found) throw new ValuesError('Migration', `Custom migration function ${name} not found`);
    functions.set(name, found);
  }
  return functions;
}

/** Changes the tree; gives the files that have to go with it. */
async function applyChange(
  tree: Tree,
  change: ValuesChange,
  functions: ReadonlyMap<string, CustomMigration>,
  options: MigrationOptions,
): Promise<string[]> {
  const gone: string[] = [];
  for (const [path, value] of entriesOf(change.additions)) {
    for (const place of expandPath(path, tree)) setAt(tree, place, structuredClone(value));
  }
  for (const [path, file] of entriesOf(change.bulkAdditions)) {
    if (!options.readPlatform) throw new ValuesError('Migration', 'bulkAdditions need the files of the platform');
    const value: unknown = JSON.parse(await options.readPlatform(String(file)));
    for (const place of expandPath(path, tree)) setAt(tree, place, structuredClone(value));
  }
  for (const [from, to] of entriesOf(change.relocations)) {
    relocate(tree, from, String(to));
    gone.push(...appFiles(from));
  }
  for (const [path, value] of entriesOf(change.mutations)) {
    for (const place of expandPath(path, tree)) mutate(tree, place, value);
  }
  for (const name of change.customFunctions ?? []) await functions.get(name)!(tree);
  for (const path of change.deletions ?? []) {
    for (const place of expandPath(path, tree).reverse()) unsetAt(tree, place);
    gone.push(...appFiles(path));
  }
  gone.push(...(change.fileDeletions ?? []));
  setAt(tree, ['versions', 'specVersion'], change.version);
  return gone;
}

function entriesOf(list: readonly Tree[] | undefined): [string, unknown][] {
  return (list ?? []).flatMap((entry) => Object.entries(entry));
}

function relocate(tree: Tree, from: string, to: string): void {
  const targets = expandPath(to, tree);
  for (const [index, source] of expandPath(from, tree).entries()) {
    const value = valueAt(tree, source);
    const target = targets[index] ?? targets[0];
    if (!value || !target) continue;
    unsetAt(tree, source);
    setAt(tree, target, value);
  }
}

function mutate(tree: Tree, place: readonly string[], value: unknown): void {
  const prev = valueAt(tree, place);
  if (prev === undefined) return;
  setAt(
    tree,
    place,
    typeof value === 'string' && value.includes('.prev') ? rendered(value, prev) : structuredClone(value),
  );
}

function rendered(template: string, prev: unknown): unknown {
  const templates = new TemplateSet({ functions: helmFunctions, missingKey: 'error', environment: makeEnvironment() });
  templates.add('mutation', template.includes('{{') ? template : `{{ ${template} }}`);
  const text = templates.execute('mutation', fromPlain({ prev }));
  return typeof prev === 'string' ? text : (parse(text) as unknown);
}

/** The files of an app that was deleted or moved as a whole. */
function appFiles(path: string): string[] {
  const name = /^apps\.([^.[\]{}]+)$/.exec(path)?.[1];
  return name === undefined ? [] : [`env/apps/${name}.yaml`, `env/apps/${secretPrefix}${name}.yaml`];
}

async function moveFile(directory: string, from: string, to: string): Promise<void> {
  const pairs = [[from, to]];
  // The secret half moves along.
  if (from.endsWith('.yaml')) pairs.push([twinOf(from), twinOf(to)]);
  for (const [source = '', target = ''] of pairs) {
    const source_ = inside(directory, source);
    const info = await stat(source_).catch(() => undefined);
    if (!info) continue;
    const target_ = inside(directory, target);
    await mkdir(dirname(target_), { recursive: true });
    if (info.isDirectory()) {
      await cp(source_, target_, { recursive: true });
      await rm(source_, { recursive: true });
    } else await rename(source_, target_);
    await rm(source_ + decryptedSuffix, { force: true });
  }
}

function twinOf(path: string): string {
  return join(dirname(path), secretPrefix + basename(path));
}

async function addFile(directory: string, path: string): Promise<void> {
  const target = inside(directory, path);
  await mkdir(dirname(target), { recursive: true });
  await writeFile(target, '', { flag: 'a' });
}

async function removeFile(directory: string, path: string): Promise<void> {
  const target = inside(directory, path);
  await rm(target, { recursive: true, force: true });
  await rm(target + decryptedSuffix, { force: true });
}

function inside(directory: string, path: string): string {
  const target = resolve(directory, path);
  if (!target.startsWith(resolve(directory) + sep))
    throw new ValuesError('Migration', `values-changes.yaml: '${path}' is outside of the values repository`);
  return target;
}
