import { notFound } from '../api-error.ts';
import { methodNotAllowed, notImplemented } from '../http/misses.ts';
import { keyOf } from '../store/entry.ts';
import type { Answer } from './answer.ts';
import type { Core, ResourceRequest } from './core.ts';
import { finalizeNamespace } from './namespace-finalize.ts';
import { patch } from './patch.ts';
import { bindPod, evictPod } from './pod-subresources.ts';
import { get } from './read.ts';
import { getScale, patchScale, updateScale } from './scale.ts';
import { update } from './update.ts';
import { answerVirtual } from './virtual.ts';

/** Everything below an object. */
export function subresource(core: Core, request: ResourceRequest, verb: string): Promise<Answer> {
  const { resource, subresource: name } = request;
  const described = resource.subresources[name]!;
  if (!described.verbs.includes(verb)) throw methodNotAllowed();
  if (name === 'scale') return scale(core, request, verb);
  const path = `${resource.group}/${resource.plural}/${name}`;
  if (path === '/namespaces/finalize') return finalizeNamespace(core, request);
  if (path === '/pods/binding') return bindPod(core, request);
  if (path === '/pods/eviction') return evictPod(core, request);
  const statusLike = name === 'status' || name === 'approval';
  if (statusLike && verb === 'get') return get(core, request);
  if (statusLike && verb === 'update') return update(core, request);
  if (statusLike && verb === 'patch') return patch(core, request);
  const parent = core.store.get(resource.storageId, keyOf(request.namespace, request.name));
  if (!parent) throw notFound(resource, request.name);
  const virtual = verb === 'create' ? answerVirtual(core, request, parent.object) : undefined;
  if (virtual) return virtual;
  throw notImplemented(`${verb} ${resource.plural}/${name}`);
}

function scale(core: Core, request: ResourceRequest, verb: string): Promise<Answer> {
  if (verb === 'get') return getScale(core, request);
  if (verb === 'update') return updateScale(core, request);
  if (verb === 'patch') return patchScale(core, request);
  throw methodNotAllowed();
}
