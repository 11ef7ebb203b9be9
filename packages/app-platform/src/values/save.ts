import { existsSync } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';

import { decryptedSuffix, type FileKind, fileKinds, isTeamKind, secretPrefix } from './kinds.ts';
import type { ParsedFiles } from './parsed-files.ts';
import { splitSecrets } from './secret-paths.ts';
import { isTree, type Path, type Tree, valueAt } from './tree.ts';
import { writeWhole } from './write-file.ts';
import { parseYaml, withContent, yamlFile } from './yaml-file.ts';

export interface SaveOptions {
  readonly directory: string;
  readonly tree: Tree;
  /** Which places are secret; they go to files of their own. */
  readonly secretPaths: readonly Path[];
  /** Secret files are encrypted: changes go to the decrypted twin. */
  readonly encrypted: boolean;
  /** What is known of the files from before. */
  readonly known?: ParsedFiles;
}

interface Manifest extends Tree {
  kind: string;
  metadata: { name: string; labels: Record<string, string> };
  spec: Tree;
}

/** Writes the tree into its files. A file whose content stays is not touched; files of things that left the tree stay. */
export async function saveValues(options: SaveOptions): Promise<string[]> {
  const { plain, secret, emptied } = splitSecrets(options.tree, options.secretPaths);
  const written: string[] = [];
  for (const kind of fileKinds) {
    for (const [path, manifest] of manifestsOf(kind, plain, '')) {
      // Users are secret as a whole.
      if (kind.kind !== 'AplUser' && (await writeManifest(options, path, manifest))) written.push(path);
    }
    const secrets = new Map(manifestsOf(kind, secret, secretPrefix));
    for (const [path, manifest] of secrets) if (await writeSecret(options, path, manifest)) written.push(path);
    for (const [path] of manifestsOf(kind, emptied, secretPrefix))
      if (!secrets.has(path)) await removeSecret(options, path);
  }
  return written;
}

async function writeSecret(options: SaveOptions, path: string, manifest: Manifest): Promise<boolean> {
  const sealed = options.encrypted && existsSync(join(options.directory, path));
  return await writeManifest(options, sealed ? path + decryptedSuffix : path, manifest);
}

/** A secret file in which nothing is left goes, with its decrypted twin. */
async function removeSecret({ directory }: SaveOptions, path: string): Promise<void> {
  for (const file of [path, path + decryptedSuffix]) await rm(join(directory, file), { force: true });
}

async function writeManifest({ directory, known }: SaveOptions, path: string, manifest: Manifest): Promise<boolean> {
  const present = await known?.read(directory, path);
  if (isTree(present?.content) && isDeepStrictEqual(present.content, { ...present.content, ...manifest })) return false;
  const target = join(directory, path);
  const before = await readText(target);
  const after =
    before === undefined ? yamlFile(manifest) : withContent(before, { ...foreignKeys(target, before), ...manifest });
  if (before === after) return false;
  await writeWhole(target, after);
  return true;
}

/** Top-level keys that are not ours survive. */
function foreignKeys(path: string, text: string): Tree {
  return parseYaml(text, path) ?? {};
}

/** The files of a kind that a tree makes. */
function manifestsOf(kind: FileKind, tree: Tree, prefix: string): [string, Manifest][] {
  if (!isTeamKind(kind)) return filesAt(kind, valueAt(tree, kind.location), undefined, prefix);
  const teams = valueAt(tree, ['teamConfig']);
  if (!isTree(teams)) return [];
  const below = kind.location.slice(2);
  return Object.keys(teams).flatMap((team) => filesAt(kind, valueAt(teams, [team, ...below]), team, prefix));
}

function filesAt(kind: FileKind, value: unknown, team: string | undefined, prefix: string): [string, Manifest][] {
  const folder = ['env', ...kind.folder.map((part) => (part === '*' ? team! : part))].join('/');
  const labels: Record<string, string> = team === undefined ? {} : { 'apl.io/teamId': team };
  const manifest = (name: string, spec: Tree): Manifest => ({ kind: kind.kind, metadata: { name, labels }, spec });
  if (kind.items === 'list') {
    if (!Array.isArray(value)) return [];
    return value.filter(isTree).map((item) => {
      const { name, id, teamId: _team, ...spec } = item;
      const called = String(name ?? id ?? item['label'] ?? 'unknown');
      return [`${folder}/${prefix}${called}.yaml`, manifest(called, spec)];
    });
  }
  if (!isTree(value)) return [];
  if (kind.items === 'map') {
    return Object.entries(value)
      .filter((entry): entry is [string, Tree] => isTree(entry[1]))
      .map(([name, spec]) => [`${folder}/${prefix}${name}.yaml`, manifest(name, spec)]);
  }
  const spec = team === undefined ? value : withoutIdentity(value);
  return [[`${folder}/${prefix}${kind.file}.yaml`, manifest(team ?? kind.file!, spec)]];
}

function withoutIdentity({ id: _id, name: _name, teamId: _team, ...rest }: Tree): Tree {
  return rest;
}

async function readText(path: string): Promise<string | undefined> {
  return await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
}
