import { trackUpdate, applyConfiguration } from '../apply/managed-fields.ts';
import { kubeTime } from '../clock.ts';
import type { ApiObject } from '../object.ts';
import type { Core, ResourceRequest } from './core.ts';
import type { ExpectedKind } from './decode-object.ts';
import type { WriteOptions } from './options.ts';
import { apiVersionOf } from './versions.ts';

export interface Ownership {
  readonly live: ApiObject | undefined;
  readonly next: ApiObject;
  readonly options: Pick<WriteOptions, 'fieldManager'>;
  /** The kind of the objects, when it is not the resource's own. */
  readonly expected?: ExpectedKind;
}

/** Writes into `next` who owns which of its fields after an update by this request's manager. */
export function trackedFields(core: Core, request: ResourceRequest, ownership: Ownership): void {
  const { live, next, options, expected } = ownership;
  const kind = expected && { schema: expected.schema, apiVersion: apiVersionOf(expected), resetFields: [['status']] };
  const entries = trackUpdate({ ...writeContext(core, request), ...kind, live, next, manager: options.fieldManager });
  if (entries.length > 0) next.metadata.managedFields = entries;
  else delete next.metadata.managedFields;
}

/** The object a server-side apply makes out of the stored one, with its ownership. */
export function appliedObject(
  core: Core,
  request: ResourceRequest,
  live: ApiObject | undefined,
  config: ApiObject,
  options: WriteOptions,
  finish: (merged: ApiObject) => ApiObject,
): ApiObject {
  return applyConfiguration({
    ...writeContext(core, request),
    live,
    config,
    manager: options.fieldManager,
    force: options.force,
    kind: request.resource.kind,
    finish,
  });
}

function writeContext(core: Core, request: ResourceRequest) {
  const { resource, subresource } = request;
  return {
    schema: resource.schema,
    custom: resource.custom,
    apiVersion: apiVersionOf(resource),
    now: kubeTime(core.clock.now()),
    ...(subresource ? { subresource } : {}),
    resetFields: resetFields(request),
  };
}

/** What the endpoint does not let through is never owned by who writes it. */
function resetFields({ resource, subresource }: ResourceRequest): string[][] {
  if (subresource === 'approval') return [['spec'], ['status', 'certificate']];
  if (subresource === 'status') return resource.custom ? [['metadata'], ['spec']] : [['spec']];
  return resource.strategy.statusField ? [['status']] : [];
}
