import type { KeyFiles } from '../key-files.ts';
import { nodeCrypto } from '../node-crypto.ts';
import type { StaticToken } from './authenticator.ts';

const tokenFile = 'admin-token';

/** The administrator's bearer token: that of an earlier start on the same data, or a new one no clock or seed gives away. */
export function keptAdminToken(files: KeyFiles | undefined): string {
  const kept = files?.read(tokenFile)?.trim();
  if (kept) return kept;
  const token = nodeCrypto().randomBytes(32).toString('base64url');
  files?.write(tokenFile, token);
  return token;
}

export function tokenOfAdmin(token: string): StaticToken {
  return { token, user: 'kubernetes-admin', groups: ['system:masters'] };
}
