/** A `metav1.Status` that says no: thrown anywhere in the server, answered by the HTTP layer as it is. */
export class ApiError extends Error {
  readonly status: StatusBody;
  /** Extra answer headers, such as `retry-after`. */
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    status: Omit<StatusBody, 'kind' | 'apiVersion' | 'metadata' | 'status'>,
    headers: Readonly<Record<string, string>> = {},
  ) {
    super(status.message);
    this.name = 'ApiError';
    this.status = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', ...status };
    this.headers = headers;
  }
}

export interface StatusBody {
  kind: 'Status';
  apiVersion: 'v1';
  metadata: Record<string, never>;
  status: 'Failure' | 'Success';
  message?: string;
  reason?: string;
  details?: StatusDetails;
  code: number;
}

export interface StatusDetails {
  name?: string;
  group?: string;
  kind?: string;
  uid?: string;
  causes?: StatusCause[];
  retryAfterSeconds?: number;
}

export interface StatusCause {
  reason?: string;
  message?: string;
  field?: string;
}

/** One problem with one field; `invalid` turns a list of them into the 422 the real server gives. */
export interface FieldError {
  /** `FieldValueRequired`, `FieldValueInvalid`, `FieldValueNotSupported`, `FieldValueDuplicate`, `FieldValueForbidden`, `FieldValueTooLong`, `FieldValueTooMany`, `FieldValueTypeInvalid`. */
  reason: string;
  /** Go's path, such as `spec.template.spec.containers[0].name`. */
  field: string;
  /** Go's text after the field, such as `Required value` or `Invalid value: "x": must be …`. */
  detail: string;
}

/** What identifies a resource in error texts. */
export interface ResourceName {
  group: string;
  /** Plural, as in `configmaps`. */
  plural: string;
  kind: string;
}

function qualified(resource: ResourceName): string {
  return resource.group ? `${resource.plural}.${resource.group}` : resource.plural;
}

function detailsOf(resource: ResourceName, name: string): StatusDetails {
  return { ...(name ? { name } : {}), ...(resource.group ? { group: resource.group } : {}), kind: resource.plural };
}

export function notFound(resource: ResourceName, name: string): ApiError {
  return new ApiError({
    code: 404,
    reason: 'NotFound',
    message: `${qualified(resource)} "${name}" not found`,
    details: detailsOf(resource, name),
  });
}

export function alreadyExists(resource: ResourceName, name: string): ApiError {
  return new ApiError({
    code: 409,
    reason: 'AlreadyExists',
    message: `${qualified(resource)} "${name}" already exists`,
    details: detailsOf(resource, name),
  });
}

export function conflict(resource: ResourceName, name: string, why: string): ApiError {
  return new ApiError({
    code: 409,
    reason: 'Conflict',
    message: `Operation cannot be fulfilled on ${qualified(resource)} "${name}": ${why}`,
    details: detailsOf(resource, name),
  });
}

export function forbidden(resource: ResourceName, name: string, why: string, causes?: StatusCause[]): ApiError {
  return new ApiError({
    code: 403,
    reason: 'Forbidden',
    message: `${qualified(resource)} "${name}" is forbidden: ${why}`,
    details: { ...detailsOf(resource, name), ...(causes ? { causes } : {}) },
  });
}

export function invalid(resource: ResourceName, name: string, errors: readonly FieldError[]): ApiError {
  const texts = errors.map((error) => `${error.field}: ${error.detail}`);
  const qualifiedKind = resource.group ? `${resource.kind}.${resource.group}` : resource.kind;
  return new ApiError({
    code: 422,
    reason: 'Invalid',
    message: `${qualifiedKind} "${name}" is invalid: ${texts.length === 1 ? texts[0] : `[${texts.join(', ')}]`}`,
    details: {
      ...(name ? { name } : {}),
      ...(resource.group ? { group: resource.group } : {}),
      kind: resource.kind,
      causes: errors.map((error) => ({ reason: error.reason, message: error.detail, field: error.field })),
    },
  });
}

export function badRequest(message: string): ApiError {
  return new ApiError({ code: 400, reason: 'BadRequest', message });
}

/** A 500 that carries no reason, which the real server gives for a few client mistakes. */
export function plainInternalError(message: string): ApiError {
  return new ApiError({ code: 500, message });
}

export function internalError(message: string, causes?: StatusCause[]): ApiError {
  return new ApiError({
    code: 500,
    reason: 'InternalError',
    message: `Internal error occurred: ${message}`,
    details: { causes: causes ?? [{ message }] },
  });
}
