import { expect, it } from 'vitest';
import { foreignRequests } from './foreign-request.ts';

const atHome = foreignRequests({ host: '127.0.0.1', tls: false });
const refused = (headers: Record<string, string>, door = atHome) => door(headers)?.status.code;

it.each([
  'localhost',
  'localhost:16443',
  'LOCALHOST:16443',
  'localhost.:16443',
  'any.localhost:80',
  '127.0.0.1',
  '127.0.0.1:16443',
  '127.1.2.3:1',
  '[::1]:16443',
  'kubernetes.default.svc:443',
])('a program may call the server %s', (host) => {
  expect(refused({ host })).toBeUndefined();
});

it.each([
  '',
  'evil.example:16443',
  'localhost.evil.example',
  '127.0.0.1.evil.example:16443',
  '127.0.0.1@evil.example',
  'evil.example@127.0.0.1',
  'evillocalhost',
  '0.0.0.0:16443',
  '192.168.1.1:16443',
  '[::ffff:7f00:1]:16443',
  '[::1].evil.example',
  '2130706433',
  '127.1',
  '0x7f.0.0.1',
  'localhost, evil.example',
])('nobody may call it %j', (host) => {
  expect(refused({ host })).toBe(403);
});

it('a server on all addresses answers to any address but to no other name, unless it was allowed', () => {
  const door = foreignRequests({ host: '0.0.0.0', tls: false, allowedHosts: ['Box.example'] });
  expect(refused({ host: '192.168.1.1:16443' }, door)).toBeUndefined();
  expect(refused({ host: '[fe80::1]:16443' }, door)).toBeUndefined();
  expect(refused({ host: 'box.example:16443' }, door)).toBeUndefined();
  expect(refused({ host: 'evil.example:16443' }, door)).toBe(403);
});

it.each([
  'http://evil.example',
  'null',
  'http://localhost:3000',
  'https://localhost:16443',
  'http://localhost:16443.evil.example',
])('a page of %s may not use it', (origin) => {
  expect(refused({ host: 'localhost:16443', origin })).toBe(403);
});

it('its own origin may', () => {
  expect(refused({ host: 'localhost:16443', origin: 'http://localhost:16443' })).toBeUndefined();
});

it.each([
  ['cross-site', 403],
  ['same-site', 403],
  ['cross-site, none', 403],
  ['same-origin', undefined],
  ['none', undefined],
])('Sec-Fetch-Site: %s is %j', (site, code) => {
  expect(refused({ host: 'localhost', 'sec-fetch-site': site })).toBe(code);
});
