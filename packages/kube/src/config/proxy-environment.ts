import { BlockList, isIP } from 'node:net';

/** The proxy the environment asks for (`HTTPS_PROXY`, `HTTP_PROXY`, `NO_PROXY`, also in lower case), as kubectl understands it. */
export function proxyFromEnvironment(
  server: URL,
  env: Readonly<Record<string, string | undefined>>,
): string | undefined {
  const pick = (name: string) => env[name] || env[name.toLowerCase()] || undefined;
  const proxy = server.protocol === 'https:' ? pick('HTTPS_PROXY') : pick('HTTP_PROXY');
  if (proxy === undefined || isExempt(server, pick('NO_PROXY') ?? '')) return undefined;
  return proxy.includes('://') ? proxy : `http://${proxy}`;
}

function isExempt(server: URL, list: string): boolean {
  const host = server.hostname.replace(/^\[|\]$/g, '').toLowerCase();
  if (host === 'localhost' || host === '::1' || host.startsWith('127.')) return true;
  const port = server.port || (server.protocol === 'https:' ? '443' : '80');
  return list
    .split(',')
    .map((rule) => rule.trim().toLowerCase())
    .filter((rule) => rule !== '')
    .some((rule) => matches(rule, host, port));
}

function matches(rule: string, host: string, port: string): boolean {
  if (rule === '*') return true;
  if (rule.includes('/')) return inNetwork(rule, host);
  const withPort = /^(.+):(\d+)$/.exec(rule);
  if (withPort && isIP(rule) === 0) return withPort[2] === port && matches(withPort[1]!, host, port);
  const name = rule.replace(/^\*?\./, '.');
  if (name.startsWith('.')) return host.endsWith(name);
  return host === name || (isIP(host) === 0 && host.endsWith(`.${name}`));
}

function inNetwork(rule: string, host: string): boolean {
  const [network = '', prefix = ''] = rule.split('/');
  const family = isIP(network);
  if (family === 0 || isIP(host) !== family || !/^\d{1,3}$/.test(prefix)) return false;
  const type = family === 6 ? 'ipv6' : 'ipv4';
  if (Number(prefix) > (family === 6 ? 128 : 32)) return false;
  const block = new BlockList();
  block.addSubnet(network, Number(prefix), type);
  return block.check(host, type);
}
