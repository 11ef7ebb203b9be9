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
  const fail = (why: string): never => {
    throw new Error(`parse ${quote(text)}: ${why}`);
  };
  if (/\p{Cc}/u.test(text.replace(/[\u0080-\u009f]/g, ''))) fail('net/url: invalid control character in URL');
  const hash = text.indexOf('#');
  const fragment = hash < 0 ? '' : unescapePart(text.slice(hash + 1), fail);
  let rest = hash < 0 ? text : text.slice(0, hash);
  const parts: UrlParts = {
    scheme: '',
    host: '',
    hostname: '',
    path: '',
    query: '',
    opaque: '',
    fragment,
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
    if (at >= 0) parts.userinfo = normaliseUser(authority.slice(0, at), fail);
    parts.host = checkHost(authority.slice(at + 1), fail);
    parts.hostname = parts.host.replace(/:\d*$/, '').replace(/^\[(.*)\]$/, '$1');
  }
  parts.path = unescapePart(rest, fail);
  return parts;
}

function checkHost(host: string, fail: (why: string) => never): string {
  const port = /:([^\]:]*)$/.exec(host);
  if (port && !/^\d*$/.test(port[1]!)) fail(`invalid port ${quote(`:${port[1]}`)} after host`);
  const bad = /[ "<>\\^`{|}]/.exec(host);
  if (bad) fail(`invalid character ${quote(bad[0])} in host name`);
  return unescapePart(host, fail);
}

function normaliseUser(userinfo: string, fail: (why: string) => never): string {
  if (!/^[A-Za-z0-9\-._:~!$&'()*+,;=%@]*$/.test(userinfo)) fail('net/url: invalid userinfo');
  const colon = userinfo.indexOf(':');
  const name = escapePart(unescapePart(colon < 0 ? userinfo : userinfo.slice(0, colon), fail), userSafe);
  return colon < 0 ? name : `${name}:${escapePart(unescapePart(userinfo.slice(colon + 1), fail), userSafe)}`;
}

const userSafe = /[A-Za-z0-9\-_.~$&+,;=]/;
const pathSafe = /[A-Za-z0-9\-_.~$&+,/:;=@!'()*]/;
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

export function joinUrl(parts: UrlParts): string {
  let url = parts.scheme === '' ? '' : `${parts.scheme}:`;
  if (parts.opaque !== '') url += parts.opaque;
  else {
    const user = parts.userinfo === '' ? '' : parseUrl(`proto://${parts.userinfo}@host`).userinfo;
    if (parts.scheme !== '' || parts.host !== '' || user !== '') {
      if (parts.host !== '' || parts.path !== '' || user !== '') url += '//';
      if (user !== '') url += `${user}@`;
      url += parts.host;
    }
    const path = escapePart(parts.path, pathSafe);
    if (path !== '' && !path.startsWith('/') && parts.host !== '') url += '/';
    if (url === '' && path.split('/', 1)[0]!.includes(':')) url += './';
    url += path;
  }
  if (parts.query !== '') url += `?${parts.query}`;
  if (parts.fragment !== '') url += `#${escapePart(parts.fragment, fragmentSafe)}`;
  return url;
}
