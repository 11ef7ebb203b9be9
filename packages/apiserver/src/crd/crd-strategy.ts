import { kubeTime } from '../clock.ts';
import { withStatus } from '../kinds/with-status.ts';
import {
  asList,
  asObject,
  asObjects,
  asText,
  defaultText,
  defaultTo,
  dig,
  ensureObject,
} from '../kinds/json-access.ts';
import type { ApiObject, JsonObject } from '../object.ts';
import type { Strategy } from '../resource.ts';
import { isEstablished, validateCrd } from './validate-crd.ts';

function applyDefaults(object: ApiObject): void {
  const spec = ensureObject(object as unknown as JsonObject, 'spec');
  const names = ensureObject(spec, 'names');
  const kind = asText(names['kind']);
  if (kind) {
    defaultText(names, 'singular', kind.toLowerCase());
    defaultText(names, 'listKind', `${kind}List`);
  }
  const conversion = ensureObject(spec, 'conversion');
  defaultText(conversion, 'strategy', 'None');
  const service = asObject(dig(conversion, 'webhook', 'clientConfig', 'service'));
  if (service) defaultTo(service, 'port', 443);
}

function storageVersionOf(object: ApiObject): string | undefined {
  const found = asObjects(dig(object, 'spec', 'versions')).find((version) => version['storage'] === true);
  return found && asText(found['name']);
}

/** The status of a CRD nobody has looked at yet; the names are accepted right afterwards. */
function initialStatus(object: ApiObject): Record<string, unknown> {
  const storage = storageVersionOf(object);
  return {
    conditions: null,
    acceptedNames: { plural: '', kind: '' },
    storedVersions: storage === undefined ? [] : [storage],
  };
}

/** Remembers every version objects were ever stored in. */
function noteStorageVersion(object: ApiObject): void {
  const storage = storageVersionOf(object);
  const status = asObject(object['status']) ?? {};
  const stored = asList(status['storedVersions']).map(asText);
  if (storage === undefined || stored.includes(storage)) return;
  object['status'] = { ...status, storedVersions: [...stored, storage] };
}

export const crdStrategy: Strategy = withStatus({
  unconditionalUpdate: false,
  hasGeneration: true,
  initialStatus,
  applyDefaults,
  prepareForUpdate: noteStorageVersion,
  validate: (object) => validateCrd(object),
  validateUpdate: (object, previous) => validateCrd(object, previous),
  markTerminating(object, context) {
    const status = asObject(object['status']) ?? {};
    const others = asObjects(status['conditions']).filter((condition) => condition['type'] !== 'Terminating');
    const terminating = {
      type: 'Terminating',
      status: 'True',
      lastTransitionTime: kubeTime(context.clock.now()),
      reason: 'InstanceDeletionPending',
      message: 'CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon',
    };
    object['status'] = { ...status, conditions: [...others, terminating] };
  },
  // Release 1.37 shows more columns; the generated data is of 1.36.
  cells: (object) => [object.metadata.name ?? '', object.metadata.creationTimestamp ?? ''],
});

/**
 * What the naming controller does to a new or changed CRD: takes the names nobody else has, says so in conditions, and lets the
 * resource be served. Answers the new object for a write to `/status`, or `undefined` when nothing changes. `others` are all other
 * CRDs, `now` is milliseconds since the epoch.
 */
export function acceptNames(crd: ApiObject, others: Iterable<ApiObject>, now: number): ApiObject | undefined {
  const names = asObject(dig(crd, 'spec', 'names')) ?? {};
  const status = asObject(crd['status']) ?? {};
  const conflict = nameConflict(crd, names, others);
  const before = asObjects(status['conditions']);
  const conditions = [...before];
  const set = (type: string, value: 'True' | 'False', reason: string, message: string): void => {
    const index = conditions.findIndex((condition) => condition['type'] === type);
    const known = conditions[index];
    if (known && known['status'] === value && known['reason'] === reason && known['message'] === message) return;
    const unchanged = known?.['status'] === value ? asText(known['lastTransitionTime']) : '';
    const next = { type, status: value, lastTransitionTime: unchanged || kubeTime(now), reason, message };
    if (index < 0) conditions.push(next);
    else conditions[index] = next;
  };
  if (conflict) set('NamesAccepted', 'False', conflict.reason, conflict.message);
  else set('NamesAccepted', 'True', 'NoConflicts', 'no conflicts found');
  if (!isEstablished(crd)) {
    if (conflict) set('Established', 'False', 'NotAccepted', 'not all names are accepted');
    else set('Established', 'True', 'InitialNamesAccepted', 'the initial names have been accepted');
  }
  const accepted = conflict ? (asObject(status['acceptedNames']) ?? {}) : acceptedNames(names);
  const isSame =
    JSON.stringify(conditions) === JSON.stringify(before) &&
    JSON.stringify(accepted) === JSON.stringify(acceptedNames(asObject(status['acceptedNames']) ?? {}));
  if (isSame) return undefined;
  return { ...crd, status: { ...status, conditions, acceptedNames: accepted } };
}

function acceptedNames(names: JsonObject): JsonObject {
  const result: JsonObject = {};
  for (const key of ['plural', 'singular', 'shortNames', 'kind', 'listKind', 'categories']) {
    if (names[key] !== undefined) result[key] = names[key];
  }
  return result;
}

function nameConflict(
  crd: ApiObject,
  names: JsonObject,
  others: Iterable<ApiObject>,
): { reason: string; message: string } | undefined {
  const resources = new Set<string>();
  const kinds = new Set<string>();
  for (const other of others) {
    if (other.metadata.name === crd.metadata.name || dig(other, 'spec', 'group') !== dig(crd, 'spec', 'group'))
      continue;
    const taken = asObject(dig(other, 'status', 'acceptedNames')) ?? {};
    for (const name of [taken['plural'], taken['singular'], ...asList(taken['shortNames'])])
      resources.add(asText(name));
    for (const kind of [taken['kind'], taken['listKind']]) kinds.add(asText(kind));
  }
  const check = (
    value: unknown,
    taken: ReadonlySet<string>,
    reason: string,
  ): { reason: string; message: string } | undefined =>
    asText(value) && taken.has(asText(value))
      ? { reason, message: `${JSON.stringify(asText(value))} is already in use` }
      : undefined;
  return (
    check(names['plural'], resources, 'PluralConflict') ??
    check(names['singular'], resources, 'SingularConflict') ??
    asList(names['shortNames'])
      .map((name) => check(name, resources, 'ShortNamesConflict'))
      .find(Boolean) ??
    check(names['kind'], kinds, 'KindConflict') ??
    check(names['listKind'], kinds, 'ListKindConflict')
  );
}
