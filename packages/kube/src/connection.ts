/**
 * How to reach one API server and as whom. `loadKubeConfig` and `inClusterConnection` make one; a program may write one by
 * hand.
 */
export interface Connection {
  /** `https://host:port`, with a path when the server lives below one. */
  readonly server: string;
  readonly tls?: TlsSettings;
  readonly credentials?: Credentials;
  readonly impersonate?: Impersonation;
  /** `http://`, `https://` or `socks5://`. Default: no proxy. */
  readonly proxyUrl?: string;
  /** The namespace of the context or of the Pod; what "the current namespace" means. Default `default`. */
  readonly namespace?: string;
  /** Where this came from, for error texts: a file and a context, or `in-cluster`. */
  readonly origin?: string;
  /** The context of the kubeconfig this came from. */
  readonly context?: string | undefined;
}

export interface TlsSettings {
  /** Certificates the server's must lead back to, as PEM. Default: the machine's. A function is asked for each new connection. */
  readonly ca?: string | (() => Promise<string>);
  readonly clientCertificate?: ClientCertificate | (() => Promise<ClientCertificate>);
  /** The name the server's certificate must bear. Default: the host of `server`. */
  readonly serverName?: string;
  /** Trust any certificate. Default false. */
  readonly insecureSkipVerify?: boolean;
}

export interface ClientCertificate {
  /** PEM, leaf first. */
  readonly cert: string;
  /** PEM. */
  readonly key: string;
}

/** Where a request's `authorization` header (or a client certificate) comes from. */
export interface Credentials {
  /** What to send with a request. Called for every request, so it caches. */
  current(signal?: AbortSignal): Promise<Credential>;
  /** The server answered 401 to `credential`. Resolves to whether asking `current` again may give something better. */
  refused(credential: Credential): Promise<boolean>;
}

export interface Credential {
  readonly authorization?: string;
  readonly clientCertificate?: ClientCertificate;
}

/** Act as somebody else: the server checks that the real user may. */
export interface Impersonation {
  readonly user: string;
  readonly uid?: string;
  readonly groups?: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}
