import { isRecord } from './json.ts';

/** The `Status` object an API server answers with when it says no (and sometimes when it says yes). */
export interface Status {
  kind?: string;
  apiVersion?: string;
  metadata?: { continue?: string; resourceVersion?: string };
  status?: string;
  message?: string;
  reason?: string;
  details?: StatusDetails;
  code?: number;
}

export interface StatusDetails {
  name?: string;
  group?: string;
  kind?: string;
  uid?: string;
  causes?: readonly StatusCause[];
  retryAfterSeconds?: number;
}

export interface StatusCause {
  reason?: string;
  message?: string;
  field?: string;
}

/**
 * Reasons of failures in which the server did not speak for itself:
 * - `UnknownKind`: the server serves no such resource (its CRD is missing, or not yet established);
 * - `ConnectionFailed`: no answer at all;
 * - `RequestTimeout`: no answer in time;
 * - `BadAnswer`: an answer that is not what Kubernetes would say (a proxy's page, broken JSON).
 */
export type LocalReason = 'UnknownKind' | 'ConnectionFailed' | 'RequestTimeout' | 'BadAnswer';

/** Everything that can go wrong between a caller and an API server, in one class. Test it with `isNotFound` and its siblings. */
export class KubeError extends Error {
  /** HTTP status, or 0 when there was no answer. */
  readonly code: number;
  /** CamelCase word: the server's (`NotFound`, `Conflict`, …) or a {@link LocalReason}. */
  readonly reason: string;
  /** The server's `Status`, when it sent one. */
  readonly status: Status | undefined;
  readonly details: StatusDetails | undefined;
  /** What was asked, such as `get ConfigMap.v1 default/settings`. */
  readonly operation: string | undefined;
  /** How long the server asks to wait before trying again. */
  readonly retryAfterMs: number | undefined;

  constructor(
    message: string,
    fields: {
      code?: number;
      reason?: string;
      status?: Status;
      operation?: string;
      retryAfterMs?: number;
      cause?: unknown;
    } = {},
  ) {
    super(message, fields.cause === undefined ? undefined : { cause: fields.cause });
    this.name = 'KubeError';
    this.code = fields.code ?? fields.status?.code ?? 0;
    this.reason = fields.reason ?? fields.status?.reason ?? reasonOf(this.code);
    this.status = fields.status;
    this.details = fields.status?.details;
    this.operation = fields.operation;
    const seconds = fields.status?.details?.retryAfterSeconds;
    this.retryAfterMs = fields.retryAfterMs ?? (seconds === undefined ? undefined : seconds * 1000);
  }

  /** From a `Status` in an answer or in an `ERROR` event of a watch. */
  static fromStatus(status: Status, operation?: string, retryAfterMs?: number): KubeError {
    const message = status.message || `the server answered ${status.code ?? 'an error'} ${status.reason ?? ''}`.trim();
    return new KubeError(message, { status, operation, retryAfterMs });
  }

  /** From any answer that is not a success. */
  static fromResponse(
    response: {
      status: number;
      headers: Readonly<Record<string, string | string[]>>;
      body: Buffer;
    },
    operation?: string,
  ): KubeError {
    const retryAfterMs = retryAfter(response.headers['retry-after']);
    const text = response.body.toString('utf8');
    const parsed = parseStatus(text);
    if (parsed) {
      const status = { ...parsed, code: parsed.code ?? response.status };
      // Aggregated servers and old versions answer for a path nobody serves with a Status that names nothing.
      if (status.code === 404 && !status.details?.name && !status.details?.kind)
        return new KubeError(unknownKindText(operation), { status, reason: 'UnknownKind', operation, retryAfterMs });
      return KubeError.fromStatus(status, operation, retryAfterMs);
    }
    if (response.status === 404)
      return new KubeError(unknownKindText(operation), { code: 404, reason: 'UnknownKind', operation, retryAfterMs });
    const excerpt = text.trim().replaceAll(/\s+/g, ' ').slice(0, 200);
    const suffix = excerpt === '' ? '' : `: ${excerpt}`;
    return new KubeError(`the server answered ${response.status}${suffix}`, {
      code: response.status,
      operation,
      retryAfterMs,
    });
  }
}

function unknownKindText(operation: string | undefined): string {
  return `the server does not serve this resource${operation ? ` (${operation})` : ''}; is its CustomResourceDefinition installed and established?`;
}

function parseStatus(text: string): Status | undefined {
  if (!text.startsWith('{')) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) && value['kind'] === 'Status' ? statusFrom(value) : undefined;
  } catch {
    return undefined;
  }
}

/** What of a value is a `Status`; parts of another type than they should have are left out. */
export function statusFrom(value: unknown): Status {
  const fields = recordOf(value);
  const metadata = recordOf(fields['metadata']);
  return {
    kind: 'Status',
    ...texts(fields, ['apiVersion', 'status', 'message', 'reason']),
    ...(isCount(fields['code']) ? { code: fields['code'] } : {}),
    metadata: texts(metadata, ['continue', 'resourceVersion']),
    ...(isRecord(fields['details']) ? { details: detailsFrom(fields['details']) } : {}),
  };
}

