import { cloneJson } from '../clone-json.ts';
import { equalJson } from '../equal-json.ts';
import {
  badRequest,
  conflict,
  invalid,
  notFound,
  plainInternalError,
  type ApiError,
  type FieldError,
} from '../api-error.ts';
import type { AdmissionContext } from '../admission/admission.ts';
import { withStoredTimes } from '../apply/managed-fields.ts';
import { validateMetadataUpdate } from '../kinds/metadata.ts';
import { withoutEffect } from '../kinds/without-effect.ts';
import type { ApiObject } from '../object.ts';
import type { Resource, StrategyContext } from '../resource.ts';
import { addZeroValues } from '../schema/zero-values.ts';
import { keyOf, type Entry } from '../store/entry.ts';
import { admissionContext, chain, mutate, validate } from './admit.ts';
import type { Answer } from './answer.ts';
import { namedKind, strategyContext, type Core, type ResourceRequest } from './core.ts';
import { createMissing, matchNamespace } from './create.ts';
import { decodeObject } from './decode-object.ts';
import { trackedFields } from './field-ownership.ts';
import { writeOptions, type WriteOptions } from './options.ts';
import { checkSize } from './size-limit.ts';
import { inVersion, toStorage } from './versions.ts';

const modified = 'the object has been modified; please apply your changes to the latest version and try again';

/** PUT to an object or its status. */
export async function update(core: Core, request: ResourceRequest): Promise<Answer> {
  const options = writeOptions(request, 'UpdateOptions');
  const body = decodeObject(request, options.fieldValidation);
  matchIdentity(body, request);
  let first = true;
  return change(core, request, {
    options,
    uid: body.metadata.uid,
    next(live) {
      const next = first ? body : cloneJson(body);
      first = false;
      keepSystemFields(next, live);
      keepOtherHalf(core, next, live, request);
      trackedFields(core, request, { live, next, options });
      return next;
    },
    missing() {
      if (!request.resource.strategy.createOnUpdate || request.subresource) return undefined;
      const { uid } = body.metadata;
      if (uid) throw wrongUid(request.resource, keyOf(request.namespace, request.name), request.name, uid, '');
      trackedFields(core, request, { live: undefined, next: body, options });
      return createMissing(core, request, body, options);
    },
  });
}

/** How one kind of write makes the new object out of the stored one. */
export interface ChangeSteps {
  readonly options: WriteOptions;
  /** The new object in the requested version, with managed fields. `live` is shared and must not be changed. Called anew for every attempt. */
  next(live: ApiObject): ApiObject | Promise<ApiObject>;
  /** Only an object with this uid may be changed. */
  readonly uid?: string | undefined;
  /** What to do when there is no such object; 404 when absent or undefined. */
  missing?(): Promise<Answer> | undefined;
  /** The server's own write (a binding): the kind's rules for updates do not apply. */
  readonly internal?: boolean;
  /** The object as admission sees it, when that is not the stored kind (`scale`). */
  admission?(
    next: ApiObject,
    live: ApiObject,
  ): { kind: AdmissionContext['kind']; object: ApiObject; oldObject: ApiObject; back(admitted: ApiObject): void };
}

/** Load, change, check, store; over again when someone else wrote while admission or a conversion was waited for. */
export async function change(core: Core, request: ResourceRequest, steps: ChangeSteps): Promise<Answer> {
  for (;;) {
    const attempted = attempt(core, request, steps);
    const answer = attempted instanceof Promise ? await attempted : attempted;
    if (answer) return answer;
  }
}

/** One try; undefined when it came too late. */
function attempt(
  core: Core,
  request: ResourceRequest,
  steps: ChangeSteps,
): Answer | undefined | Promise<Answer | undefined> {
  const { resource } = request;
  const key = keyOf(request.namespace, request.name);
  const entry = core.store.get(resource.storageId, key);
  if (!entry) {
    const missing = steps.missing?.();
    if (missing) return missing;
    throw notFound(resource, request.name);
  }
  checkUid(request, steps.uid, entry.object);
  return chain(inVersion(entry, resource), (live) =>
    chain(steps.next(live), (next) =>
      chain(prepared(core, request, steps, entry, live, next), (ready) =>
        chain(toStorage(ready, resource), (stored) => {
          if (core.store.get(resource.storageId, key) !== entry) return undefined;
          return commit(core, request, { entry, next: ready, stored, dryRun: steps.options.dryRun });
        }),
      ),
    ),
  );
}

