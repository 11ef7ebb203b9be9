import { equalJson } from '../equal-json.ts';
import { ApiError, conflict, notFound } from '../api-error.ts';
import { kubeTime } from '../clock.ts';
import type { ApiObject, JsonObject } from '../object.ts';
import type { Resource } from '../resource.ts';
import { keyOf, type Entry } from '../store/entry.ts';
import { admissionContext, mutate, validate } from './admit.ts';
import type { Answer } from './answer.ts';
import { strategyContext, type Core, type ResourceRequest } from './core.ts';
import { decodeOptions } from './decode-options.ts';
import { pageOf } from './list.ts';
import { deleteOptions, listOptions, type DeleteOptions } from './options.ts';
import { selectionOf } from './selection.ts';
import { isReleased } from './update.ts';
import { inVersion } from './versions.ts';

/** DELETE of one object. */
export async function remove(core: Core, request: ResourceRequest): Promise<Answer> {
  const body = decodeOptions(request);
  const options = deleteOptions(request, body);
  warnAboutOrphans(request, options);
  return removeObject(core, request, options);
}

/** DELETE of a collection: every object on its own, the answer is the list as it was. */
export async function removeCollection(core: Core, request: ResourceRequest): Promise<Answer> {
  const { resource } = request;
  const options = deleteOptions(request, decodeOptions(request));
  const lookup = listOptions(request.query);
  const selection = selectionOf(resource, request.namespace, lookup);
  const { entries, metadata } = await pageOf(core, resource, selection, lookup);
  warnAboutOrphans(request, options);
  for (const entry of entries) {
    const { namespace, name } = entry.object.metadata;
    try {
      await removeObject(core, { ...request, namespace: namespace ?? '', name: name! }, options, { name: '' });
    } catch (error) {
      if (!(error instanceof ApiError) || error.status.code !== 404) throw error;
    }
  }
  return { kind: 'list', entries, metadata, resource };
}

/** `named` is what admission is told: nothing, when the object goes as part of a collection. */
export async function removeObject(
  core: Core,
  request: ResourceRequest,
  options: DeleteOptions,
  named: { readonly name?: string } = {},
): Promise<Answer> {
  const { resource } = request;
  const key = keyOf(request.namespace, request.name);
  for (;;) {
    const entry = core.store.get(resource.storageId, key);
    if (!entry) throw notFound(resource, request.name);
    checkPreconditions(entry, resource, request.name, options);
    const context = admissionContext(request, {
      operation: 'DELETE',
      object: undefined,
      oldObject: await inVersion(entry, resource),
      options: options.object,
      dryRun: options.dryRun,
      ...named,
    });
    await mutate(core, context);
    await validate(core, context);
    if (core.store.get(resource.storageId, key) === entry) return deleteEntry(core, resource, entry, options);
  }
}

/** Marks, shortens or removes; everything in one go. */
function deleteEntry(core: Core, resource: Resource, entry: Entry, options: DeleteOptions): Answer {
  const { strategy, storageId } = resource;
  const { object } = entry;
  const finalizers = finalizersFor(object, resource, options);
  const grace = options.gracePeriodSeconds ?? strategy.gracePeriodSeconds(object);
  const graceful = isGraceful(resource);
  if (object.metadata.deletionTimestamp && graceful) {
    const left = object.metadata.deletionGracePeriodSeconds;
    if (
      left !== undefined &&
      (options.gracePeriodSeconds === undefined || options.gracePeriodSeconds >= left) &&
      left > 0
    ) {
      return { kind: 'entry', status: 200, entry, resource };
    }
  }
  let current = entry;
  if (graceful || finalizers.length > 0 || keepsItself(resource, object)) {
    const marked = markTerminating(
      core,
      resource,
      object,
      finalizers,
      graceful ? effectiveGrace(resource, object, grace) : 0,
    );
    if (!equalJson(marked, object)) {
      if (options.dryRun) return { kind: 'object', status: 200, object: marked, resource };
      current = core.store.put(storageId, entry.key, marked);
    }
    if (!isReleased(current.object)) return pending(current, resource, options);
  }
  if (options.dryRun) return deleted(current, resource);
  const gone = core.store.delete(storageId, entry.key)!;
  strategy.released(gone.object, strategyContext(core, false));
  return deleted(gone, resource);
}

/** Only pods have a grace period. */
function isGraceful(resource: Resource): boolean {
  return resource.group === '' && resource.plural === 'pods';
}

/** A pod that never reached a node, or is done, has nobody who could end it gracefully. */
function effectiveGrace(resource: Resource, object: ApiObject, grace: number): number {
  const spec = (object['spec'] ?? {}) as { nodeName?: string };
  const status = (object['status'] ?? {}) as { phase?: string };
  if (!spec.nodeName || status.phase === 'Succeeded' || status.phase === 'Failed') return 0;
  const left = object.metadata.deletionGracePeriodSeconds;
  return object.metadata.deletionTimestamp && left !== undefined ? Math.min(left, grace) : grace;
}

