import { isLargeInteger, isRecord } from '../json.ts';
import type { Kind } from '../kind.ts';
import { KubeError, type Status, type StatusCause } from '../kube-error.ts';

interface Sent {
  readonly kind?: Kind | undefined;
  readonly body?: unknown;
}

/** Whether a request reads or writes Secrets, by its kind or by what it carries. */
export function concernsSecret({ kind, body }: Sent): boolean {
  if (kind) return kind.kind === 'Secret' && kind.group === '';
  return isRecord(body) && body['kind'] === 'Secret';
}

/**
 * The failure of a request about a Secret without what the server said in its own words: it quotes what it was sent, in forms
 * nobody can list (numbers, lines, parts of JSON), and error texts end up in status, events and logs. Code, reason and the names
 * of the fields stay, and what can be said about the values without telling them.
 */
export function withoutSecretValues(failure: KubeError, request: Sent): KubeError {
  if (!concernsSecret(request)) return failure;
  const { code, reason, operation, retryAfterMs } = failure;
  const causes = failure.details?.causes?.map(withoutValue);
  const fields = [...new Set((causes ?? []).flatMap(({ field }) => field ?? []))];
  const wrong = wrongValues(request.body);
  const message = [
    `the server refused ${operation ?? 'a request about a Secret'} (${code} ${reason})`,
    ...(fields.length > 0 ? [`at ${fields.slice(0, 3).join(', ')}`] : []),
  ].join(' ');
  const advice =
    wrong.length > 0 ? wrong.join('; ') : 'its own words are left out, as they may quote values of the Secret';
  const text = `${message}: ${advice}`;
  const { name, group, kind, uid, retryAfterSeconds } = failure.details ?? {};
  const status: Status | undefined = failure.status && {
    kind: 'Status',
    ...(failure.status.status === undefined ? {} : { status: failure.status.status }),
    metadata: failure.status.metadata ?? {},
    code,
    reason,
    message: text,
    details: {
      ...(name === undefined ? {} : { name }),
      ...(group === undefined ? {} : { group }),
      ...(kind === undefined ? {} : { kind }),
      ...(uid === undefined ? {} : { uid }),
      ...(causes === undefined ? {} : { causes }),
      ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
    },
  };
  return new KubeError(text, { code, reason, ...(status ? { status } : {}), operation, retryAfterMs });
}

/** Who owns a field is no value of it. */
const ownership = /^conflict with "[^"]{1,128}"/;

function withoutValue({ reason, field, message }: StatusCause): StatusCause {
  const owner = reason === 'FieldManagerConflict' ? ownership.exec(message ?? '')?.[0] : undefined;
  return {
    ...(reason === undefined ? {} : { reason }),
    ...(field ? { field: nameOnly(field) } : {}),
    ...(owner === undefined ? {} : { message: owner }),
  };
}

/** A path of names; an index or a key in brackets stays out, as a list of values has its values for keys. */
function nameOnly(field: string): string {
  return field.replaceAll(/\[[^\]]*\]/g, '[…]').slice(0, 100);
}

/** What is wrong about the values themselves, by name: every value of a Secret is a text. */
function wrongValues(body: unknown): string[] {
  if (!isRecord(body)) return [];
  return ['data', 'stringData'].flatMap((part) => {
    const values = body[part];
    if (!isRecord(values)) return [];
    return Object.entries(values).flatMap(([name, value]) => {
      if (typeof value === 'string' || value === null || value === undefined) return [];
      return [`${part}.${name} is ${typeName(value)}; values of a Secret are texts, so put it in quotes`];
    });
  });
}

function typeName(value: unknown): string {
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'number' || isLargeInteger(value)) return 'a number';
  return typeof value === 'boolean' ? 'a boolean' : 'an object';
}
