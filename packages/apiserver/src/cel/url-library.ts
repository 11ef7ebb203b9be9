import type { Environment } from '@marcbachmann/cel-js';

class Url {
  readonly url: URL;
  readonly raw: string;
  constructor(text: string) {
    this.raw = text;
    // A path alone is a valid URL for Go; a base that cannot be meant makes it one here.
    this.url = new URL(text, 'relative://relative.invalid');
  }
  get isRelative(): boolean {
    return this.raw.startsWith('/');
  }
}

function parse(text: string): Url {
  if (!/^(?:\/|[A-Za-z][A-Za-z0-9+.-]*:\/)/.test(text) || /\s/.test(text)) {
    throw new Error(
      `URL parse error during conversion from string: parse ${JSON.stringify(text)}: invalid URI for request`,
    );
  }
  return new Url(text);
}

/** Kubernetes' URL functions. */
export function registerUrls(environment: Environment): void {
  const define = (signature: string, handler: (...values: never[]) => unknown): void => {
    environment.registerFunction(signature, handler as (...values: unknown[]) => unknown);
  };
  environment.registerType('Url', { ctor: Url, fields: {} });
  define('url(string): Url', parse);
  define('isURL(string): bool', (text: string) => {
    try {
      parse(text);
      return true;
    } catch {
      return false;
    }
  });
  define('Url.getScheme(): string', (url: Url) => (url.isRelative ? '' : url.url.protocol.replace(/:$/, '')));
  define('Url.getHost(): string', (url: Url) => (url.isRelative ? '' : url.url.host));
  define('Url.getHostname(): string', (url: Url) =>
    url.isRelative ? '' : url.url.hostname.replace(/^\[(.*)\]$/, '$1'),
  );
  define('Url.getPort(): string', (url: Url) => {
    const given = /^[^/]*\/\/[^/?#]*:(\d+)(?:[/?#]|$)/.exec(url.raw);
    return given?.[1] ?? url.url.port;
  });
  define('Url.getEscapedPath(): string', (url: Url) => {
    const path = url.url.pathname;
    return path === '/' && !/^[^/]*\/\/[^/]*\//.test(url.raw) && !url.isRelative ? '' : path;
  });
  define('Url.getQuery(): map<string, list<string>>', (url: Url) => {
    const result = new Map<string, string[]>();
    for (const [key, value] of url.url.searchParams) result.set(key, [...(result.get(key) ?? []), value]);
    return result;
  });
}