/** Namespaces and CRDs stay until their content is gone, although that is not written in `metadata.finalizers`. */
function keepsItself(resource: Resource, object: ApiObject): boolean {
  if (isCrd(resource)) return !object.metadata.deletionTimestamp;
  if (!isNamespace(resource)) return false;
  return Boolean((object['spec'] as { finalizers?: string[] } | undefined)?.finalizers?.length);
}

function isNamespace(resource: Resource): boolean {
  return resource.group === '' && resource.plural === 'namespaces';
}

function isCrd(resource: Resource): boolean {
  return resource.group === 'apiextensions.k8s.io' && resource.plural === 'customresourcedefinitions';
}

const instancesFinalizer = 'customresourcecleanup.apiextensions.k8s.io';

function markTerminating(
  core: Core,
  resource: Resource,
  object: ApiObject,
  finalizers: readonly string[],
  graceSeconds: number,
): ApiObject {
  const metadata = { ...object.metadata };
  const marked: ApiObject = { ...object, metadata };
  if (finalizers.length > 0) metadata.finalizers = [...finalizers];
  else delete metadata.finalizers;
  const first = !metadata.deletionTimestamp;
  const shortened = !first && isGraceful(resource) && (metadata.deletionGracePeriodSeconds ?? 0) > graceSeconds;
  if (first || shortened) {
    const start = first
      ? core.clock.now()
      : Date.parse(metadata.deletionTimestamp!) - (metadata.deletionGracePeriodSeconds ?? 0) * 1000;
    metadata.deletionTimestamp = kubeTime(start + graceSeconds * 1000);
    // These two have a deletion of their own that writes the time only.
    if (!isNamespace(resource) && !isCrd(resource)) metadata.deletionGracePeriodSeconds = graceSeconds;
  }
  if (first && isCrd(resource)) {
    metadata.finalizers = [...finalizers.filter((name) => name !== instancesFinalizer), instancesFinalizer];
  } else if (first && metadata.generation) metadata.generation += 1;
  resource.strategy.markTerminating?.(marked, strategyContext(core, false));
  return marked;
}

/** Propagation policies are finalizers the garbage collector looks for. */
function finalizersFor(object: ApiObject, resource: Resource, options: DeleteOptions): string[] {
  const before = object.metadata.finalizers ?? [];
  if (resource.strategy.defaultPropagation === 'Unsupported') return [...before];
  const orphan = wants('orphan', before, resource, options);
  const foreground = !orphan && wants('foregroundDeletion', before, resource, options);
  const after = before.filter((name) => name !== 'orphan' && name !== 'foregroundDeletion');
  if (orphan) after.push('orphan');
  if (foreground) after.push('foregroundDeletion');
  // Asking again must not reorder, or every repeated DELETE would be a write.
  return after.length === before.length && after.every((name) => before.includes(name)) ? [...before] : after;
}

function wants(
  finalizer: 'orphan' | 'foregroundDeletion',
  before: readonly string[],
  resource: Resource,
  options: DeleteOptions,
): boolean {
  const orphaning = finalizer === 'orphan';
  if (options.orphanDependents !== undefined) return orphaning && options.orphanDependents;
  if (options.propagationPolicy) return options.propagationPolicy === (orphaning ? 'Orphan' : 'Foreground');
  if (before.includes(finalizer)) return true;
  return orphaning && !before.includes('foregroundDeletion') && resource.strategy.defaultPropagation === 'Orphan';
}

function checkPreconditions(entry: Entry, resource: Resource, name: string, options: DeleteOptions): void {
  const { uid, resourceVersion } = options.preconditions;
  const { metadata } = entry.object;
  const named = { group: resource.group, plural: resource.kind, kind: resource.kind };
  if (uid && uid !== metadata.uid) {
    throw conflict(
      named,
      name,
      `the UID in the precondition (${uid}) does not match the UID in record (${metadata.uid}). The object might have been deleted and then recreated`,
    );
  }
  if (resourceVersion && resourceVersion !== metadata.resourceVersion) {
    throw conflict(
      named,
      name,
      `the ResourceVersion in the precondition (${resourceVersion}) does not match the ResourceVersion in record (${metadata.resourceVersion}). The object might have been modified`,
    );
  }
}

function pending(entry: Entry, resource: Resource, options: DeleteOptions): Answer {
  const accepted = options.orphanDependents === false;
  return { kind: 'entry', status: accepted ? 202 : 200, entry, resource };
}

function deleted(entry: Entry, resource: Resource): Answer {
  if (resource.strategy.deleteReturnsObject) return { kind: 'entry', status: 200, entry, resource };
  const { name, uid } = entry.object.metadata;
  const body: JsonObject = {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Success',
    details: {
      name: name!,
      ...(resource.group ? { group: resource.group } : {}),
      kind: resource.plural,
      ...(uid ? { uid } : {}),
    },
  };
  return { kind: 'status', status: 200, body };
}

function warnAboutOrphans(request: ResourceRequest, options: DeleteOptions): void {
  const { resource } = request;
  if (resource.group !== 'batch' || resource.plural !== 'jobs') return;
  if (options.propagationPolicy || options.orphanDependents !== undefined) return;
  request.warnings.push(
    'child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress this warning',
  );
}
