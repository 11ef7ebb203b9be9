import { admitAll, type Admission } from '../admission/admission.ts';
import type { Clock } from '../clock.ts';
import type { KeyFiles } from '../key-files.ts';
import type { Random } from '../random.ts';
import type { Auth, Authorizer } from './auth.ts';
import { clusterAuthenticator, staticTokenLookup, type StaticToken } from './authenticator.ts';
import { JwtIssuers } from './jwt-issuers.ts';
import { RoleBindings, rbacAuthorizer } from './rbac.ts';
import { reviewHandlers } from './reviews.ts';
import { roleEscalationCheck } from './role-escalation.ts';
import { ServiceAccountTokens, type ServiceAccountTokensOptions } from './service-account-tokens.ts';
import type { StoredObjects } from './stored-objects.ts';
import { nodeCrypto } from '../node-crypto.ts';

export interface ClusterAuthOptions {
  readonly objects: StoredObjects;
  readonly clock: Clock;
  readonly random: Random;
  /** `AlwaysAllow` (default) or `RBAC`. */
  readonly authorization?: 'AlwaysAllow' | 'RBAC';
  /** What a request without credentials is. Default `admin` with `AlwaysAllow`, `anonymous` with `RBAC`. */
  readonly withoutCredentials?: 'admin' | 'anonymous' | 'refuse';
  readonly staticTokens?: readonly StaticToken[];
  /** A file with an AuthenticationConfiguration: whose tokens are accepted besides. Default: nobody's. */
  readonly authenticationConfig?: string;
  /** Issuer and default audience of ServiceAccount tokens. */
  readonly issuer?: string;
  /** Keeps the RSA key that signs ServiceAccount tokens, so that they outlive a restart. Default: a new key at every start. */
  readonly keyFiles?: KeyFiles;
}

const signingKeyFile = 'service-account-key.pem';

export interface ClusterAuth extends Auth {
  readonly serviceAccountTokens: ServiceAccountTokens;
  /** To run with the other admission plugins: nobody grants what they do not have. */
  readonly escalationCheck: Admission;
}

const alwaysAllow: Authorizer = { authorize: () => ({ allowed: true }) };

/** Identity and permissions of a cluster. */
export function clusterAuth(options: ClusterAuthOptions): ClusterAuth {
  const { objects, clock, random } = options;
  const isRbac = options.authorization === 'RBAC';
  const bindings = new RoleBindings(objects);
  const authorizer = isRbac ? rbacAuthorizer(bindings) : alwaysAllow;
  const serviceAccountTokens = new ServiceAccountTokens({
    objects,
    clock,
    random,
    ...(options.issuer ? { issuer: options.issuer } : {}),
    ...(options.keyFiles ? keptSigningKey(options.keyFiles) : {}),
  });
  const { authenticationConfig: file } = options;
  const jwtIssuers = file === undefined ? undefined : new JwtIssuers({ file, clock });
  const byStaticToken = staticTokenLookup(options.staticTokens ?? []);
  const shared = { serviceAccountTokens, authorizer, staticTokens: options.staticTokens ?? [] };
  return {
    authorizer,
    serviceAccountTokens,
    authenticator: clusterAuthenticator({
      ...shared,
      ...(jwtIssuers ? { jwtIssuers } : {}),
      withoutCredentials: options.withoutCredentials ?? (isRbac ? 'anonymous' : 'admin'),
    }),
    escalationCheck: isRbac ? roleEscalationCheck(bindings, authorizer) : admitAll,
    virtual: reviewHandlers({
      authorizer,
      ...(isRbac ? { bindings } : {}),
      serviceAccountTokens,
      identifyToken: async (token) => byStaticToken(token) ?? (await jwtIssuers?.verify(token)),
      objects,
      clock,
    }),
  };
}

function keptSigningKey(files: KeyFiles): Pick<ServiceAccountTokensOptions, 'signingKey' | 'keepSigningKey'> {
  const signingKey = files.read(signingKeyFile);
  if (signingKey === undefined) return { keepSigningKey: (pem) => files.write(signingKeyFile, pem) };
  try {
    nodeCrypto().createPrivateKey(signingKey);
  } catch (cause) {
    throw new Error(`${files.path(signingKeyFile)} holds no private key`, { cause });
  }
  return { signingKey };
}
