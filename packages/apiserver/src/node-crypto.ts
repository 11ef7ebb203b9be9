import type * as crypto from 'node:crypto';

/** Node's cryptography, loaded when it is first needed: a cluster starts without it. */
export function nodeCrypto(): typeof crypto {
  return process.getBuiltinModule('node:crypto');
}
