import { forbiddenAnswer, unauthorized } from '../http/denials.ts';
import { badRequest } from '../api-error.ts';
import { adminUser, type Authenticator, type Authorizer, type Credentials, type UserInfo } from './auth.ts';
import type { JwtIssuers } from './jwt-issuers.ts';
import { serviceAccountGroups, type ServiceAccountTokens } from './service-account-tokens.ts';
import { nodeCrypto } from '../node-crypto.ts';

export interface StaticToken {
  readonly token: string;
  readonly user: string;
  readonly groups?: readonly string[];
  readonly uid?: string;
}

export interface AuthenticatorOptions {
  readonly serviceAccountTokens: ServiceAccountTokens;
  readonly staticTokens?: readonly StaticToken[];
  /** People with tokens of identity providers. Default: none. */
  readonly jwtIssuers?: JwtIssuers;
  /**
   * What a request without credentials is: the administrator (the default, for loopback without TLS), `system:anonymous`, or
   * refused with 401.
   */
  readonly withoutCredentials?: 'admin' | 'anonymous' | 'refuse';
  /** Decides who may impersonate whom. */
  readonly authorizer: Authorizer;
}

const AUTHENTICATED = 'system:authenticated';
const UNAUTHENTICATED = 'system:unauthenticated';
const ANONYMOUS: UserInfo = { name: 'system:anonymous', groups: [UNAUTHENTICATED] };
const SERVICE_ACCOUNT = /^system:serviceaccount:([^:]+):([^:]+)$/;

type Headers = Credentials['headers'];

function headerValues(headers: Headers, name: string): string[] {
  const value = headers[name];
  return value === undefined ? [] : typeof value === 'string' ? [value] : [...value];
}

/** Who a static token belongs to. */
export function staticTokenLookup(tokens: readonly StaticToken[]): (token: string) => UserInfo | undefined {
  const known = tokens.map((each) => ({ ...each, digest: digest(each.token) }));
  return (token) => {
    const wanted = digest(token);
    const found = known.find((each) => nodeCrypto().timingSafeEqual(each.digest, wanted));
    return found && withAuthenticated({ name: found.user, uid: found.uid, groups: found.groups ?? [] });
  };
}

/** Client certificates, bearer tokens, anonymity; then impersonation on top of any of them. */
export function clusterAuthenticator(options: AuthenticatorOptions): Authenticator {
  const byStaticToken = staticTokenLookup(options.staticTokens ?? []);

  async function byBearer(token: string): Promise<UserInfo | undefined> {
    const own = byStaticToken(token) ?? (await options.serviceAccountTokens.verify(token))?.user;
    return own ?? (await options.jwtIssuers?.verify(token));
  }

  function identify(credentials: Credentials): UserInfo | undefined | Promise<UserInfo | undefined> {
    if (credentials.user) {
      return credentials.user;
    }
    const certificate = credentials.clientCertificate;
    if (certificate) {
      const fingerprint = certificate.sha256;
      return withAuthenticated({
        name: certificate.commonName,
        groups: certificate.organizations,
        ...(fingerprint
          ? { extra: { 'authentication.kubernetes.io/credential-id': [`X509SHA256=${fingerprint}`] } }
          : {}),
      });
    }
    const [authorization = ''] = headerValues(credentials.headers, 'authorization');
    const bearer = /^Bearer\s+(\S+)\s*$/i.exec(authorization);
    if (bearer) {
      return byBearer(bearer[1]!);
    }
    switch (options.withoutCredentials ?? 'admin') {
      case 'admin':
        return adminUser;
      case 'anonymous':
        return ANONYMOUS;
      case 'refuse':
        return undefined;
    }
  }

  return {
    authenticate(credentials) {
      const user = identify(credentials);
      const impersonates = Object.keys(credentials.headers).some(
        (name) => name.startsWith('impersonate-') && headerValues(credentials.headers, name).some(Boolean),
      );
      if (!impersonates) {
        return user;
      }
      return (async () => {
        const real = await user;
        if (!real) {
          throw unauthorized();
        }
        return impersonate(real, credentials.headers, options.authorizer);
      })();
    },
  };
}

function digest(text: string): Buffer {
  return nodeCrypto().createHash('sha256').update(text).digest();
}

function withAuthenticated(user: UserInfo): UserInfo {
  return user.groups.includes(AUTHENTICATED) ? user : { ...user, groups: [...user.groups, AUTHENTICATED] };
}

interface Wish {
  readonly plural: string;
  readonly group: string;
  readonly subresource?: string;
  readonly namespace?: string;
  readonly name: string;
}

/** The user a request wants to be, if the real one may be that. */
async function impersonate(real: UserInfo, headers: Headers, authorizer: Authorizer): Promise<UserInfo> {
  const [name = ''] = headerValues(headers, 'impersonate-user');
  const groups = headerValues(headers, 'impersonate-group').flatMap((value) => value.split(/,\s*/));
  const [uid] = headerValues(headers, 'impersonate-uid');
  const extra: Record<string, string[]> = {};
  for (const header of Object.keys(headers)) {
    if (header.startsWith('impersonate-extra-')) {
      const key = decodeURIComponent(header.slice('impersonate-extra-'.length));
      extra[key] = headerValues(headers, header);
    }
  }
  if (name === '') {
    const asked = groups.map((group) => JSON.stringify(group)).join(', ');
    throw badRequest(
      `requested &user.DefaultInfo{Name:"", UID:${JSON.stringify(uid ?? '')}, Groups:[]string{${asked}}, Extra:map[string][]string(nil)} without impersonating a user name`,
    );
  }
  const account = SERVICE_ACCOUNT.exec(name);
  const wishes: Wish[] = [
    account
      ? { group: '', plural: 'serviceaccounts', namespace: account[1]!, name: account[2]! }
      : { group: '', plural: 'users', name },
    ...groups.map((group) => ({ group: '', plural: 'groups', name: group })),
    ...(uid ? [{ group: 'authentication.k8s.io', plural: 'uids', name: uid }] : []),
    ...Object.entries(extra).flatMap(([key, values]) =>
      values.map((value) => ({ group: 'authentication.k8s.io', plural: 'userextras', subresource: key, name: value })),
    ),
  ];
  for (const { group, plural, subresource = '', namespace = '', name: whom } of wishes) {
    const attributes = {
      user: real,
      verb: 'impersonate',
      path: '',
      resource: { group, version: 'v1', plural, subresource, namespace, name: whom },
    };
    const decision = await authorizer.authorize(attributes);
    if (!decision.allowed) {
      throw forbiddenAnswer(attributes, decision.reason);
    }
  }
  const own = account && groups.length === 0 ? serviceAccountGroups(account[1]!) : groups;
  const isAnonymous = name === ANONYMOUS.name;
  const completed =
    own.includes(AUTHENTICATED) || own.includes(UNAUTHENTICATED)
      ? own
      : [...own, isAnonymous ? UNAUTHENTICATED : AUTHENTICATED];
  return {
    name,
    groups: completed,
    ...(uid ? { uid } : {}),
    ...(Object.keys(extra).length > 0 ? { extra } : {}),
  };
}
