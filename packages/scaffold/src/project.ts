import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { kindNames, wrong, type KindNames } from './names.ts';
import { nextVersion } from './next-version.ts';
import {
  exists,
  fromTemplates,
  refuseThere,
  writeFiles,
  writeNew,
  type ProjectFiles,
  type Words,
} from './templates.ts';
import { withImport } from './with-import.ts';

export interface NewProject {
  /** Of its package, its image and its operator. */
  readonly name: string;
  readonly group: string;
  readonly kinds: readonly KindNames[];
  /** Each kind gets a webhook. */
  readonly webhook: boolean;
  /** Each kind gets a second version. */
  readonly secondVersion: boolean;
  /** Versions of packages of ours, by name. */
  readonly versions: Readonly<Record<string, string>>;
}

/** Writes a whole project into a folder. */
export async function createProject(folder: string, project: NewProject): Promise<void> {
  const words = { project: project.name, group: project.group };
  const files = await fromTemplates('project', words);
  files.set('package.json', withVersions(files.get('package.json')!, project.versions));
  await writeNew(folder, files);
  for (const { kind } of project.kinds) {
    await addKind(folder, kind);
    if (project.webhook) await addWebhook(folder, kind);
    if (project.secondVersion) await addVersion(folder, kind);
  }
}

function withVersions(text: string, versions: Readonly<Record<string, string>>): string {
  const manifest = JSON.parse(text) as Record<'dependencies' | 'devDependencies', Record<string, string>>;
  for (const [name, version] of Object.entries(versions))
    (name in manifest.dependencies ? manifest.dependencies : manifest.devDependencies)[name] = version;
  return `${JSON.stringify(manifest, undefined, 2)}\n`;
}

/** Adds a kind to a project: its files, and its part in `src/operator.ts`. Returns what was written. */
export async function addKind(folder: string, kind: string): Promise<string[]> {
  const names = kindNames(kind);
  const files = await fromTemplates('kind', await wordsOf(folder, names));
  await changing(
    folder,
    'src/operator.ts',
    (text) => {
      const part = `${names.camel}Part`;
      const withPart = text.replace(
        /^(const parts = \[)(.*?)(\];)$/m,
        (_all, begin: string, list: string, end: string) => [begin, list ? `${list}, ` : '', part, end].join(''),
      );
      if (withPart === text) return undefined;
      return withImport(withPart, `import { ${part} } from './${names.kebab}/index.ts';`);
    },
    files,
  );
  return [...files.keys(), 'src/operator.ts'];
}

/** Adds a webhook to a kind of a project. */
export async function addWebhook(folder: string, kind: string): Promise<string[]> {
  return await addToPart(folder, kindNames(kind), 'Webhook');
}

/**
 * Adds the next version to a kind of a project. What was the kind becomes an older version in a file of its own; the new one
 * is stored from now on, and a webhook converts between all of them.
 */
export async function addVersion(folder: string, kind: string): Promise<string[]> {
  const names = kindNames(kind);
  const path = `src/${names.kebab}/api.ts`;
  const next = nextVersion(await ownFile(folder, path, `there is no kind ${kind} in this project`), kind);
  if (next === undefined)
    throw wrong(`${path} is not as slipway has written it`, 'add the version by hand: docs/versions.md says how');
  const { before, older, newest, api } = next;
  const files = await fromTemplates('version', { ...(await wordsOf(folder, names)), older: before });
  files.set(`src/${names.kebab}/api-${before}.ts`, older);
  await refuseThere(folder, files);
  // A conversion that is there knows of the others already, and is somebody's work by now.
  const isConverted = await exists(join(folder, `src/${names.kebab}/conversion.ts`));
  const written = isConverted ? [] : await addToPart(folder, names, 'Conversion');
  await writeFiles(folder, files);
  await writeFile(join(folder, path), api);
  const example = `examples/${names.kebab}.yaml`;
  if (await exists(join(folder, example))) {
    const text = await readFile(join(folder, example), 'utf8');
    await writeFile(join(folder, example), text.replace(`/${before}\n`, `/${newest}\n`));
  }
  return [...written, ...files.keys(), path];
}

/** Adds the files of a template to a kind, and `<kind><Suffix>` to the webhooks of its part. */
async function addToPart(folder: string, names: KindNames, suffix: 'Webhook' | 'Conversion'): Promise<string[]> {
  const index = `src/${names.kebab}/index.ts`;
  await ownFile(folder, index, `there is no kind ${names.kind} in this project`);
  const files = await fromTemplates(suffix.toLowerCase(), await wordsOf(folder, names));
  await changing(
    folder,
    index,
    (text) => {
      const added = `${names.camel}${suffix}`;
      const withIt = text.replace(/^( {2}webhooks: \[)(.*?)(\],)$/m, (_all, begin: string, list: string, end: string) =>
        [begin, list ? `${list}, ` : '', added, end].join(''),
      );
      if (withIt === text) return undefined;
      return withImport(withIt, `import { ${added} } from './${suffix.toLowerCase()}.ts';`);
    },
    files,
  );
  return [...files.keys(), index];
}

/** Writes new files and one changed one. Nothing is written when the change finds no place for itself. */
async function changing(
  folder: string,
  path: string,
  change: (text: string) => string | undefined,
  files: ProjectFiles,
): Promise<void> {
  const changed = change(await ownFile(folder, path, `${path} is not there`));
  if (changed === undefined)
    throw wrong(
      `${path} is not as slipway has written it, so nothing was changed`,
      'begin a project of the same shape beside it with npm create slipway, and take over what you need',
    );
  await writeNew(folder, files);
  await writeFile(join(folder, path), changed);
}

/** The words of a project that is there. */
async function wordsOf(folder: string, kind: KindNames): Promise<Words> {
  const manifest = JSON.parse(await ownFile(folder, 'package.json', 'there is no package.json here')) as {
    name: string;
    slipway?: { group?: string };
  };
  return { project: manifest.name, group: manifest.slipway?.group ?? 'example.org', kind };
}

async function ownFile(folder: string, path: string, problem: string): Promise<string> {
  try {
    return await readFile(join(folder, path), 'utf8');
  } catch {
    throw wrong(problem, 'run this in the folder of a project from npm create slipway');
  }
}
