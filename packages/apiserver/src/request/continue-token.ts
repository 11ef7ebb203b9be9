import { badRequest } from '../api-error.ts';

/** Where the next page of a list starts. */
export interface ContinueToken {
  /** The revision all pages are taken at; -1 means whatever is current. */
  readonly revision: number;
  /** Keys from here on. */
  readonly start: string;
}

export function encodeContinueToken({ revision, start }: ContinueToken): string {
  // Go prints the zero byte as an escape too, so equal lists have equal tokens.
  // The token offered instead of an expired one has no slash.
  const key = revision < 0 ? start : `/${start}`;
  const json = `{"v":"meta.k8s.io/v1","rv":${revision},"start":${JSON.stringify(`${key}\u0000`)}}`;
  return Buffer.from(json).toString('base64url');
}

export function decodeContinueToken(token: string): ContinueToken {
  const text = Buffer.from(token, 'base64url').toString();
  if (!/^[\w-]*$/.test(token)) throw invalidToken(`illegal base64 data at input byte ${token.search(/[^\w-]/)}`);
  let value: { v?: unknown; rv?: unknown; start?: unknown };
  try {
    value = JSON.parse(text) as typeof value;
  } catch {
    const first = text[0];
    throw invalidToken(
      first === undefined
        ? 'unexpected end of JSON input'
        : `invalid character '${first}' looking for beginning of value`,
    );
  }
  if (value.v !== 'meta.k8s.io/v1') {
    throw badRequest(
      `invalid continue token: continue key is not valid: server does not recognize this encoded version ${JSON.stringify(value.v ?? '')}`,
    );
  }
  if (typeof value.rv !== 'number' || value.rv === 0 || typeof value.start !== 'string') {
    throw badRequest(
      'invalid continue token: continue key is not valid: incorrect encoded start resourceVersion (version meta.k8s.io/v1)',
    );
  }
  return { revision: value.rv, start: value.start.replace(/^\//, '') };
}

function invalidToken(why: string): Error {
  return badRequest(`invalid continue token: continue key is not valid: ${why}`);
}
