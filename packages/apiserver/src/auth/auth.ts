import type { ApiObject } from '../object.ts';
import type { Resource } from '../resource.ts';

/** Who sends a request. */
export interface UserInfo {
  readonly name: string;
  readonly uid?: string;
  readonly groups: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

/** What an authenticator may look at. */
export interface Credentials {
  /** Header names in lower case. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** The verified client certificate of a TLS connection: CN and the O values of its subject, and its SHA-256 digest in hexadecimal. */
  readonly clientCertificate?: {
    readonly commonName: string;
    readonly organizations: readonly string[];
    readonly sha256?: string;
  };
  /** Set by in-process callers, who say themselves who they are; never set for a request that came over a socket. */
  readonly user?: UserInfo;
}

/** Finds out who sends a request. */
export interface Authenticator {
  /** The user; `undefined` makes the answer 401 Unauthorized. */
  authenticate(credentials: Credentials): UserInfo | undefined | Promise<UserInfo | undefined>;
}

/** What a user wants to do; the input of every authorizer. */
export interface RequestAttributes {
  readonly user: UserInfo;
  /** `get`, `list`, `watch`, `create`, `update`, `patch`, `delete`, `deletecollection`; the lower case HTTP method for other paths. */
  readonly verb: string;
  /** Absent for paths such as `/version`. */
  readonly resource?: {
    readonly group: string;
    readonly version: string;
    readonly plural: string;
    /** Empty when there is none. */
    readonly subresource: string;
    /** Empty for cluster-scoped resources and for requests over all namespaces. */
    readonly namespace: string;
    /** Empty when the request is about a collection. */
    readonly name: string;
  };
  /** The path without query. */
  readonly path: string;
}

export interface Decision {
  readonly allowed: boolean;
  /** Why, in the words of the authorizer, such as `RBAC: allowed by …`. */
  readonly reason?: string;
}

export interface Authorizer {
  authorize(attributes: RequestAttributes): Decision | Promise<Decision>;
}

/** A request to a resource that is answered but never stored: reviews, token requests, bindings to the outside. */
export interface VirtualRequest {
  readonly resource: Resource;
  /** Empty when there is none. */
  readonly subresource: string;
  readonly namespace: string;
  /** Empty for a collection. */
  readonly name: string;
  /** The decoded and defaulted body. */
  readonly object: ApiObject;
  /** The stored object a subresource belongs to, such as the ServiceAccount of a token request. */
  readonly parent?: ApiObject;
  readonly user: UserInfo;
  readonly dryRun: boolean;
}

/** Answers virtual resources. The key is `group/plural` or `group/plural/subresource`, such as `authorization.k8s.io/subjectaccessreviews`, `/serviceaccounts/token`. */
export type VirtualHandlers = ReadonlyMap<string, (request: VirtualRequest) => ApiObject | Promise<ApiObject>>;

/** Everything about identity in one piece, as `startCluster` hands it to the server. */
export interface Auth {
  readonly authenticator: Authenticator;
  readonly authorizer: Authorizer;
  readonly virtual: VirtualHandlers;
}

/** The identity of the one who starts the cluster. */
export const adminUser: UserInfo = { name: 'system:admin', groups: ['system:masters', 'system:authenticated'] };

/** Believes in-process callers, takes everyone else for the administrator, allows everything. */
export const permissiveAuth: Auth = {
  authenticator: { authenticate: (credentials) => credentials.user ?? adminUser },
  authorizer: { authorize: () => ({ allowed: true, reason: '' }) },
  virtual: new Map(),
};
