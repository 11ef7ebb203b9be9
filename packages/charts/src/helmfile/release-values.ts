import { dirname } from 'node:path';
import { readValuesText } from '../chart/load.ts';
import { mergeMaps } from '../chart/merge-maps.ts';
import { mergeInto } from '../functions/dicts.ts';
import { deepCopy, isMap, type GoMap } from '../go/values.ts';
import { YamlError } from '../yaml/read.ts';
import { writeYaml } from '../yaml/write.ts';
import { HelmfileError } from './helmfile-error.ts';
import { readValues, resolveValuesPaths, textOfFile } from './load-state.ts';
import { releaseData, type HelmfileRelease } from './release.ts';
import type { Renderer } from './renderer.ts';
import { listOf, textOf } from './state.ts';

interface ValuesText {
  /** The file, or the place in the state. */
  readonly origin: string;
  readonly text: string;
}

/** The values of a release as `write-values` writes them: read as helmfile reads YAML, later ones over earlier ones. */
export function releaseValues(release: HelmfileRelease, renderer: Renderer): GoMap {
  const merged: GoMap = new Map();
  for (const { origin, text } of valuesTexts(release, renderer))
    mergeInto(merged, readValues(renderer, text, origin), true);
  return merged;
}

/** The same as Helm gets them: it reads every file by its own rules, where `yes` is a boolean and a null stays. */
export function chartValues(release: HelmfileRelease, renderer: Renderer): GoMap {
  let merged: GoMap = new Map();
  for (const { origin, text } of valuesTexts(release, renderer)) merged = mergeMaps(merged, readForHelm(text, origin));
  return merged;
}

function readForHelm(text: string, origin: string): GoMap {
  try {
    return readValuesText(text);
  } catch (error) {
    if (!(error instanceof YamlError)) throw error;
    throw new HelmfileError('InvalidState', `${origin}: ${error.message}`, { cause: error });
  }
}

function valuesTexts(release: HelmfileRelease, renderer: Renderer): ValuesText[] {
  const { state, spec } = release;
  return listOf(spec, 'values').flatMap((entry, index) => {
    const place = `release "${release.name}" values[${index}]`;
    if (isMap(entry)) {
      const origin = `${state.file}: ${place}`;
      const text = writeYaml(deepCopy(entry), { dialect: 'v3' });
      refuseReferences(text, origin);
      return [{ origin, text }];
    }
    const missing = textOf(spec, 'missingFileHandler') || textOf(state.spec, 'missingFileHandler');
    const paths = resolveValuesPaths(renderer, entry as string, {
      file: state.file,
      directory: state.directory,
      place,
      missing,
    });
    if (paths.length > 1)
      throw new HelmfileError('Unsupported', `${state.file}: ${place}: ${String(entry)} matches more than one file`);
    return paths.map((path) => renderValuesFile(path, release, renderer));
  });
}

function renderValuesFile(path: string, release: HelmfileRelease, renderer: Renderer): ValuesText {
  const text = textOfFile(renderer, path);
  const rendered = path.endsWith('.gotmpl')
    ? renderer.render({ name: path, text, data: releaseData(release.spec, release.state), directory: dirname(path) })
    : text;
  refuseReferences(rendered, path);
  return { origin: path, text: rendered };
}

function refuseReferences(text: string, origin: string): void {
  if (/^[^#\n]*\bref\+[a-z0-9]+:\/\//m.test(text))
    throw new HelmfileError('Unsupported', `${origin}: references to secrets elsewhere (ref+…) are not supported`);
}
