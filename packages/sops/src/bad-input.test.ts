import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';

import { decrypt, edit, encrypt, generateAgeKey, type FormatName, SopsError } from './index.ts';

let key: { identity: string; recipient: string };
beforeAll(async () => {
  key = await generateAgeKey();
});

const seal = async (plain: string | Buffer, format: FormatName = 'yaml'): Promise<Buffer> =>
  await encrypt(plain, { format, recipients: [key.recipient] });
const unseal = async (sealed: string | Buffer, format: FormatName = 'yaml'): Promise<Buffer> =>
  await decrypt(sealed, { format, identities: [key.identity] });
const refusal = async (work: Promise<unknown>): Promise<SopsError> =>
  await work.then(
    () => expect.unreachable('it was accepted'),
    (error: unknown) => {
      if (error instanceof SopsError) return error;
      throw error;
    },
  );

describe('bytes that are no text', () => {
  test.each(['yaml', 'json'] as const)('are refused with their line in %s, and never replaced', async (format) => {
    const plain = Buffer.from(format === 'yaml' ? 'a: x\nb: caf\xe9\n' : '{"a": "x",\n"b": "caf\xe9"}', 'latin1');
    const error = await refusal(seal(plain, format));
    expect(error.message).toBe('the file holds bytes that are not UTF-8 in line 2');
    await expect(edit(await seal('a: x\n'), plain, { format: 'yaml', identities: [key.identity] })).rejects.toThrow(
      'not UTF-8',
    );
  });

  test('come back from a value of a dotenv file, but are refused in a key', async () => {
    for (const name of ['A', 'A_unencrypted']) {
      const plain = Buffer.from(`${name}=caf\xe9\\n\xff\nB=\xc3\xa9\n`, 'latin1');
      expect(await unseal(await seal(plain, 'dotenv'), 'dotenv')).toEqual(plain);
    }
    const error = await refusal(seal(Buffer.from('A=1\n\xe9=1\n', 'latin1'), 'dotenv'));
    expect(error.message).toBe('line 2: holds bytes that are not UTF-8');
  });

  test('are text where a byte order mark says UTF-16', async () => {
    const little = Buffer.from('\ufeffa: é\n', 'utf16le');
    for (const plain of [little, Buffer.from(little).swap16()]) {
      expect((await unseal(await seal(plain))).toString()).toBe('a: é\n');
    }
  });
});

describe('a file that is too much', () => {
  test.each([
    ['lists on one line of YAML', `a:\n  ${'- '.repeat(20_000)}x\n`, 'yaml'],
    ['flow lists of YAML', `a: ${'['.repeat(20_000)}${']'.repeat(20_000)}\n`, 'yaml'],
    ['lists of JSON', `{"a": ${'['.repeat(20_000)}${']'.repeat(20_000)}}`, 'json'],
  ] as const)('by its depth is refused: %s', async (_what, plain, format) => {
    const { code, message } = await refusal(seal(plain, format));
    expect(code).toBe('input');
    expect(message).toMatch(/nested more than 500 levels deep|RESOURCE_EXHAUSTION/);
  });

  test('by its values is refused before all of it is read', async () => {
    const { message } = await refusal(seal(`a: [${'1,'.repeat(1_600_000)}]\n`));
    expect(message).toBe('the file has more than 500000 values, with what its aliases stand for');
  }, 60_000);

  test.each([
    ['json', `[${'1,'.repeat(500_001)}1]`, '{"a": ', '}'],
    ['dotenv', 'A=1\n'.repeat(500_001), '', ''],
  ] as const)('by its values is refused in %s, too', async (format, values, before, after) => {
    const { message } = await refusal(seal(`${before}${values}${after}`, format));
    expect(message).toBe('the file has more than 500000 values');
  });

  test('by its comments is not: a run of them of any length is read and written', async () => {
    const plain = `${'# x\n'.repeat(130_000)}a:\n${'    # y\n'.repeat(130_000)}    b: 1\n`;
    const rule = { unencryptedSuffix: 'a' };
    const sealed = await encrypt(plain, { format: 'yaml', recipients: [key.recipient], rule });
    expect((await unseal(sealed)).toString() === plain).toBe(true);
  }, 60_000);

  test('an empty one has nothing to encrypt', async () => {
    expect((await refusal(seal(''))).message).toBe('the file is empty');
  });
});

