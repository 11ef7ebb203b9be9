import { bytesToText, textToBytes } from '../go/bytes.ts';
import { quote } from '../go/quote.ts';

/** Go's `net/url`, as far as sprig shows it. */
export interface UrlParts {
  scheme: string;
  host: string;
  hostname: string;
  path: string;
  query: string;
  opaque: string;
  fragment: string;
  userinfo: string;
}

export function parseUrl(text: string): UrlParts {
  const hash = text.indexOf('#');
  const parts = parseWithoutFragment(hash < 0 ? text : text.slice(0, hash));
  if (hash >= 0) parts.fragment = unescapePart(text.slice(hash + 1), failing(text));
  return parts;
}

function failing(text: string): (why: string) => never {
  return (why) => {
    throw new Error(`parse ${quote(text)}: ${why}`);
  };
}

function parseWithoutFragment(text: string): UrlParts {
  const fail = failing(text);
  if (/\p{Cc}/u.test(text.replace(/[\u0080-\u009f]/g, ''))) fail('net/url: invalid control character in URL');
  let rest = text;
  const parts: UrlParts = {
    scheme: '',
    host: '',
    hostname: '',
    path: '',
    query: '',
    opaque: '',
    fragment: '',
    userinfo: '',
  };
  if (rest.startsWith(':')) fail('missing protocol scheme');
  const scheme = /^([a-zA-Z][a-zA-Z0-9+.-]*):/.exec(rest);
  if (scheme) {
    parts.scheme = scheme[1]!.toLowerCase();
    rest = rest.slice(scheme[0].length);
  }
  const question = rest.indexOf('?');
  if (question >= 0) {
    parts.query = rest.slice(question + 1);
    rest = rest.slice(0, question);
  }
  if (!rest.startsWith('/')) {
    if (parts.scheme !== '') return { ...parts, opaque: rest };
    const segment = rest.split('/', 1)[0]!;
    if (segment.includes(':')) fail('first path segment in URL cannot contain colon');
  }
  if (rest.startsWith('//')) {
    const slash = rest.indexOf('/', 2);
    const authority = slash < 0 ? rest.slice(2) : rest.slice(2, slash);
    rest = slash < 0 ? '' : rest.slice(slash);
    const at = authority.lastIndexOf('@');
    parts.host = checkHost(authority.slice(at + 1), parts.scheme, fail);
    if (at >= 0) parts.userinfo = normaliseUser(authority.slice(0, at), fail);
    parts.hostname = parts.host.replace(/:\d*$/, '').replace(/^\[(.*)\]$/, '$1');
  }
  parts.path = unescapePart(rest, fail);
  return parts;
}

function checkHost(host: string, scheme: string, fail: (why: string) => never): string {
  if (host.lastIndexOf('[') > 0) fail('invalid IP-literal');
  if (host.startsWith('[') && !host.includes(']')) fail("missing ']' in host");
  // The web has one port; others name several hosts, each with its own.
  const isWeb = scheme === 'http' || scheme === 'https';
  const port = (host.startsWith('[') ? /\]([^\]]*)$/ : isWeb ? /(:.*)$/s : /(:[^:]*)$/).exec(host)?.[1] ?? '';
  if (!/^(?::\d*)?$/.test(port)) fail(`invalid port ${quote(port)} after host`);
  const bad = /[ "<>\\^`{|}]/.exec(host);
  if (bad) fail(`invalid character ${quote(bad[0])} in host name`);
  // What is ASCII stands for itself there.
  const ascii = /%[0-7][0-9a-fA-F]/.exec(host.replaceAll('%25', ''));
  if (ascii) fail(`invalid URL escape ${quote(ascii[0])}`);
  return unescapePart(host, fail);
}

function normaliseUser(userinfo: string, fail: (why: string) => never): string {
  if (!/^[A-Za-z0-9\-._:~!$&'()*+,;=%@]*$/.test(userinfo)) fail('net/url: invalid userinfo');
  const colon = userinfo.indexOf(':');
  const name = escapePart(unescapePart(colon < 0 ? userinfo : userinfo.slice(0, colon), fail), userSafe);
  return colon < 0 ? name : `${name}:${escapePart(unescapePart(userinfo.slice(colon + 1), fail), userSafe)}`;
}

const userSafe = /[A-Za-z0-9\-_.~$&+,;=]/;
const hostSafe = /[A-Za-z0-9\-_.~!$&'()*+,;=:[\]<>"]/;
const pathSafe = /[A-Za-z0-9\-_.~$&+,/:;=@]/;
const fragmentSafe = /[A-Za-z0-9\-_.~$&+,/:;=?@!()*]/;

function unescapePart(text: string, fail: (why: string) => never): string {
  if (!text.includes('%')) return text;
  const bad = /%(?![0-9a-fA-F]{2}).{0,2}/s.exec(text);
  if (bad) fail(`invalid URL escape ${quote(bad[0])}`);
  const bytes: number[] = [];
  const raw = textToBytes(text);
  for (let i = 0; i < raw.length; i += 1) {
    if (raw[i] === 0x25) {
      bytes.push(Number.parseInt(String.fromCharCode(raw[i + 1]!, raw[i + 2]!), 16));
      i += 2;
    } else bytes.push(raw[i]!);
  }
  return bytesToText(Uint8Array.from(bytes));
}

function escapePart(text: string, safe: RegExp): string {
  let escaped = '';
  for (const byte of textToBytes(text)) {
    const char = String.fromCharCode(byte);
    escaped += byte < 0x80 && safe.test(char) ? char : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
  }
  return escaped;
}

function userIn(userinfo: string): string {
  try {
    return parseUrl(`proto://${userinfo}@host`).userinfo;
  } catch (error) {
    throw new Error(`unable to parse userinfo in dict: ${(error as Error).message}`, { cause: error });
  }
}

export function joinUrl(parts: UrlParts): string {
  const user = parts.userinfo === '' ? '' : userIn(parts.userinfo);
  let url = parts.scheme === '' ? '' : `${parts.scheme}:`;
  if (parts.opaque !== '') url += parts.opaque;
  else {
    if (parts.scheme !== '' || parts.host !== '' || user !== '') {
      if (parts.host !== '' || parts.path !== '' || user !== '') url += '//';
      if (user !== '') url += `${user}@`;
      url += escapePart(parts.host, hostSafe);
    }
    const path = parts.path === '*' ? '*' : escapePart(parts.path, pathSafe);
    if (path !== '' && !path.startsWith('/') && parts.host !== '') url += '/';
    if (url === '' && path.split('/', 1)[0]!.includes(':')) url += './';
    url += path;
  }
  if (parts.query !== '') url += `?${parts.query}`;
  if (parts.fragment !== '') url += `#${escapePart(parts.fragment, fragmentSafe)}`;
  return url;
}
