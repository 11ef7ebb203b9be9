import { cloneJson } from '../clone-json.ts';
import { badRequest, invalid, notFound } from '../api-error.ts';
import { trackScale } from '../apply/scale.ts';
import { readScale, writeScale } from '../kinds/scale.ts';
import type { ApiObject } from '../object.ts';
import type { Resource } from '../resource.ts';
import { keyOf } from '../store/entry.ts';
import type { Answer } from './answer.ts';
import type { Core, ResourceRequest } from './core.ts';
import { conformPatched, decodeObject } from './decode-object.ts';
import { writeOptions, type WriteOptions } from './options.ts';
import { patchType, readPatch } from './patch.ts';
import { change } from './update.ts';
import { apiVersionOf, inVersion } from './versions.ts';
import { expectedKind } from './virtual.ts';

const scaleKind = { group: 'autoscaling', version: 'v1', kind: 'Scale' };

/** GET of `…/scale`. */
export async function getScale(core: Core, request: ResourceRequest): Promise<Answer> {
  const { resource } = request;
  const entry = core.store.get(resource.storageId, keyOf(request.namespace, request.name));
  if (!entry) throw notFound(resource, request.name);
  return { kind: 'object', status: 200, object: scaleOf(await inVersion(entry, resource), request), resource };
}

/** PUT to `…/scale`. */
export async function updateScale(core: Core, request: ResourceRequest): Promise<Answer> {
  const options = writeOptions(request, 'UpdateOptions');
  const scale = decodeObject(request, options.fieldValidation, expectedKind(request));
  if (scale.metadata.name && scale.metadata.name !== request.name) {
    throw badRequest(
      `the name of the object (${scale.metadata.name}) does not match the name on the URL (${request.name})`,
    );
  }
  return writeScaled(core, request, options, () => scale);
}

/** PATCH of `…/scale`. */
export async function patchScale(core: Core, request: ResourceRequest): Promise<Answer> {
  const type = patchType(request);
  const options = writeOptions(request, 'PatchOptions', type === 'apply');
  const patched = readPatch(request, type, options.fieldValidation);
  const expected = expectedKind(request);
  return writeScaled(core, request, options, (live) => {
    const document = patched(scaleOf(live, request), expected.schema);
    return conformPatched(request, document, options.fieldValidation, expected);
  });
}

async function writeScaled(
  core: Core,
  request: ResourceRequest,
  options: WriteOptions,
  scaleFor: (live: ApiObject) => ApiObject,
): Promise<Answer> {
  const { resource } = request;
  const answer = await change(core, request, {
    options,
    next(live) {
      const wanted = scaleFor(live);
      const next = cloneJson(live);
      next.metadata.resourceVersion = wanted.metadata.resourceVersion || live.metadata.resourceVersion;
      writeScale(next, checkedReplicas(wanted, request), resource);
      const managedFields = trackScale({
        live,
        next,
        manager: options.fieldManager,
        apiVersion: apiVersionOf(resource),
        replicasPath: replicasPath(resource),
      });
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
