import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { inParallel } from '@slipway/manifests';
import { isNode, type Document, type LineCounter } from 'yaml';

import { foldersBelow, isHidden, type Folder } from './folders.ts';
import { type ParsedFile, ParsedFiles } from './parsed-files.ts';
import { decryptedSuffix, type FileKind, fileKinds, isSecretFile, isTeamKind, secretPrefix } from './kinds.ts';
import { isTree, merge, type Path, setAt, type Tree, valueAt } from './tree.ts';
import { ValuesError } from './values-error.ts';

/** A file that is part of the tree. */
export interface ValuesFile {
  readonly kind: FileKind;
  /** Below the values repository, such as `env/apps/harbor.yaml`; never the decrypted twin. */
  readonly path: string;
  /** Where its `spec` is in the tree. */
  readonly location: Path;
  readonly document: Document;
  readonly lines: LineCounter;
}

export interface LoadedValues {
  readonly tree: Tree;
  readonly files: readonly ValuesFile[];
}

/** Looks at the file system at once. */
const atATime = 16;

export interface LoadOptions {
  /** Leave out what is encrypted, for a check by somebody without the key. Default false: it is an error. */
  readonly skipEncrypted?: boolean;
}

/** A file of the repository that may be part of the tree. */
export interface FoundFile {
  readonly kind: FileKind;
  readonly team: string;
  readonly path: string;
  readonly parsed: ParsedFile;
}

/** Reads all files of a values repository into one tree. A file that cannot be read ends it: half a platform is none. */
export async function loadValues(
  directory: string,
  { skipEncrypted = false }: LoadOptions = {},
): Promise<LoadedValues> {
  return valuesIn(await findFiles(directory, new ParsedFiles()), skipEncrypted);
}

/** The files a tree is made of, in their order. Those that `known` has seen before are the same objects. */
export async function findFiles(directory: string, known: ParsedFiles): Promise<FoundFile[]> {
  const present = foldersBelow(join(directory, 'env'), (path) => !isHidden(path));
  const teams = present.get('teams')?.folders ?? [];
  const files = fileKinds.flatMap((kind) =>
    (isTeamKind(kind) ? teams : ['']).flatMap((team) => {
      const folder = kind.folder.map((part) => (part === '*' ? team : part)).join('/');
      return namesIn(present.get(folder), kind).map((file) => ({ kind, team, path: `env/${folder}/${file}` }));
    }),
  );
  const reads = await inParallel(
    files,
    atATime,
    async ({ path }) => (await Promise.allSettled([known.read(directory, path)]))[0],
  );
  return files.flatMap((file, index): FoundFile[] => {
    const outcome = reads[index]!;
    // Of several that cannot be read, the first is named, whichever was looked at first.
    if (outcome.status === 'rejected') throw outcome.reason;
    const path = file.path.endsWith(decryptedSuffix) ? file.path.slice(0, -decryptedSuffix.length) : file.path;
    return outcome.value ? [{ ...file, path, parsed: outcome.value }] : [];
  });
}

/** The tree the files make. */
export function valuesIn(found: readonly FoundFile[], skipEncrypted = false): LoadedValues {
  const tree: Tree = {};
  const files = found.flatMap((file) => addTo(tree, file, skipEncrypted) ?? []);
  sortLists(tree);
  return { tree, files };
}

/** Names of the teams, which are those with a folder. */
export async function teamsIn(directory: string): Promise<string[]> {
  const entries = await readdir(join(directory, 'env', 'teams'), { withFileTypes: true }).catch(() => []);
  return entries
    .filter((entry) => entry.isDirectory() && !isHidden(entry.name))
    .map((entry) => entry.name)
    .sort();
}

