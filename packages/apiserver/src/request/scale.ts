import { cloneJson } from '../clone-json.ts';
import { invalid, notFound } from '../api-error.ts';
import { applyConflict } from '../apply/conflict.ts';
import { fieldTypeOf } from '../apply/field-type.ts';
import { checkTyped } from '../apply/managed-fields.ts';
import { scaleConflicts, trackScale } from '../apply/scale.ts';
import { readScale, writeScale } from '../kinds/scale.ts';
import type { ApiObject } from '../object.ts';
import type { Resource } from '../resource.ts';
import { keyOf } from '../store/entry.ts';
import type { Answer } from './answer.ts';
import type { Core, ResourceRequest } from './core.ts';
import { conformPatched, decodeObject } from './decode-object.ts';
import { writeOptions, type WriteOptions } from './options.ts';
import { applyBody, patchType, readPatch } from './patch.ts';
import { parseResourceVersion, waitForRevision } from './resource-version.ts';
import { change, checkUid, matchIdentity } from './update.ts';
import { apiVersionOf, inVersion } from './versions.ts';
import { expectedKind } from './virtual.ts';

const scaleKind = { group: 'autoscaling', version: 'v1', kind: 'Scale' };

/** GET of `…/scale`. */
export async function getScale(core: Core, request: ResourceRequest): Promise<Answer> {
  const { resource } = request;
  await waitForRevision(core, parseResourceVersion(request.query.get('resourceVersion') ?? '', 'get'));
  const entry = core.store.get(resource.storageId, keyOf(request.namespace, request.name));
  if (!entry) throw notFound(resource, request.name);
  return { kind: 'object', status: 200, object: scaleOf(await inVersion(entry, resource), request), resource };
}

/** PUT to `…/scale`. */
export async function updateScale(core: Core, request: ResourceRequest): Promise<Answer> {
  const options = writeOptions(request, 'UpdateOptions');
  const scale = decodeObject(request, options.fieldValidation, expectedKind(request));
  return writeScaled(core, request, options, () => scale);
}

/** PATCH of `…/scale`. */
export async function patchScale(core: Core, request: ResourceRequest): Promise<Answer> {
  const type = patchType(request);
  const options = writeOptions(request, 'PatchOptions', type === 'apply');
  const patched = readPatch(request, type, options.fieldValidation);
  const expected = expectedKind(request);
  if (type === 'apply') checkTyped(applyBody(request, options), fieldTypeOf(expected.schema));
  const scaleFor = (live: ApiObject) =>
    conformPatched(request, patched(scaleOf(live, request), expected.schema), options.fieldValidation, expected);
  return writeScaled(core, request, options, scaleFor, type === 'apply');
}

async function writeScaled(
  core: Core,
  request: ResourceRequest,
  options: WriteOptions,
  scaleFor: (live: ApiObject) => ApiObject,
  applied = false,
): Promise<Answer> {
  const { resource } = request;
  const answer = await change(core, request, {
    options,
    next(live) {
      const wanted = scaleFor(live);
      matchIdentity(wanted, request);
      checkUid(request, wanted.metadata.uid, live);
      const next = cloneJson(live);
      next.metadata.resourceVersion = wanted.metadata.resourceVersion || live.metadata.resourceVersion;
      writeScale(next, checkedReplicas(wanted, request), resource);
      const write = {
        live,
        next,
        manager: options.fieldManager,
        apiVersion: apiVersionOf(resource),
        replicasPath: replicasPath(resource),
      };
      const conflicts = applied && !options.force ? scaleConflicts(write) : [];
      if (conflicts.length > 0) throw applyConflict(conflicts);
      const managedFields = trackScale(write);
      if (managedFields.length > 0) next.metadata.managedFields = managedFields;
      return next;
    },
    admission: (next, live) => ({
      kind: scaleKind,
      object: scaleOf(next, request),
      oldObject: scaleOf(live, request),
      back: (admitted) => writeScale(next, checkedReplicas(admitted, request), resource),
    }),
  });
  if (answer.kind === 'entry') {
    const object = scaleOf(await inVersion(answer.entry, resource), request);
    return { kind: 'object', status: answer.status, object, resource };
  }
  if (answer.kind === 'object') return { ...answer, object: scaleOf(answer.object, request) };
  return answer;
}

function replicasPath(resource: Resource): string[] {
  return (resource.scale?.specReplicasPath ?? '.spec.replicas').split('.').filter(Boolean);
}

function checkedReplicas(scale: ApiObject, request: ResourceRequest): number {
  const replicas = (scale['spec'] as { replicas?: number } | undefined)?.replicas ?? 0;
  if (replicas >= 0) return replicas;
  throw invalid({ group: scaleKind.group, plural: 'scales', kind: scaleKind.kind }, request.name, [
    {
      reason: 'FieldValueInvalid',
      field: 'spec.replicas',
      detail: `Invalid value: ${replicas}: must be greater than or equal to 0`,
    },
  ]);
}

/** The scale of an object, as autoscaling/v1 shows it. */
function scaleOf(object: ApiObject, request: ResourceRequest): ApiObject {
  const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata;
  const { specReplicas, statusReplicas, selector } = readScale(object, request.resource);
  return {
    kind: scaleKind.kind,
    apiVersion: 'autoscaling/v1',
    metadata: { name, ...(namespace ? { namespace } : {}), uid, resourceVersion, creationTimestamp },
    spec: specReplicas === 0 ? {} : { replicas: specReplicas },
    status: { replicas: statusReplicas, ...(selector ? { selector } : {}) },
  };
}
