import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { humanDuration } from './ages.ts';
import { dnsLabel, dnsSubdomain, labelValue, pathSegment, portName, qualifiedName } from './names.ts';

describe('names', () => {
  it('says what a subdomain is made of', () => {
    expect(dnsSubdomain('Bad_Name')).toEqual([
      "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
    ]);
    expect(dnsSubdomain('a.b-c.d')).toEqual([]);
    expect(dnsLabel('a.b')).toEqual(['must not contain dots']);
  });

  it('joins examples with the commas of the real server', () => {
    expect(qualifiedName('bad key')).toEqual([
      "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
    ]);
    expect(qualifiedName('example.com/MyName')).toEqual([]);
    expect(qualifiedName('/x')).toEqual(['prefix part must be non-empty']);
  });

  it('lets path segments be nearly anything', () => {
    expect(pathSegment('system:node')).toEqual([]);
    expect(pathSegment('a/b')).toEqual(["may not contain '/'"]);
    expect(pathSegment('..')).toEqual(["may not be '..'"]);
  });

  it('wants letters in port names', () => {
    expect(portName('80')).toEqual(['must contain at least one letter (a-z)']);
    expect(portName('-a--b-')).toEqual(['must not contain consecutive hyphens', 'must not begin or end with a hyphen']);
  });

  it('takes every label as a subdomain and as a label value', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/), (name) => {
        expect(dnsLabel(name)).toEqual([]);
        expect(dnsSubdomain(name)).toEqual([]);
        expect(labelValue(name)).toEqual([]);
        expect(qualifiedName(name)).toEqual([]);
      }),
    );
  });
});

it.each([
  [0, '0s'],
  [119, '119s'],
  [120, '2m'],
  [190, '3m10s'],
  [600, '10m'],
  [3 * 3600, '3h'],
  [3 * 3600 + 60, '3h1m'],
  [10 * 3600, '10h'],
  [3 * 86_400 + 4 * 3600, '3d4h'],
  [8 * 86_400, '8d'],
  [3 * 365 * 86_400, '3y'],
  [-5, '<invalid>'],
])('shows %i seconds as %s', (seconds, text) => {
  expect(humanDuration(seconds * 1000)).toBe(text);
});
