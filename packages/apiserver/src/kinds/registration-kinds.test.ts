import { expect, it } from 'vitest';

import type { JsonObject } from '../object.ts';
import { clientConfigErrors } from './registration-kinds.ts';

/** What the real server says of each, as `reason detail`. */
const scheme = (text: string) =>
  `FieldValueInvalid Invalid value: "${text}": 'https' is the only allowed URL scheme; desired format: https://host[/path]`;
const host = 'FieldValueInvalid Invalid value: "": host must be specified; desired format: https://host[/path]';

it.each<[string, readonly string[]]>([
  ['https://example.com/path', []],
  ['http://example.com', [scheme('http')]],
  ['', [scheme(''), host]],
  ['Not_A_Name!', [scheme(''), host]],
  [
    '/path?a=b#c',
    [
      scheme(''),
      host,
      'FieldValueInvalid Invalid value: "c": fragments are not permitted in the URL',
      'FieldValueInvalid Invalid value: "a=b": query parameters are not permitted in the URL',
    ],
  ],
  ['https://me@example.com', ['FieldValueInvalid Invalid value: "me": user information is not permitted in the URL']],
])('the address %j of a webhook', (url, expected) => {
  const errors = clientConfigErrors({ url }, 'webhooks[0].clientConfig');
  expect(errors.map(({ reason, detail }) => `${reason} ${detail}`)).toEqual(expected);
  expect(new Set(errors.map(({ field }) => field))).toEqual(
    new Set(expected.length > 0 ? ['webhooks[0].clientConfig.url'] : []),
  );
});

it('an address that is both or neither is told as such', () => {
  const service = { namespace: 'a', name: 'b' };
  const configs: readonly JsonObject[] = [{}, { url: 'https://example.com', service }, { url: '', service }];
  for (const config of configs)
    expect(clientConfigErrors(config, 'at')).toEqual([
      {
        reason: 'FieldValueRequired',
        field: 'at',
        detail: 'Required value: exactly one of url or service is required',
      },
    ]);
});