/** Admission, the kind's own rules, validation. */
function prepared(
  core: Core,
  request: ResourceRequest,
  steps: ChangeSteps,
  entry: Entry,
  live: ApiObject,
  proposed: ApiObject,
): ApiObject | Promise<ApiObject> {
  const { options } = steps;
  const view = steps.admission?.(proposed, live);
  const context = admissionContext(request, {
    operation: 'UPDATE',
    object: view?.object ?? proposed,
    oldObject: view?.oldObject ?? live,
    options: options.object,
    dryRun: options.dryRun,
    ...(view ? { kind: view.kind } : {}),
  });
  return chain(mutate(core, context), (admitted) => {
    if (view) view.back(admitted);
    const next = checked(core, request, steps, entry, live, view ? proposed : admitted);
    if (!view) context.object = next;
    return chain(validate(core, context), () => next);
  });
}

/** The new object after the kind's own rules; throws when it breaks them. */
function checked(
  core: Core,
  request: ResourceRequest,
  steps: ChangeSteps,
  entry: Entry,
  live: ApiObject,
  proposed: ApiObject,
): ApiObject {
  const { resource, subresource } = request;
  const { strategy } = resource;
  let next = proposed;
  checkVersion(request, next, entry);
  next.metadata.resourceVersion = live.metadata.resourceVersion;
  if (steps.internal) return next;
  const strategies = strategyContext(core, steps.options.dryRun);
  const status = isStatusWrite(subresource);
  if (status) prepareStatus(request, next, live, strategies);
  else strategy.prepareForUpdate(next, live, strategies);
  setGeneration(next, live, resource, status);
  if (!resource.custom) next = addZeroValues(next, resource.schema);
  const errors = [
    ...validateMetadataUpdate(next, live, resource.custom || resource.group === 'apiextensions.k8s.io'),
    ...(status ? statusErrors(request, next, live, strategies) : strategy.validateUpdate(next, live, strategies)),
  ];
  if (errors.length > 0) throw invalid(namedKind(resource, next), request.name, errors);
  request.warnings.push(...strategy.warnings(next, live), ...(status ? [] : withoutEffect(resource, next)));
  return next;
}

function setGeneration(next: ApiObject, live: ApiObject, resource: Resource, status: boolean): void {
  const { strategy } = resource;
  const before = live.metadata.generation;
  if (!strategy.hasGeneration) {
    if (before === undefined) delete next.metadata.generation;
    else next.metadata.generation = before;
    return;
  }
  next.metadata.generation = (before ?? 0) + (!status && strategy.generationChanged(next, live) ? 1 : 0);
}

function checkVersion(request: ResourceRequest, next: ApiObject, entry: Entry): void {
  const { resource } = request;
  const version = next.metadata.resourceVersion;
  if (!version || version === '0') {
    if (resource.strategy.unconditionalUpdate) return;
    throw invalid({ group: resource.group, plural: resource.plural, kind: resource.plural }, request.name, [
      {
        reason: 'FieldValueInvalid',
        field: 'metadata.resourceVersion',
        detail: 'Invalid value: 0: must be specified for an update',
      },
    ]);
  }
  if (!/^\d+$/.test(version)) {
    throw plainInternalError(`strconv.ParseUint: parsing ${JSON.stringify(version)}: invalid syntax`);
  }
  if (version !== String(entry.revision)) throw conflict(resource, request.name, modified);
}

interface Commit {
  readonly entry: Entry;
  readonly next: ApiObject;
  readonly stored: ApiObject;
  readonly dryRun: boolean;
}

function commit(core: Core, request: ResourceRequest, { entry, next, stored, dryRun }: Commit): Answer {
  const { resource } = request;
  if (isReleased(next)) {
    if (!dryRun) {
      core.store.delete(resource.storageId, entry.key);
      resource.strategy.released(next, strategyContext(core, false));
    }
    return { kind: 'object', status: 200, object: next, resource };
  }
  stored.metadata.resourceVersion = entry.object.metadata.resourceVersion;
  if (equalJson(withStoredTimes(stored, entry.object), entry.object)) {
    return { kind: 'entry', status: 200, entry, resource };
  }
  if (dryRun) return { kind: 'object', status: 200, object: next, resource };
  checkSize(stored, resource);
  const written = core.store.put(resource.storageId, entry.key, stored);
  return { kind: 'entry', status: 200, entry: written, resource };
}

