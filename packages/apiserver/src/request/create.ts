import { alreadyExists, badRequest, invalid, plainInternalError, type ApiError } from '../api-error.ts';
import { kubeTime } from '../clock.ts';
import { forbiddenAnswer } from '../http/denials.ts';
import { validateMetadata } from '../kinds/metadata.ts';
import { withoutEffect } from '../kinds/without-effect.ts';
import type { ApiObject } from '../object.ts';
import { addZeroValues } from '../schema/zero-values.ts';
import { keyOf } from '../store/entry.ts';
import { authorizedPlace } from './authorized-place.ts';
import { admissionContext, mutate, validate } from './admit.ts';
import type { Answer } from './answer.ts';
import { namedKind, strategyContext, type Core, type ResourceRequest } from './core.ts';
import { decodeObject } from './decode-object.ts';
import { trackedFields } from './field-ownership.ts';
import { writeOptions, type WriteOptions } from './options.ts';
import { checkSize } from './size-limit.ts';

import { toStorage } from './versions.ts';

const nameAlphabet = 'bcdfghjklmnpqrstvwxz2456789';
const generatedLength = 5;
const longestBase = 63 - generatedLength;
const nameAttempts = 8;

/** POST to a collection. */
export async function create(core: Core, request: ResourceRequest): Promise<Answer> {
  const options = writeOptions(request, 'CreateOptions');
  const object = decodeObject(request, options.fieldValidation);
  matchNamespace(object, request);
  delete object.metadata.deletionTimestamp;
  delete object.metadata.deletionGracePeriodSeconds;
  trackedFields(core, request, { live: undefined, next: object, options });
  return createDecoded(core, request, object, options);
}

/** Where an apply or an update ends up that finds nothing. Who may change objects may not make new ones for that. */
export function createMissing(
  core: Core,
  request: ResourceRequest,
  decoded: ApiObject,
  options: WriteOptions,
): Promise<Answer> {
  return createDecoded(core, request, decoded, options, async () => {
    const { resource, namespace, name, subresource, user } = request;
    const { group, version, plural } = resource;
    const place = { group, version, plural, subresource, namespace, name };
    const attributes = { user, verb: 'create', path: '', resource: authorizedPlace(place, 'create') };
    const decision = await core.auth.authorizer.authorize(attributes);
    if (!decision.allowed) throw forbiddenAnswer(attributes, decision.reason);
  });
}

async function createDecoded(
  core: Core,
  request: ResourceRequest,
  decoded: ApiObject,
  options: WriteOptions,
  permitted?: () => Promise<void>,
): Promise<Answer> {
  const { resource } = request;
  const { strategy } = resource;
  const context = admissionContext(request, {
    operation: 'CREATE',
    object: decoded,
    oldObject: undefined,
    options: options.object,
    dryRun: options.dryRun,
    name: decoded.metadata.name ?? '',
  });
  let object = await mutate(core, context);
  dedupeOwners(request, object);
  fillSystemFields(core, object);
  const generated = !object.metadata.name && Boolean(object.metadata.generateName);
  if (generated) object.metadata.name = generateName(core, object.metadata.generateName!);
  const strategies = strategyContext(core, options.dryRun);
  strategy.prepareForCreate(object, strategies);
  if (strategy.hasGeneration) object.metadata.generation = 1;
  // What the kind's own preparation left out is printed by Go all the same.
  if (!resource.custom) object = addZeroValues(object, resource.schema);
  context.object = object;
  context.name = object.metadata.name ?? '';
  const errors = [...validateMetadata(object, resource), ...strategy.validate(object, strategies)];
  if (errors.length > 0) throw invalid(namedKind(resource, object), object.metadata.name ?? '', errors);
  request.warnings.push(...strategy.warnings(object, undefined), ...withoutEffect(resource, object));
  await permitted?.();
  await validate(core, context);
  if (object.metadata.resourceVersion && !options.dryRun) {
    throw plainInternalError('resourceVersion should not be set on objects to be created');
  }
  const stored = toStorage(object, resource);
  return storeNew(core, request, object, stored instanceof Promise ? await stored : stored, generated, options.dryRun);
}

function storeNew(
  core: Core,
  request: ResourceRequest,
  object: ApiObject,
  stored: ApiObject,
  generated: boolean,
  dryRun: boolean,
): Answer {
  const { resource } = request;
  let { name } = object.metadata;
  for (let attempt = 1; core.store.get(resource.storageId, keyOf(request.namespace, name!)); attempt += 1) {
    if (!generated || attempt >= nameAttempts) throw existsError(core, request, name!);
    name = generateName(core, object.metadata.generateName!);
    object.metadata.name = name;
    stored.metadata.name = name;
  }
  if (dryRun) return { kind: 'object', status: 201, object, resource };
  checkSize(stored, resource);
  const entry = core.store.put(resource.storageId, keyOf(request.namespace, name!), stored);
  return { kind: 'entry', status: 201, entry, resource };
}

function existsError(core: Core, request: ResourceRequest, name: string): ApiError {
  const { resource } = request;
  const error = alreadyExists(resource, name);
  const existing = core.store.get(resource.storageId, keyOf(request.namespace, name));
  if (existing?.object.metadata.deletionTimestamp) {
    error.status.message = `object is being deleted: ${error.status.message}`;
  }
  return error;
}

/** The body may leave the namespace out; it may not name another one than the URL. Outside of namespaces it is dropped. */
export function matchNamespace(object: ApiObject, request: ResourceRequest): void {
  const { metadata } = object;
  if (!request.resource.namespaced) {
    delete metadata.namespace;
    return;
  }
  if (metadata.namespace && metadata.namespace !== request.namespace) {
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request');
  }
  metadata.namespace = request.namespace;
}

function fillSystemFields(core: Core, object: ApiObject): void {
  const { metadata } = object;
  metadata.uid = core.random.uuid();
  metadata.creationTimestamp = kubeTime(core.clock.now());
  delete metadata.deletionTimestamp;
  delete metadata.deletionGracePeriodSeconds;
  delete metadata['selfLink'];
}

/** Owners listed twice count once, and whoever lists them is told. */
export function dedupeOwners(request: ResourceRequest, object: ApiObject): void {
  const owners = object.metadata.ownerReferences;
  if (!owners || owners.length < 2) return;
  const seen = new Set<string>();
  const twice = new Set<string>();
  const kept = owners.filter((owner) => {
    const key = JSON.stringify(Object.entries(owner).toSorted(([a], [b]) => (a < b ? -1 : 1)));
    if (seen.has(key)) twice.add(owner.uid);
    return !seen.has(key) && seen.add(key);
  });
  if (twice.size === 0) return;
  object.metadata.ownerReferences = kept;
  request.warnings.push(
    `.metadata.ownerReferences contains duplicate entries; API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: ${[...twice].join(', ')}`,
  );
}

function generateName(core: Core, base: string): string {
  let name = base.slice(0, longestBase);
  for (let index = 0; index < generatedLength; index += 1) {
    name += nameAlphabet[Math.floor(core.random.next() * nameAlphabet.length)]!;
  }
  return name;
}