function detailsFrom(fields: Readonly<Record<string, unknown>>): StatusDetails {
  const { causes, retryAfterSeconds } = fields;
  return {
    ...texts(fields, ['name', 'group', 'kind', 'uid']),
    ...(Array.isArray(causes)
      ? { causes: causes.map((cause) => texts(recordOf(cause), ['reason', 'message', 'field'])) }
      : {}),
    ...(isCount(retryAfterSeconds) ? { retryAfterSeconds } : {}),
  };
}

function texts<N extends string>(
  fields: Readonly<Record<string, unknown>>,
  names: readonly N[],
): { [K in N]?: string } {
  const found: { [K in N]?: string } = {};
  for (const name of names) if (typeof fields[name] === 'string') found[name] = fields[name];
  return found;
}

function recordOf(value: unknown): Readonly<Record<string, unknown>> {
  return isRecord(value) ? value : {};
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0;
}

/** Milliseconds from a `Retry-After` header in seconds; dates are not used by Kubernetes and are ignored. */
export function retryAfter(header: string | string[] | undefined): number | undefined {
  const text = Array.isArray(header) ? header[0] : header;
  if (text === undefined || !/^\d+$/.test(text.trim())) return undefined;
  return Number(text) * 1000;
}

function reasonOf(code: number): string {
  switch (code) {
    case 0:
      return 'ConnectionFailed';
    case 400:
      return 'BadRequest';
    case 401:
      return 'Unauthorized';
    case 403:
      return 'Forbidden';
    case 404:
      return 'NotFound';
    case 405:
      return 'MethodNotAllowed';
    case 409:
      return 'Conflict';
    case 410:
      return 'Gone';
    case 413:
      return 'RequestEntityTooLarge';
    case 415:
      return 'UnsupportedMediaType';
    case 422:
      return 'Invalid';
    case 429:
      return 'TooManyRequests';
    case 500:
      return 'InternalError';
    case 503:
      return 'ServiceUnavailable';
    case 504:
      return 'Timeout';
    default:
      return 'Unknown';
  }
}

function has(error: unknown, test: (error: KubeError) => boolean): error is KubeError {
  return error instanceof KubeError && test(error);
}

/** There is no such object, or (see {@link isUnknownKind}) no such resource. */
export function isNotFound(error: unknown): error is KubeError {
  return has(error, (e) => e.code === 404 || e.reason === 'NotFound');
}

/** The server serves no such resource: its CRD is missing or not yet established. */
export function isUnknownKind(error: unknown): error is KubeError {
  return has(error, (e) => e.reason === 'UnknownKind');
}

/** The object has changed since it was read, another manager owns the field, or a precondition failed. Read again and retry. */
export function isConflict(error: unknown): error is KubeError {
  return has(error, (e) => e.reason === 'Conflict' || (e.code === 409 && e.reason !== 'AlreadyExists'));
}

export function isAlreadyExists(error: unknown): error is KubeError {
  return has(error, (e) => e.reason === 'AlreadyExists');
}

/** The resource version or continue token is too old: list again. */
export function isGone(error: unknown): error is KubeError {
  return has(error, (e) => e.code === 410 || e.reason === 'Gone' || e.reason === 'Expired');
}

/** The object breaks a rule of its kind; `details.causes` names the fields. */
export function isInvalid(error: unknown): error is KubeError {
  return has(error, (e) => e.code === 422 || e.reason === 'Invalid');
}

export function isBadRequest(error: unknown): error is KubeError {
  return has(error, (e) => e.code === 400);
}

/** Known, but not allowed: a missing Role, or an admission rule. */
export function isForbidden(error: unknown): error is KubeError {
  return has(error, (e) => e.code === 403);
}

/** Not known: credentials are missing, wrong or expired. */
export function isUnauthorized(error: unknown): error is KubeError {
  return has(error, (e) => e.code === 401);
}

export function isTooManyRequests(error: unknown): error is KubeError {
  return has(error, (e) => e.code === 429);
}

/** The server or the wire took too long. The request may have been carried out. */
export function isTimeout(error: unknown): error is KubeError {
  return has(
    error,
    (e) => e.code === 504 || e.reason === 'Timeout' || e.reason === 'ServerTimeout' || e.reason === 'RequestTimeout',
  );
}

/** Nobody is there to answer right now: 502, 503, or no connection. */
export function isServerUnavailable(error: unknown): error is KubeError {
  return has(error, (e) => e.code === 503 || e.code === 502 || e.reason === 'ConnectionFailed');
}

/** No answer came at all. The request may have been carried out. */
export function isConnectionFailure(error: unknown): error is KubeError {
  return has(error, (e) => e.code === 0);
}

/** An object cannot be created because its namespace is being deleted. */
export function isNamespaceTerminating(error: unknown): error is KubeError {
  return has(
    error,
    (e) => e.code === 403 && (e.details?.causes ?? []).some((cause) => cause.reason === 'NamespaceTerminating'),
  );
}

/** The resource version is newer than what the answering server has seen (a lagging replica of the API server). */
export function isTooLargeResourceVersion(error: unknown): error is KubeError {
  return has(error, (e) => (e.details?.causes ?? []).some((cause) => cause.reason === 'ResourceVersionTooLarge'));
}

/** Trying the same request again later may succeed without anybody changing anything. */
export function isTransient(error: unknown): error is KubeError {
  return (
    isTimeout(error) ||
    isServerUnavailable(error) ||
    isTooManyRequests(error) ||
    has(error, (e) => e.code === 500 || e.code === 0)
  );
}