/** A terminating object goes for good when nothing holds it any more. */
export function isReleased(object: ApiObject): boolean {
  const { metadata } = object;
  if (!metadata.deletionTimestamp || metadata.finalizers?.length || metadata.deletionGracePeriodSeconds) return false;
  if (object.kind !== 'Namespace' || object.apiVersion !== 'v1') return true;
  const { finalizers } = (object['spec'] ?? {}) as { finalizers?: string[] };
  return !finalizers?.length;
}

/** The body must speak of the object in the URL. */
export function matchIdentity(object: ApiObject, request: ResourceRequest): void {
  const { metadata } = object;
  if (!metadata.name) {
    throw badRequest(`the name of the object (${request.name} based on URL) was undeterminable: name must be provided`);
  }
  if (metadata.name !== request.name) {
    throw badRequest(`the name of the object (${metadata.name}) does not match the name on the URL (${request.name})`);
  }
  matchNamespace(object, request);
}

/** What only the server writes stays as it is. */
export function keepSystemFields(next: ApiObject, live: ApiObject): void {
  // A deletion cannot be taken back, but who claims one that is not there is told so.
  for (const field of ['deletionTimestamp', 'deletionGracePeriodSeconds']) {
    if (live.metadata[field] !== undefined) next.metadata[field] = live.metadata[field];
  }
  for (const field of ['uid', 'creationTimestamp', 'selfLink', 'generation']) {
    if (live.metadata[field] === undefined) delete next.metadata[field];
    else next.metadata[field] = live.metadata[field];
  }
}

/** A write to the object keeps its status, a write to the status keeps the rest. */
export function keepOtherHalf(core: Core, next: ApiObject, live: ApiObject, request: ResourceRequest): void {
  const { resource, subresource } = request;
  if (isStatusWrite(subresource)) {
    for (const field of Object.keys(next)) if (!statusFields.has(field)) delete next[field];
    for (const [field, value] of Object.entries(live)) {
      // A copy, because strategies and admission change the new object in place and the stored one is shared.
      if (!statusFields.has(field)) next[field] = cloneJson(value);
    }
    // Before ownership is settled, so that nobody owns what the kind does not let through here.
    const { resourceVersion } = next.metadata;
    prepareStatus(request, next, live, strategyContext(core, true));
    if (resourceVersion) next.metadata.resourceVersion = resourceVersion;
    else delete next.metadata.resourceVersion;
    return;
  }
  if (!resource.strategy.statusField) return;
  if (live['status'] === undefined) delete next['status'];
  else next['status'] = cloneJson(live['status']);
}

/** Both write into the status and leave the rest alone. */
function isStatusWrite(subresource: string): boolean {
  return subresource === 'status' || subresource === 'approval';
}

/** The kind's own preparation of a write to the status, through whichever subresource it comes. */
function prepareStatus(
  { resource: { strategy }, subresource }: ResourceRequest,
  next: ApiObject,
  live: ApiObject,
  context: StrategyContext,
): void {
  if (subresource === 'approval' && strategy.prepareForApproval) strategy.prepareForApproval(next, live, context);
  else strategy.prepareForStatusUpdate(next, live, context);
}

function statusErrors(
  { resource: { strategy }, subresource }: ResourceRequest,
  next: ApiObject,
  live: ApiObject,
  context: StrategyContext,
): FieldError[] {
  if (subresource === 'approval' && strategy.validateApproval) return strategy.validateApproval(next, live, context);
  return strategy.validateStatusUpdate(next, live, context);
}

const statusFields = new Set(['apiVersion', 'kind', 'metadata', 'status']);

/** Where the real server keeps objects; part of an error text. */
function registryKey(resource: Resource, key: string): string {
  const prefix =
    resource.custom || resource.group.startsWith('api') ? `${resource.group}/${resource.plural}` : resource.plural;
  return `/registry/${prefix}/${key}`;
}

/** Who names a uid means that object and no other of its name. */
export function checkUid(request: ResourceRequest, uid: string | undefined, live: ApiObject): void {
  if (!uid || uid === live.metadata.uid) return;
  throw wrongUid(request.resource, keyOf(request.namespace, request.name), request.name, uid, live.metadata.uid ?? '');
}

function wrongUid(resource: Resource, key: string, name: string, uid: string, found: string): ApiError {
  return conflict(
    resource,
    name,
    `StorageError: invalid object, Code: 4, Key: ${registryKey(resource, key)}, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: ${uid}, UID in object meta: ${found}`,
  );
}
