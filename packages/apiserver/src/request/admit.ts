import type { AdmissionContext } from '../admission/admission.ts';
import type { ApiObject, JsonObject } from '../object.ts';
import type { Core, ResourceRequest } from './core.ts';

export interface AdmissionInput {
  readonly operation: AdmissionContext['operation'];
  readonly object: ApiObject | undefined;
  readonly oldObject: ApiObject | undefined;
  readonly options: JsonObject;
  readonly dryRun: boolean;
  /** Default: the kind of the resource, or of its subresource. */
  readonly kind?: AdmissionContext['kind'];
  /** Default: the name in the request or in the object. */
  readonly name?: string;
}

export function admissionContext(request: ResourceRequest, input: AdmissionInput): AdmissionContext {
  const { resource, subresource } = request;
  const described = subresource ? (resource.subresources[subresource] ?? resource) : resource;
  return {
    operation: input.operation,
    resource,
    subresource,
    kind: input.kind ?? {
      group: described.group || resource.group,
      version: described.version || resource.version,
      kind: described.kind,
    },
    namespace: request.namespace,
    name: input.name ?? (request.name || (input.object?.metadata.name ?? '')),
    object: input.object,
    oldObject: input.oldObject,
    options: optionsOf(input),
    dryRun: input.dryRun,
    user: request.user,
    warn: (text) => request.warnings.push(text),
  };
}

/** A patch is a create or an update by the time admission hears of it, and so are its options. */
function optionsOf({ operation, options }: AdmissionInput): JsonObject {
  if (options['kind'] !== 'PatchOptions') return options;
  const { force: _force, ...kept } = options;
  return { ...kept, kind: operation === 'CREATE' ? 'CreateOptions' : 'UpdateOptions' };
}

/** Runs mutating admission and answers the object it left; at once when nothing had to be waited for. */
export function mutate(core: Core, context: AdmissionContext): ApiObject | Promise<ApiObject> {
  const waiting = core.admission.mutate(context);
  return waiting ? waiting.then(() => context.object!) : context.object!;
}

export function validate(core: Core, context: AdmissionContext): void | Promise<void> {
  return core.admission.validate(context);
}

/**
 * Goes on with a value now if it is there, later if it is promised. Between reading an object and storing its successor
 * nobody may get in as long as nothing has to be waited for; `await` would always let everybody in.
 */
export function chain<T, R>(value: T | Promise<T>, proceed: (value: T) => R | Promise<R>): R | Promise<R> {
  return value instanceof Promise ? value.then(proceed) : proceed(value);
}
