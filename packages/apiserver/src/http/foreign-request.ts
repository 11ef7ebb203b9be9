import { ApiError } from '../api-error.ts';

type Headers = Readonly<Record<string, string | readonly string[] | undefined>>;

export interface DoorOptions {
  /** Where the server was asked to listen. */
  readonly host: string;
  readonly tls: boolean;
  /** Further names it may be called by. */
  readonly allowedHosts?: readonly string[];
}

/** Names of the API server inside a cluster. Nobody on the internet can own them. */
const clusterNames = [
  'kubernetes',
  'kubernetes.default',
  'kubernetes.default.svc',
  'kubernetes.default.svc.cluster.local',
];

/**
 * Keeps web pages out. A browser on this machine reaches every port of it, on behalf of any page: under a name of the page's own
 * that suddenly means 127.0.0.1 (DNS rebinding), or across origins. Programs send no `Origin`, and call the server by the name in
 * their kubeconfig.
 */
export function foreignRequests({
  host,
  tls,
  allowedHosts = [],
}: DoorOptions): (headers: Headers) => ApiError | undefined {
  const everyAddress = host === '0.0.0.0' || host === '::';
  const names = new Set([...clusterNames, host, ...allowedHosts].map(nameOf));
  const mayBeCalled = (name: string) =>
    names.has(name) || isLoopback(name) || (everyAddress && (isIpv4(name) || name.includes(':')));

  return (headers) => {
    const called = text(headers['host']);
    const name = nameOf(called);
    if (!mayBeCalled(name)) {
      return refusal(
        `this server is not called ${JSON.stringify(name)}; use localhost or 127.0.0.1, or start it with this name among its allowed hosts`,
      );
    }
    const origin = text(headers['origin']);
    if (origin !== '' && origin.toLowerCase() !== `${tls ? 'https' : 'http'}://${called.toLowerCase()}`) {
      return refusal(`web pages of ${JSON.stringify(origin)} may not use this server`);
    }
    const site = text(headers['sec-fetch-site']);
    if (site !== '' && site !== 'same-origin' && site !== 'none') {
      return refusal('web pages of other sites may not use this server');
    }
    return undefined;
  };
}

function refusal(message: string): ApiError {
  return new ApiError({ code: 403, reason: 'Forbidden', message });
}

/** A header sent twice is a list to some; here it is a text that nothing allows. */
function text(value: string | readonly string[] | undefined): string {
  return typeof value === 'string' ? value : (value?.join(', ') ?? '');
}

/** `LocalHost.:80` → `localhost`, `[::1]:80` → `::1`. */
function nameOf(host: string): string {
  const lower = host.trim().toLowerCase();
  if (lower.startsWith('[')) return /^\[([0-9a-f:.]+)\](?::\d*)?$/.exec(lower)?.[1] ?? lower;
  // More than one colon without brackets is an address as options give it.
  if (lower.indexOf(':') !== lower.lastIndexOf(':')) return lower;
  return lower.replace(/:\d*$/, '').replace(/\.$/, '');
}

function isLoopback(name: string): boolean {
  return (
    name === 'localhost' || name.endsWith('.localhost') || name === '::1' || (isIpv4(name) && name.startsWith('127.'))
  );
}

function isIpv4(name: string): boolean {
  return /^(?:\d{1,3}\.){3}\d{1,3}$/.test(name);
}
