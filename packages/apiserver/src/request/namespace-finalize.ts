import { cloneJson } from '../clone-json.ts';
import type { ApiObject } from '../object.ts';
import type { Answer } from './answer.ts';
import type { Core, ResourceRequest } from './core.ts';
import { decodeObject } from './decode-object.ts';
import { trackedFields } from './field-ownership.ts';
import { writeOptions } from './options.ts';
import { change, keepSystemFields, matchIdentity } from './update.ts';

/** PUT to `namespaces/x/finalize`: takes `spec.finalizers` alone; an empty list lets a terminating namespace go. */
export async function finalizeNamespace(core: Core, request: ResourceRequest): Promise<Answer> {
  const options = writeOptions(request, 'UpdateOptions');
  const body = decodeObject(request, options.fieldValidation);
  matchIdentity(body, request);
  return change(core, request, {
    options,
    uid: body.metadata.uid,
    // Everywhere else a namespace keeps its finalizers.
    internal: true,
    next(live) {
      const next: ApiObject = cloneJson(live);
      next['spec'] = cloneJson(body['spec']) ?? {};
      const name = { 'kubernetes.io/metadata.name': request.name };
      next.metadata = { ...cloneJson(body.metadata), labels: { ...body.metadata.labels, ...name } };
      keepSystemFields(next, live);
      trackedFields(core, request, { live, next, options });
      return next;
    },
  });
}
