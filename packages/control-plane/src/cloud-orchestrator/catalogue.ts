import { readFileSync } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { loadChart } from '@slipway/charts';
import {
  AnyFields,
  isRecord,
  type KubeObject,
  type Static,
  toStructuralSchema,
  Type,
  validateValue,
} from '@slipway/kube';
import { parseManifests } from '@slipway/manifests';
import { parse } from 'yaml';

import { ComponentError, withReason } from '../component/component-error.ts';
import { SettingsError } from '../config/settings-error.ts';
import type { CataloguedChart } from './chart-part.ts';
import { type Part, parts } from './parts.ts';

/** What a version of a part is made of. */
export type PartContent = { readonly objects: readonly KubeObject[] } | CataloguedChart;

/** What can be had, and what each version is made of. */
export interface Catalogue {
  versionsOf(part: Part): readonly string[];
  /** The content of a version; what is not in the catalogue is an error that says what is. */
  contentOf(part: Part, version: string): Promise<PartContent>;
}

type Loaders = Partial<Record<Part, Readonly<Record<string, () => Promise<PartContent>>>>>;

/** A catalogue from content that is there already. */
export function catalogueOf(content: Readonly<Loaders>): Catalogue {
  const versionsOf = (part: Part): string[] => Object.keys(content[part] ?? {});
  return {
    versionsOf,
    async contentOf(part, version) {
      const load = versionsOf(part).includes(version) ? content[part]?.[version] : undefined;
      if (load !== undefined) return await withReason('ConfigurationProblem', load);
      const known = versionsOf(part);
      throw new ComponentError(
        'ConfigurationProblem',
        `${part} ${version} is not in the catalogue; ${known.length > 0 ? `it has ${known.join(', ')}` : `it has no ${part} at all`}`,
      );
    },
  };
}

const chartEntry = Type.Object(
  {
    chart: Type.String({ minLength: 1 }),
    namespace: Type.String({ minLength: 1 }),
    values: Type.Optional(AnyFields()),
  },
  { additionalProperties: false },
);

/**
 * Reads a catalogue: `<part>: { "<version>": <content> }`, where the content is a file or folder of manifests, or `{ chart, namespace, values }` with the folder or
 * archive of a chart. Paths are relative to the file. The content is read when somebody asks for it.
 */
export function readCatalogue(file: string): Catalogue {
  const where = `catalogue ${file}`;
  const document = readDocument(file, where);
  const content: Loaders = {};
  for (const [part, versions] of Object.entries(document)) {
    if (!isPart(part))
      throw new SettingsError(where, [{ field: part, message: `unknown; known: ${parts.join(', ')}` }]);
    if (!isRecord(versions))
      throw new SettingsError(where, [{ field: part, message: 'must be a mapping of versions' }]);
    content[part] = Object.fromEntries(
      Object.entries(versions).map(([version, entry]) => [version, loaderOf(file, `${part}.${version}`, entry)]),
    );
  }
  return catalogueOf(content);
}

function readDocument(file: string, where: string): Record<string, unknown> {
  let document: unknown;
  try {
    document = parse(readFileSync(file, 'utf8'));
  } catch (error) {
    const missing = (error as NodeJS.ErrnoException).code === 'ENOENT';
    throw new SettingsError(where, [
      { field: '', message: missing ? 'the file does not exist' : 'the file is not YAML' },
    ]);
  }
  if (!isRecord(document)) throw new SettingsError(where, [{ field: '', message: 'must be a mapping of components' }]);
  return document;
}

function loaderOf(file: string, field: string, entry: unknown): () => Promise<PartContent> {
  const at = (path: string): string => resolve(dirname(file), path);
  if (typeof entry === 'string') return async () => ({ objects: await readManifests(at(entry)) });
  const problems = validateValue(entry, toStructuralSchema(chartEntry, field));
  if (!isRecord(entry) || problems.length > 0) {
    const message = 'must be a path of manifests, or a mapping with chart, namespace and values';
    throw new SettingsError(
      `catalogue ${file}`,
      isRecord(entry)
        ? problems.map((problem) => ({ ...problem, field: `${field}.${problem.field}` }))
        : [{ field, message }],
    );
  }
  const { chart, namespace, values = {} } = entry as Static<typeof chartEntry>;
  return async () => ({ chart: await loadChart(at(chart)), namespace, values });
}

function isPart(text: string): text is Part {
  return (parts as readonly string[]).includes(text);
}

async function readManifests(path: string): Promise<KubeObject[]> {
  const isFolder = (await stat(path)).isDirectory();
  const files = isFolder
    ? (await readdir(path))
        .filter((name) => /\.(?:ya?ml|json)$/.test(name))
        .sort()
        .map((name) => join(path, name))
    : [path];
  const texts = await Promise.all(files.map(async (each) => [each, await readFile(each, 'utf8')] as const));
  return texts.flatMap(([source, text]) => parseManifests(text, { source }));
}
