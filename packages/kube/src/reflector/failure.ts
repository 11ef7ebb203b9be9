import { kindText } from '../kind.ts';
import { statusFrom } from '../kube-error.ts';
import type { ReflectorQuery } from './query.ts';

/** Why a watch had to be started again; the label of the restart metric. */
export type RestartReason =
  | 'closed'
  | 'connection'
  | 'silent'
  | 'overdue'
  | 'no-answer'
  | 'expired'
  | 'too-large-version'
  | 'throttled'
  | 'server-error'
  | 'refused'
  | 'undecodable'
  | 'reload'
  | 'no-end-marker';

/** A `Status` as the server sends it, with the fields that decide what to do. */
export interface ServerStatus {
  readonly code: number;
  readonly reason: string;
  readonly message: string;
  readonly causes: readonly string[];
  /** Seconds the server asked us to wait; `undefined` when it did not. */
  readonly retryAfterSeconds: number | undefined;
}

/** What keeps a reflector from working. */
export interface Problem {
  /** In words that name the kind and what to do about it. */
  readonly text: string;
  /** The server knows us not, or does not let us. */
  readonly denied: boolean;
}

type Headers = Readonly<Record<string, string | string[]>>;

/** Reads what the server said from an HTTP error answer or from the object of an ERROR event. */
export function serverStatus(code: number, body: Buffer, headers: Headers = {}): ServerStatus {
  const said = statusFrom(parsed(body));
  const header = headers['retry-after'];
  const fromHeader = Number(Array.isArray(header) ? header[0] : header);
  return {
    code: said.code ?? code,
    reason: said.reason ?? '',
    message: said.message ?? '',
    causes: (said.details?.causes ?? []).map((cause) => cause.reason ?? ''),
    retryAfterSeconds: waitOf(fromHeader) ?? waitOf(said.details?.retryAfterSeconds),
  };
}

/** A proxy's HTML or plain text says nothing: the code has to do. */
function parsed(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    return undefined;
  }
}

/** Longest wait a server can ask for: one that asks for a day must not take the cache out for a day. */
const maxRetryAfterSeconds = 120;

function waitOf(seconds: number | undefined): number | undefined {
  return seconds !== undefined && seconds > 0 ? Math.min(seconds, maxRetryAfterSeconds) : undefined;
}

/** The version we hold is too old for the server: it no longer knows what happened since. */
export const isExpired = (status: ServerStatus) =>
  status.code === 410 || status.reason === 'Expired' || status.reason === 'Gone';

/** The version we hold is newer than what this server has seen (another server of the control plane gave it to us). */
export const isTooLarge = (status: ServerStatus) => status.causes.includes('ResourceVersionTooLarge');

export const isThrottled = (status: ServerStatus) =>
  status.code === 429 || (status.code === 503 && status.retryAfterSeconds !== undefined);

/** A request the server did not grant. */
export function refusal(query: ReflectorQuery, verb: 'list' | 'watch', status: ServerStatus): Problem {
  return { text: refusalText(query, verb, status), denied: status.code === 401 || status.code === 403 };
}

function refusalText(query: ReflectorQuery, verb: 'list' | 'watch', status: ServerStatus): string {
  const { kind, namespace } = query;
  const name = kindText(kind);
  const resource = kind.group ? `${kind.plural}.${kind.group}` : kind.plural;
  const where = namespace === undefined ? '' : ` in namespace ${namespace}`;
  const said = status.message ? `: ${status.message}` : '';
  switch (status.code) {
    case 404:
      return `${name} is not served by the cluster (404${said}). Install its CustomResourceDefinition; the cache keeps trying.`;
    case 403:
      return `not allowed to ${verb} ${name}${where} (403${said}). Grant get, list and watch on ${resource}${where}; the cache keeps trying.`;
    case 401:
      return `the cluster does not accept the credentials used to ${verb} ${name}${where} (401${said}). Check token or certificate; the cache keeps trying.`;
    case 429:
    case 503:
      return `the server asks to wait before a ${verb} of ${name}${where} (${status.code}${said}); the cache keeps trying.`;
    default:
      return `${verb} of ${name}${where} failed (${status.code}${said}); the cache keeps trying.`;
  }
}

/** A request that broke on the way. */
export function brokenConnection(query: ReflectorQuery, verb: 'list' | 'watch', detail: string): Problem {
  const where = query.namespace === undefined ? '' : ` in namespace ${query.namespace}`;
  return {
    text: `${verb} of ${kindText(query.kind)}${where} failed: ${detail}; the cache keeps trying.`,
    denied: false,
  };
}
