import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';

import { titleOf, wrong, type KindNames } from './names.ts';
import { olderName } from './next-version.ts';

const folder = join(import.meta.dirname, '..', 'templates');

/** Files by their path in the project. */
export type ProjectFiles = Map<string, string>;

/** What the words of the templates become. */
export interface Words {
  readonly project: string;
  readonly group: string;
  /** Absent for files that are about no kind. */
  readonly kind?: KindNames;
  /** Absent for files that are about no older version. */
  readonly older?: string;
}

/** The files of one folder of templates, with the words of a project in the place of theirs. */
export async function fromTemplates(name: string, words: Words): Promise<ProjectFiles> {
  const root = join(folder, name);
  const files: ProjectFiles = new Map();
  for (const entry of await readdir(root, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const file = join(entry.parentPath, entry.name);
    const path = relative(root, file).replaceAll('\\', '/');
    // npm leaves files with a dot in front out of packages, or takes them for its own.
    files.set(replaced(path, words).replace(/^_/, '.'), replaced(await readFile(file, 'utf8'), words));
  }
  return files;
}

function replaced(text: string, { project, group, kind, older }: Words): string {
  const ofVersion = older ? text.replaceAll('BerthOLD', olderName('Berth', older)).replaceAll('OLD', older) : text;
  const ofProject = ofVersion
    .replaceAll('my-operator', project)
    .replaceAll('My Operator', titleOf(project))
    .replaceAll('example.org', group);
  if (!kind) return ofProject;
  return ofProject
    .replaceAll('Berth', kind.kind)
    .replaceAll('berths', kind.plural)
    .replaceAll(/berth(?=[A-Z])/g, kind.camel)
    .replaceAll('berth', kind.kebab);
}

/** Writes new files, all or none: one that is there already is somebody's work. */
export async function writeNew(root: string, files: ProjectFiles): Promise<void> {
  await refuseThere(root, files);
  await writeFiles(root, files);
}

export async function refuseThere(root: string, files: ProjectFiles): Promise<void> {
  for (const path of files.keys())
    if (await exists(join(root, path))) throw wrong(`${path} is there already`, 'move it away, or choose another name');
}

export async function writeFiles(root: string, files: ProjectFiles): Promise<void> {
  for (const [path, text] of files) {
    const file = join(root, path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, text);
  }
}

export async function exists(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined)) !== undefined;
}