function addTo(tree: Tree, { kind, team, path, parsed }: FoundFile, skipEncrypted: boolean): ValuesFile | undefined {
  const { document, lines, content: manifest } = parsed;
  if (manifest !== null && manifest !== undefined && !isTree(manifest))
    refuse(path, 1, '', 'must be a map with a spec');
  const content = isTree(manifest) ? manifest : {};
  // Taken as values, ciphertext would be written back as if it were the secret.
  if ('sops' in content) {
    if (skipEncrypted) return undefined;
    throw new ValuesError('Encrypted', 'the values repository is encrypted', [
      { file: path, path: '', message: 'was not decrypted; give the age key it is encrypted for' },
    ]);
  }
  // It would be saved under the name of its element, in clear.
  if (kind.items === 'list' && kind.kind !== 'AplUser' && isSecretFile(path))
    refuse(
      path,
      undefined,
      '',
      `has no place here; what is secret of a team belongs to env/teams/${team}/secrets.settings.yaml`,
    );
  if (!isTree(content['spec'] ?? {})) refuse(path, lineOf(document, lines, 'spec'), 'spec', 'must be a map');
  const spec = isTree(content['spec']) ? structuredClone(content['spec']) : {};
  if (hasMagicKey(spec)) refuse(path, lineOf(document, lines, 'spec'), 'spec', 'a key cannot be called __proto__');
  const stem = stemOf(path);
  const place = kind.location.map((part) => (part === '*' ? team : part));
  if (kind.items === 'list') {
    const list = (valueAt(tree, place) ?? []) as unknown[];
    const named = valueAt(content, ['metadata', 'name']);
    if (kind.kind === 'AplUser') spec['name'] = stem;
    else spec['name'] = typeof named === 'string' ? named : stem;
    list.push(spec);
    setAt(tree, place, list);
    return { kind, path, location: [...place, String(list.length - 1)], document, lines };
  }
  const location = kind.items === 'map' ? [...place, stem] : place;
  const present = valueAt(tree, location);
  setAt(tree, location, isTree(present) ? merge(present, spec) : spec);
  return { kind, path, location, document, lines };
}

/** Names of the files of a kind: a decrypted file stands for its encrypted twin. */
function namesIn(folder: Folder | undefined, kind: FileKind): string[] {
  const found = new Map<string, string>();
  for (const file of folder?.files ?? []) {
    if (isHidden(file)) continue;
    const name = /^(.+?)\.yaml(\.dec)?$/.exec(file)?.[1];
    if (name === undefined) continue;
    const stem = name.startsWith(secretPrefix) ? name.slice(secretPrefix.length) : name;
    // In the order of their names the twin comes second.
    if (kind.file === undefined || kind.file === stem) found.set(name, file);
  }
  return [...found].sort(([a], [b]) => compare(a, b)).map(([, file]) => file);
}

/** Lists are in the order of their files already; users are known by their address. */
function sortLists(tree: Tree): void {
  const { users } = tree;
  if (Array.isArray(users)) users.sort((a, b) => compare(String(a['email'] ?? ''), String(b['email'] ?? '')));
}

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}

export function stemOf(path: string): string {
  const name = path.slice(path.lastIndexOf('/') + 1).replace(/\.yaml(\.dec)?$/, '');
  return name.startsWith(secretPrefix) ? name.slice(secretPrefix.length) : name;
}

function refuse(file: string, line: number | undefined, path: string, message: string): never {
  throw new ValuesError('Malformed', 'the values repository cannot be read', [
    { file, ...(line === undefined ? {} : { line }), path, message },
  ]);
}

/** Where a key of the document has its value. */
export function lineOf(document: Document, lines: LineCounter, key: string): number | undefined {
  const node: unknown = document.getIn([key], true);
  const range = isNode(node) ? node.range : undefined;
  return range ? lines.linePos(range[0]).line : undefined;
}

function hasMagicKey(node: unknown): boolean {
  if (typeof node !== 'object' || node === null) return false;
  return Object.hasOwn(node, '__proto__') || Object.values(node).some(hasMagicKey);
}
