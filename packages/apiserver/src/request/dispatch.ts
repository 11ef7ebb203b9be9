import { methodNotAllowed, notImplemented } from '../http/misses.ts';
import type { Route } from '../http/route.ts';
import type { Answer } from './answer.ts';
import type { Core, ResourceRequest } from './core.ts';
import { create } from './create.ts';
import { remove, removeCollection } from './delete.ts';
import { list } from './list.ts';
import { patch } from './patch.ts';
import { get } from './read.ts';
import { subresource } from './subresource.ts';
import { update } from './update.ts';
import { answerVirtual } from './virtual.ts';
import { watch } from './watch.ts';

/** What a method means at a place; empty when it means nothing there. */
export function verbOf(method: string, route: Extract<Route, { to: 'resource' }>, query: URLSearchParams): string {
  const named = route.name !== '';
  switch (method) {
    case 'GET': {
      if (route.watch) return 'watch';
      if (named) return 'get';
      const watching = query.get('watch');
      return watching !== null && watching !== '0' && watching !== 'false' ? 'watch' : 'list';
    }
    case 'POST':
      return named && !route.subresource ? '' : 'create';
    case 'PUT':
      return named ? 'update' : '';
    case 'PATCH':
      return named ? 'patch' : '';
    case 'DELETE':
      return named ? 'delete' : 'deletecollection';
    default:
      return '';
  }
}

export function dispatch(core: Core, request: ResourceRequest, verb: string, watchPath: boolean): Promise<Answer> {
  const { resource } = request;
  if (request.subresource) return subresource(core, request, verb);
  if (!resource.verbs.includes(verb)) throw methodNotAllowed();
  if (!resource.verbs.includes('get')) {
    const virtual = answerVirtual(core, request);
    if (virtual) return virtual;
    throw notImplemented(`${verb} ${resource.plural}`);
  }
  switch (verb) {
    case 'get':
      return get(core, request);
    case 'list':
      return list(core, request);
    case 'watch':
      return watch(core, request, watchPath);
    case 'create':
      // A new object goes into one namespace; the view over all of them is for reading.
      if (resource.namespaced && !request.namespace) throw methodNotAllowed();
      return create(core, request);
    case 'update':
      return update(core, request);
    case 'patch':
      return patch(core, request);
    case 'delete':
      return remove(core, request);
    case 'deletecollection':
      if (resource.namespaced && !request.namespace) throw methodNotAllowed();
      return removeCollection(core, request);
    default:
      throw methodNotAllowed();
  }
}
