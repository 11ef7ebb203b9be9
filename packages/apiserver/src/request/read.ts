import { notFound } from '../api-error.ts';
import { keyOf, type Entry } from '../store/entry.ts';
import type { Answer } from './answer.ts';
import type { Core, ResourceRequest } from './core.ts';
import { parseResourceVersion, waitForRevision } from './resource-version.ts';

/** GET of one object. */
export async function get(core: Core, request: ResourceRequest): Promise<Answer> {
  const { resource } = request;
  const revision = parseResourceVersion(request.query.get('resourceVersion') ?? '', 'get');
  await waitForRevision(core, revision);
  const key = keyOf(request.namespace, request.name);
  const entry = request.staleBy > 0 ? staleEntry(core, request, key) : core.store.get(resource.storageId, key);
  if (!entry) throw notFound(resource, request.name);
  return { kind: 'entry', status: 200, entry, resource };
}

function staleEntry(core: Core, request: ResourceRequest, key: string): Entry | undefined {
  const revision = Math.max(core.store.compactedRevision, core.store.revision - request.staleBy);
  return core.store.listAt(request.resource.storageId, request.namespace, revision).find((entry) => entry.key === key);
}
