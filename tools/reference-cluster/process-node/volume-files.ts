import { fieldValue, type PodPlace } from './field-path.ts';
import { configMapContents, MissingReference, type PodObjects, secretContents } from './pod-objects.ts';
import type { FieldFile, ObjectFiles, ProjectedSource, RunnablePod, TokenFile, Volume } from './running-pod.ts';

export interface VolumeFile {
  content: Buffer;
  mode: number;
}

/** Files of a volume by their path inside it. */
export type VolumeFiles = ReadonlyMap<string, VolumeFile>;

export interface VolumeSources {
  pod: RunnablePod;
  place: PodPlace;
  objects: PodObjects;
  /** A token of the pod's ServiceAccount. */
  token(request: TokenFile): Promise<string>;
}

const defaultFileMode = 0o644;

/** The files a volume is made of; `undefined` for a volume that is a folder of its own. */
export async function volumeFiles(volume: Volume, sources: VolumeSources): Promise<VolumeFiles | undefined> {
  const { secret, configMap, projected, downwardAPI } = volume;
  if (secret) {
    const contents = await secretContents(sources.objects, secret.secretName, secret.optional);
    return selected(contents, secret, secret.defaultMode);
  }
  if (configMap) {
    const contents = await configMapContents(sources.objects, configMap.name, configMap.optional);
    return selected(contents, configMap, configMap.defaultMode);
  }
  if (downwardAPI) return fieldFiles(downwardAPI.items, sources, downwardAPI.defaultMode);
  if (!projected) return undefined;
  const files = new Map<string, VolumeFile>();
  for (const source of projected.sources) {
    for (const [path, file] of await projectedFiles(source, sources, projected.defaultMode)) files.set(path, file);
  }
  return files;
}

async function projectedFiles(source: ProjectedSource, sources: VolumeSources, mode?: number): Promise<VolumeFiles> {
  const { secret, configMap, downwardAPI, serviceAccountToken } = source;
  if (secret) return selected(await secretContents(sources.objects, secret.name, secret.optional), secret, mode);
  if (configMap) {
    return selected(await configMapContents(sources.objects, configMap.name, configMap.optional), configMap, mode);
  }
  if (downwardAPI) return fieldFiles(downwardAPI.items, sources, mode);
  if (!serviceAccountToken) throw new Error('a projected source that is not known cannot be mounted');
  const content = Buffer.from(await sources.token(serviceAccountToken));
  return new Map([[serviceAccountToken.path, { content, mode: mode ?? defaultFileMode }]]);
}

/** All entries under their keys, or those asked for under the paths they are asked for. */
function selected(
  contents: ReadonlyMap<string, Buffer>,
  { items, optional }: ObjectFiles,
  mode = defaultFileMode,
): VolumeFiles {
  if (!items) return new Map([...contents].map(([key, content]) => [key, { content, mode }]));
  const files = new Map<string, VolumeFile>();
  for (const item of items) {
    const content = contents.get(item.key);
    if (content) files.set(item.path, { content, mode: item.mode ?? mode });
    else if (!optional) throw new MissingReference(`references non-existent key: ${item.key}`);
  }
  return files;
}

function fieldFiles(
  items: readonly FieldFile[] = [],
  { pod, place }: VolumeSources,
  mode = defaultFileMode,
): VolumeFiles {
  return new Map(
    items.map(({ path, fieldRef, mode: own }) => {
      if (!fieldRef) throw new Error(`the file ${path} names no field of the pod`);
      return [path, { content: Buffer.from(fieldValue(pod, place, fieldRef.fieldPath)), mode: own ?? mode }];
    }),
  );
}
