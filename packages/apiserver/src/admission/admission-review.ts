import type { ApiObject } from '../object.ts';
import type { Resource } from '../resource.ts';
import type { AdmissionContext } from './admission.ts';

/** `AdmissionRequest`, as webhooks get it and CEL sees it. */
export type AdmissionRequest = Record<string, unknown>;

export interface AdmissionResponse {
  readonly uid?: string;
  readonly allowed?: boolean;
  readonly status?: {
    readonly code?: number;
    readonly message?: string;
    readonly reason?: string;
    readonly details?: object;
  };
  readonly patch?: string;
  readonly patchType?: string;
  readonly warnings?: readonly string[];
}

/** The request in the version `as` of its resource. */
export function admissionRequest(
  context: AdmissionContext,
  as: Resource,
  objects: { readonly object: ApiObject | undefined; readonly oldObject: ApiObject | undefined },
  uid: string,
): AdmissionRequest {
  const { resource, subresource, kind, user } = context;
  const isNamespace = resource.group === '' && resource.plural === 'namespaces';
  const namespace = context.namespace || (isNamespace ? context.name : '');
  return {
    uid,
    kind: as === resource ? kind : { group: as.group, version: as.version, kind: as.kind },
    resource: { group: as.group, version: as.version, resource: as.plural },
    ...(subresource ? { subResource: subresource } : {}),
    requestKind: kind,
    requestResource: { group: resource.group, version: resource.version, resource: resource.plural },
    ...(subresource ? { requestSubResource: subresource } : {}),
    ...(context.name ? { name: context.name } : {}),
    ...(namespace ? { namespace } : {}),
    operation: context.operation,
    userInfo: {
      username: user.name,
      ...(user.uid ? { uid: user.uid } : {}),
      groups: user.groups,
      ...(user.extra ? { extra: user.extra } : {}),
    },
    object: objects.object ? kindFirst(objects.object) : null,
    oldObject: objects.oldObject ? kindFirst(objects.oldObject) : null,
    dryRun: context.dryRun,
    options: kindFirst(context.options as unknown as ApiObject),
  };
}

function kindFirst(object: ApiObject): ApiObject {
  const { kind, apiVersion, ...rest } = object;
  return { kind, apiVersion, ...rest } as ApiObject;
}