describe('an encrypted value', () => {
  test.each([
    ['the base64 of URLs', (part: string) => part.replace(/^../, '-_')],
    ['base64 without its end', (part: string) => part.replace(/=+$/, '')],
    ['something else in its base64', (part: string) => `*${part}`],
  ])('with %s is refused, as sops does', async (_what, change) => {
    const sealed = (await seal('a: some texts\n')).toString().replace(/(?<=data:)[^,]+/, change);
    expect((await refusal(unseal(sealed))).code).toBe('tampered');
  });

  test('made of many beginnings takes no longer than another', async () => {
    const bomb = `ENC[AES256_GCM,data:${'a,iv:a,tag:a,type:'.repeat(20_000)}x`;
    const sealed = (await seal('a: some text\n')).toString().replace(/ENC\[[^\]]*\]/, bomb);
    expect((await refusal(unseal(sealed))).code).toBe('tampered');
  });
});

describe('a sops block of the wrong type', () => {
  test.each([
    ['mac', /"mac": "[^"]*"/, '"mac": {}', 'sops.mac: expected a string'],
    ['lastmodified', /"lastmodified": "[^"]*"/, '"lastmodified": "soon"', 'sops.lastmodified: expected a time'],
    ['lastmodified', /"lastmodified": "[^"]*"/, '"lastmodified": true', 'sops.lastmodified: expected a string'],
    ['version', /"version": "[^"]*"/, '"version": []', 'sops.version: expected a string'],
    ['a rule', /"unencrypted_suffix": "[^"]*"/, '"encrypted_regex": false', 'sops.encrypted_regex: expected a string'],
    [
      'mac_only_encrypted',
      /"version"/,
      '"mac_only_encrypted": {}, "version"',
      'sops.mac_only_encrypted: expected true',
    ],
    ['age', /"age": \[[^\]]*\]/, '"age": {}', 'sops.age: expected a list'],
    ['a key', /"age": \[[^\]]*\]/, '"age": [7]', 'sops.age[0]: expected a map'],
    ['a recipient', /"recipient": "[^"]*"/, '"recipient": null', 'sops.age[0].recipient: missing'],
    ['an armored file', /"enc": "[^"]*"/, '"enc": [1]', 'sops.age[0].enc: expected a string'],
  ])('in %s is refused with the field', async (_what, found, put, message) => {
    const sealed = (await seal('{"a": "hunter2"}', 'json')).toString();
    const changed = sealed.replace(found, put);
    expect(changed).not.toBe(sealed);
    const error = await refusal(unseal(changed, 'json'));
    expect(error.code).toBe('metadata');
    expect(error.message).toContain(message);
  });

  test.each([
    ['broken', (armor: string) => armor.replace('\\n', '\\n!')],
    ['cut', (armor: string) => armor.slice(0, armor.length / 2)],
    ['no armor', () => 'hello'],
  ])('in an armored file that is %s opens for nobody', async (_what, change) => {
    const sealed = (await seal('{"a": "hunter2"}', 'json')).toString();
    const error = await refusal(unseal(sealed.replace(/(?<="enc": ")[^"]*/, change), 'json'));
    expect(error.code).toBe('no-key');
  });
});

test('any byte of a sealed file that is changed leaves the values as they were, or the file is refused', async () => {
  const plain = {
    yaml: '# note\na: hunter2\nb:\n    - 1\n    - true # x\n    - 1.5\nc_unencrypted: clear\n',
    json: '{"a": "hunter2", "b": [1, true, 1.5, null], "c_unencrypted": "clear"}',
    dotenv: '# note\nA=hunter2\nB=hunter23\nC_unencrypted=clear\n',
    binary: 'any bytes',
  };
  const values = (opened: Buffer, format: string) =>
    opened
      .toString()
      .split('\n')
      // The name of a value that stays clear is signed by nothing, with sops as well.
      .map((line) => line.replace(/^.*_unencrypted/, 'clear'))
      .map((line) => (format === 'json' ? line : line.replace(/ *#.*/, '')).trimEnd())
      .filter(Boolean);
  for (const format of ['yaml', 'json', 'dotenv', 'binary'] as const) {
    const sealed = await seal(plain[format], format);
    const expected = values(await unseal(sealed, format), format);
    await fc.assert(
      fc.asyncProperty(fc.nat(sealed.length - 1), fc.nat(255), fc.nat(2), async (at, byte, cut) => {
        const changed = Buffer.concat([sealed.subarray(0, at), Buffer.of(byte), sealed.subarray(at + cut)]);
        const opened = await unseal(changed, format).catch((error: unknown) => {
          expect(error).toBeInstanceOf(SopsError);
          expect(String(error)).not.toMatch(/hunter2|any bytes/);
        });
        if (opened) expect(values(opened, format)).toEqual(expected);
      }),
      { numRuns: 60 },
    );
  }
}, 60_000);
