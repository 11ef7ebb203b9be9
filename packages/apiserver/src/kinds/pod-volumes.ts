import type { FieldError } from '../api-error.ts';
import type { JsonObject } from '../object.ts';
import { requiredName, requiredTexts } from './field-checks.ts';
import { duplicate, forbiddenField, invalidValue, notFoundValue, required } from './field-errors.ts';
import { asObject, asObjects, asText } from './json-access.ts';
import { dnsLabel } from './names.ts';

/** What the volume is made of, in the order the real server looks: all but the first are too many. */
function volumeSources(volume: JsonObject): string[] {
  const given = Object.keys(volume).filter((key) => key !== 'name' && volume[key] != null);
  const rank = (key: string) => ['emptyDir', 'hostPath'].indexOf(key) >>> 0;
  return given.toSorted((a, b) => rank(a) - rank(b));
}

/**
 * What is wrong with a volume.
 * @param names of the volumes that are as they should be; only these can be mounted, and be there twice
 */
export function validateVolume(volume: JsonObject, field: string, names: Set<string>): FieldError[] {
  const [source, ...extra] = volumeSources(volume);
  const name = asText(volume['name']);
  const errors = [
    ...(source === undefined
      ? [required(field, 'must specify a volume type')]
      : volumeSourceErrors(source, asObject(volume[source]) ?? {}, `${field}.${source}`)),
    ...extra.map((kind) => forbiddenField(`${field}.${kind}`, 'may not specify more than 1 volume type')),
    ...requiredName(name, `${field}.name`, dnsLabel),
    ...(names.has(name) ? [duplicate(`${field}.name`, name)] : []),
  ];
  if (errors.length === 0) names.add(name);
  return errors;
}

/** What a volume of one kind cannot do without. */
const neededOfSource: ReadonlyMap<string, string> = new Map([
  ['secret', 'secretName'],
  ['configMap', 'name'],
  ['persistentVolumeClaim', 'claimName'],
  ['hostPath', 'path'],
]);

function volumeSourceErrors(kind: string, source: JsonObject, field: string): FieldError[] {
  const needed = neededOfSource.get(kind);
  if (needed !== undefined) return requiredTexts(source, field, [needed]);
  if (kind !== 'projected') return [];
  return asObjects(source['sources']).flatMap((projected) => {
    const token = asObject(projected['serviceAccountToken']);
    // Named as if it were of the volume, as the real server does.
    return token ? requiredTexts(token, field, ['path']) : [];
  });
}

/** What is wrong with the mounts of a container; `volumes` are those of its pod. */
export function validateMounts(
  mounts: readonly JsonObject[],
  field: string,
  volumes: ReadonlySet<string>,
): FieldError[] {
  const paths = new Set<string>();
  return mounts.flatMap((mount, index) => {
    const at = `${field}[${index}]`;
    const errors: FieldError[] = [];
    const mounted = asText(mount['name']);
    if (!mounted) errors.push(required(`${at}.name`));
    if (!volumes.has(mounted)) errors.push(notFoundValue(`${at}.name`, mounted));
    const path = asText(mount['mountPath']);
    if (!path) errors.push(required(`${at}.mountPath`));
    if (paths.has(path)) errors.push(invalidValue(`${at}.mountPath`, path, 'must be unique'));
    paths.add(path);
    return errors;
  });
}

/** What a pod that names no account cannot have. */
export function tokenErrors(volume: JsonObject, field: string): FieldError[] {
  return asObjects(asObject(volume['projected'])?.['sources']).flatMap((source, index) =>
    source['serviceAccountToken'] == null
      ? []
      : [
          forbiddenField(
            `${field}.projected.sources[${index}].serviceAccountToken`,
            'must not be specified when serviceAccountName is not set',
          ),
        ],
  );
}
