import { inspect } from 'node:util';

import { describe, expect, test } from 'vitest';

import type { Client } from '../../src/client.ts';
import { createClient } from '../../src/client/create-client.ts';
import { parseJson } from '../../src/json.ts';
import { Secret } from '../../src/kinds/core-kinds.ts';
import { KubeError } from '../../src/kube-error.ts';
import type { TransportRequest } from '../../src/transport.ts';
import { scriptedTransport } from '../scripted-transport.ts';

/** Values as people put them into Secrets, and the texts by which each could be told. */
const canaries: readonly { name: string; value: unknown; tells: readonly string[] }[] = [
  { name: 'a number', value: 73314419220, tells: ['73314419220', '7.331441922e', '7.3314'] },
  { name: 'a large integer', value: parseJson('90071992547409931'), tells: ['90071992547409931', '9007199254740993'] },
  { name: 'a boolean', value: true, tells: ['true'] },
  { name: 'a text', value: 'canary-7331', tells: ['canary-7331', 'Y2FuYXJ5LTczMzE', 'canary'] },
  { name: 'base64', value: 'Y2FuYXJ5LTczMzE=', tells: ['Y2FuYXJ5', 'canary'] },
  { name: 'JSON', value: '{"user":"canary","key":7331}', tells: ['canary', '7331'] },
  {
    name: 'several lines',
    value: '-----BEGIN KEY-----\ncanary\n7331\n-----END KEY-----',
    tells: ['canary', '7331', 'BEGIN'],
  },
  { name: 'an object', value: { inner: 'canary-7331' }, tells: ['canary', '7331'] },
];

const key = { namespace: 'default', name: 'a' };
const secretWith = (value: unknown) => ({
  apiVersion: 'v1' as const,
  kind: 'Secret' as const,
  metadata: { ...key, uid: 'u', resourceVersion: '7' },
  stringData: { password: value } as Record<string, string>,
  data: { other: typeof value === 'string' ? Buffer.from(value).toString('base64') : value } as Record<string, string>,
});

const calls: Readonly<Record<string, (client: Client, value: unknown) => Promise<unknown>>> = {
  create: (client, value) => client.create(secretWith(value)),
  update: (client, value) => client.update(secretWith(value)),
  apply: (client, value) => client.apply(secretWith(value)),
  'merge patch': (client, value) =>
    client.patch(Secret, key, { type: 'merge', body: { stringData: { password: value } } }),
  'json patch': (client, value) =>
    client.patch(Secret, key, { type: 'json', operations: [{ op: 'test', path: '/data/password', value }] }),
  raw: (client, value) =>
    client.request({ method: 'POST', path: '/api/v1/namespaces/default/secrets', body: secretWith(value) }),
};

/** A server, or an admission webhook, that quotes whatever it was sent, in its message, in its causes and in a header. */
function quoting(code: number) {
  return ({ body = '' }: TransportRequest) => {
    const quoted = String(body);
    const values = quoted.replaceAll(/[{}"\\]/g, ' ');
    return {
      status: code,
      headers: { warning: `299 - "unknown ${values.replaceAll('\n', ' ')}"` },
      body: {
        kind: 'Status',
        code,
        reason: 'Invalid',
        message: `Secret in version "v1" cannot be handled: ${quoted} ${values} 7.331441922e+10`,
        details: {
          name: 'a',
          kind: 'secrets',
          causes: [{ reason: 'FieldValueInvalid', field: `data[${values}]`, message: `Invalid value: ${quoted}` }],
        },
      },
    };
  };
}

describe.each(canaries)('$name in a Secret', ({ value, tells }) => {
  test.each([400, 403, 409, 422, 500])('is in no text of an error, whatever a %i answer quotes', async (code) => {
    for (const [name, call] of Object.entries(calls)) {
      const warnings: string[] = [];
      const client = createClient({
        transport: scriptedTransport(quoting(code)),
        fieldManager: 'test',
        warn: (warning) => warnings.push(warning),
      });
      const error = await call(client, value).catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(KubeError);
      const { message, stack, status, cause } = error as KubeError;
      const told = [message, stack?.split('\n    at ')[0], JSON.stringify(status), inspect(cause), ...warnings].join(
        '\n',
      );
      for (const tell of tells)
        expect({ name, told: told.includes(tell) ? told : 'nothing' }).toEqual({ name, told: 'nothing' });
      expect(error).toMatchObject({ code, reason: 'Invalid', details: { name: 'a' } });
    }
  });

  test('is in no error about an answer that is not JSON', async () => {
    const torn = `{"data":{"password":${JSON.stringify(value)}`;
    const client = createClient({ transport: scriptedTransport(() => ({ body: torn })), fieldManager: 'test' });
    const error = await client.get(Secret, key).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ reason: 'BadAnswer' });
    for (const tell of tells) expect(inspect(error).split('\n    at ')[0]).not.toContain(tell);
    expect((error as Error).cause).toBeUndefined();
  });
});

test('what is wrong about a value is said without the value', async () => {
  const client = createClient({ transport: scriptedTransport(quoting(400)), fieldManager: 'test' });
  await expect(client.create(secretWith(73314419220))).rejects.toThrow(
    'the server refused create Secret.v1 default/a (400 Invalid) at data[…]: data.other is a number; values of a Secret are texts, ' +
      'so put it in quotes; stringData.password is a number; values of a Secret are texts, so put it in quotes',
  );
});
