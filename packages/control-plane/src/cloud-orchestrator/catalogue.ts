import { readFileSync } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { isRecord, type KubeObject } from '@slipway/kube';
import { parseManifests } from '@slipway/manifests';
import { parse } from 'yaml';

import { ComponentError } from '../component/component-error.ts';
import { SettingsError } from '../config/settings-error.ts';
import { type Part, parts } from './parts.ts';

/** What can be had, and the objects of each version. */
export interface Catalogue {
  versionsOf(part: Part): readonly string[];
  /** The objects of a version; what is not in the catalogue is an error that says what is. */
  objectsOf(part: Part, version: string): Promise<readonly KubeObject[]>;
}

/** A catalogue from objects that are there already. */
export function catalogueOf(
  content: Readonly<Partial<Record<Part, Readonly<Record<string, () => Promise<readonly KubeObject[]>>>>>>,
): Catalogue {
  const versionsOf = (part: Part): string[] => Object.keys(content[part] ?? {});
  return {
    versionsOf,
    async objectsOf(part, version) {
      const load = versionsOf(part).includes(version) ? content[part]?.[version] : undefined;
      if (load !== undefined) return await load();
      const known = versionsOf(part);
      throw new ComponentError(
        'ConfigurationProblem',
        `${part} ${version} is not in the catalogue; ${known.length > 0 ? `it has ${known.join(', ')}` : `it has no ${part} at all`}`,
      );
    },
  };
}

/**
 * Reads a catalogue: `<part>: { "<version>": <file or folder of manifests> }`. Paths are relative to the file. The manifests are read when
 * somebody asks for them.
 */
export function readCatalogue(file: string): Catalogue {
  const where = `catalogue ${file}`;
  const document: unknown = parse(readFileSync(file, 'utf8'));
  if (!isRecord(document)) throw new SettingsError(where, [{ field: '', message: 'must be a mapping of components' }]);
  const content: Partial<Record<Part, Record<string, () => Promise<readonly KubeObject[]>>>> = {};
  for (const [part, versions] of Object.entries(document)) {
    if (!isPart(part))
      throw new SettingsError(where, [{ field: part, message: `unknown; known: ${parts.join(', ')}` }]);
    if (!isRecord(versions))
      throw new SettingsError(where, [{ field: part, message: 'must be a mapping of versions' }]);
    const loaders: Record<string, () => Promise<readonly KubeObject[]>> = {};
    for (const [version, path] of Object.entries(versions)) {
      if (typeof path !== 'string')
        throw new SettingsError(where, [{ field: `${part}.${version}`, message: 'must be a path' }]);
      loaders[version] = async () => await readManifests(resolve(dirname(file), path));
    }
    content[part] = loaders;
  }
  return catalogueOf(content);
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
