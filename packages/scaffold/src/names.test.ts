import { describe, expect, test } from 'vitest';

import { checkGroup, checkProjectName, kindNames, titleOf } from './names.ts';

describe('the forms of a kind', () => {
  test.each([
    ['Boat', { camel: 'boat', kebab: 'boat', plural: 'boats' }],
    ['BackupPlan', { camel: 'backupPlan', kebab: 'backup-plan', plural: 'backupplans' }],
    ['DNSRecord', { camel: 'dnsRecord', kebab: 'dns-record', plural: 'dnsrecords' }],
    ['Proxy', { camel: 'proxy', kebab: 'proxy', plural: 'proxies' }],
    ['S3Bucket', { camel: 's3Bucket', kebab: 's3-bucket', plural: 's3buckets' }],
  ])('%s', (kind, forms) => {
    expect(kindNames(kind)).toEqual({ kind, ...forms });
  });

  test.each(['boat', 'Back-up', 'Boat!', '', '9Lives', 'B'.repeat(42)])('%j is none', (kind) => {
    expect(() => kindNames(kind)).toThrow(`'${kind}' cannot be the name of a kind`);
  });
});

test.each(['My-Operator', '-a', 'a-', '9a', 'a_b', 'a'.repeat(41), '.', ''])('%j is no name of a project', (name) => {
  expect(() => checkProjectName(name)).toThrow('cannot be the name of an operator');
});

test.each(['example', 'Example.org', 'a..b', '-a.b'])('%j is no group', (group) => {
  expect(() => checkGroup(group)).toThrow('cannot be the group of kinds');
});

test('a title has words', () => {
  expect(titleOf('my-first-operator')).toBe('My First Operator');
});
