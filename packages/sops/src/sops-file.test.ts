import fc from 'fast-check';
import { beforeAll, describe as suite, expect, test } from 'vitest';
import { parse } from 'yaml';

import {
  decrypt,
  describe,
  edit,
  encrypt,
  generateAgeKey,
  isEncrypted,
  rotate,
  setValue,
  SopsError,
  unsetValue,
  updateKeys,
} from './index.ts';

let alice: { identity: string; recipient: string };
let bob: { identity: string; recipient: string };

beforeAll(async () => {
  alice = await generateAgeKey();
  bob = await generateAgeKey();
});

const seal = async (text: string, more = {}): Promise<string> =>
  (await encrypt(text, { format: 'yaml', recipients: [alice.recipient], ...more })).toString();
const unseal = async (text: string): Promise<string> =>
  (await decrypt(text, { format: 'yaml', identities: [alice.identity] })).toString();

const example = `# all of it
apps:
    # about gitea
    gitea:
        password: hunter2 # ask Ann
        port: 3000
        ratio: 1.0
        enabled: true
        when: 2026-11-15T00:00:00Z
        note: ""
        nothing: null
        big: 9007199254740993
        pem: |
            one
            two
        none: {}
users:
    # the first
    - name: ann
    - "7"
# the end
`;

suite('a YAML file', () => {
  test('comes back as it was, with its comments, order and types', async () => {
    expect(await unseal(await seal(example))).toBe(example);
  });

  test('shows keys but no value and no comment', async () => {
    const sealed = await seal(example);
    for (const secret of ['hunter2', '3000', 'ask Ann', 'about gitea', 'ann', '9007199254740993']) {
      expect(sealed).not.toContain(secret);
    }
    expect(sealed).toContain('password: ENC[AES256_GCM,data:');
  });

  test('opens for each of its recipients, and for nobody else', async () => {
    const sealed = await seal('a: b\n', { recipients: [alice.recipient, bob.recipient] });
    expect(describe(sealed, 'yaml').age.map((key) => key.recipient)).toEqual([alice.recipient, bob.recipient]);
    expect((await decrypt(sealed, { format: 'yaml', identities: [bob.identity] })).toString()).toBe('a: b\n');
    const eve = await generateAgeKey();
    await expect(decrypt(sealed, { format: 'yaml', identities: [eve.identity] })).rejects.toThrow(
      /none of the 1 age identities/,
    );
    await expect(decrypt(sealed, { format: 'yaml', identities: [] })).rejects.toThrow(/no age identity/);
  });

  test('of several documents keeps them all', async () => {
    const text = 'a: b\n---\nc: d\n';
    expect(await unseal(await seal(text))).toBe(text);
  });

  test('writes what sops takes for a line end or refuses as escapes, in keys and in values that stay clear', async () => {
    const odd = '\u007f\u0085\u009f\u2028\u2029\ufeff\ufffe\uffff';
    const value = { [`a${odd}`]: 'sealed', b_unencrypted: `${odd}b\nc` };
    const sealed = await seal(JSON.stringify(value));
    const plain = await unseal(sealed);
    for (const character of odd) expect(sealed + plain).not.toContain(character);
    expect(parse(plain)).toEqual(value);
  });

  test.each([
    ['!!binary aGk=', 'hi'],
    ['!!binary hg==', '!!binary hg=='],
    ['!!timestamp 2026-01-01', '2026-01-01T00:00:00Z'],
    ['!!int "0x1f"', '31'],
    ['!!int 9007199254740993', '9007199254740993'],
    ['!!float 3', '3.0'],
    ['!!str 7', '"7"'],
    ['! 7', '7'],
    ['!!merge <<', '"<<"'],
    ['!custom 7', '"7"'],
  ])('reads %s as sops does, sealed and clear', async (text, meaning) => {
    for (const name of ['a', 'a_unencrypted']) {
      expect(await unseal(await seal(`${name}: ${text}\n`))).toBe(`${name}: ${meaning}\n`);
    }
  });

  test('keeps a merge key one', async () => {
    const opened = await unseal(await seal('a: &a {b: 1}\nc: {<<: *a}\n'));
    expect(opened).toBe('a:\n    b: 1\nc:\n    !!merge <<:\n        b: 1\n');
    expect(await unseal(await seal(opened))).toBe(opened);
  });

  test('reads a block at the end of a file that lacks its last line end without one, as sops does', async () => {
    expect(await unseal(await seal('a: |\n    one\n    two'))).toBe('a: |-\n    one\n    two\n');
    expect(await unseal(await seal('a: |\n    one\n    two\n'))).toBe('a: |\n    one\n    two\n');
  });

  test('reads the tag of a list as if it were not there', async () => {
    expect(await unseal(await seal('a: !!omap [b: 1]\n'))).toBe('a:\n    - b: 1\n');
  });

  test.each([
    ['of two lines', 'a\nb'],
    ['too long for one line', 'long '.repeat(300)],
  ])('a map under a key %s comes back', async (_, name) => {
    const value = { [name]: { b: 'x', c: null, d: [1, { e: 2, f: 3 }] }, z: 1 };
    expect(parse(await unseal(await seal(JSON.stringify(value))))).toEqual(value);
  });

  test('any tree of values comes back the same', async () => {
    const leaf = fc.oneof(
      fc.string(),
      fc.string({ unit: 'binary' }),
      fc.boolean(),
      fc.maxSafeInteger(),
      fc.double({ noNaN: true }),
    );
    const tree = fc.dictionary(
      fc.string({ minLength: 1 }).filter((key) => key !== 'sops'),
      fc.oneof(leaf, fc.array(leaf)),
    );
    await fc.assert(
      fc.asyncProperty(tree, async (value) => {
        const text = `${JSON.stringify(value)}\n`;
        const sealed = await encrypt(text, { format: 'json', recipients: [alice.recipient] });
        const back = await decrypt(sealed, { format: 'json', identities: [alice.identity] });
        expect(JSON.parse(back.toString())).toEqual(JSON.parse(text));
      }),
      { numRuns: 25 },
    );
  });
});

suite('comments', () => {
  test('belong to what they are indented for, and open there', async () => {
    const text = 'a:\n    b:\n        c: 1\n        # of c\n    # of b\n# of a\nd: 1\n';
    const sealed = await seal(text);
    expect(sealed.replaceAll(/#ENC\S+/g, '#')).toContain('\n        #\n    #\n#\nd: ');
    expect(await unseal(sealed)).toBe(text);
  });

  test('at the end of a map are where sops would open them', async () => {
    const text = 'a:\n    b:\n        - 1\n    # end\nc: 1\n';
    expect(await unseal(await seal(text))).toBe('a:\n    b:\n        - 1\n        # end\nc: 1\n');
  });

  test.each([
    [
      'before an element',
      'list:\n    # public\n    - name: ann\n      age: 7\n',
      'list:\n    # public\n    - name: ann\n',
    ],
    ['behind its dash', 'list:\n    - # public\n      name: ann\n', 'list:\n    # public\n    - name: ann\n'],
    ['behind the key of a map', 'map: # public\n    name: ann\n    age: 7\n', '# public\nmap:\n    name: ann\n'],
  ])('%s are about all of it for a rule that goes by comments', async (_where, text, clear) => {
    const sealed = await seal(text, { rule: { unencryptedCommentRegex: 'public' } });
    expect(sealed).toContain(clear);
    expect(sealed.split('\nsops:')[0]).not.toContain('ENC[');
    const hidden = await seal(text, { rule: { encryptedCommentRegex: 'public' } });
    expect(hidden).not.toContain('ann');
    expect(hidden).toContain('# public');
  });

  test.each([
    ['a key without a value', 'a:\n# hide\nb: hunter2\n'],
    ['a key without a value, farther in', 'a:\n    b:\n# hide\nc: hunter2\n'],
    ['a value, farther in', 'a: "x"\n    # hide\nb: hunter2\n'],
    ['an empty map', 'a: {}\n    # hide\nb: hunter2\n'],
    ['a dash without a value', 'l:\n    -\n    # hide\n    - hunter2\n'],
  ])('below %s are about what comes next', async (_where, text) => {
    const sealed = await seal(text, { rule: { encryptedCommentRegex: 'hide' } });
    expect(sealed).not.toContain('hunter2');
    expect((await unseal(sealed)).split('\n').findIndex((line) => line.includes('# hide'))).toBe(
      text.split('\n').findIndex((line) => line.includes('# hide')),
    );
    const clear = await seal(text, { rule: { unencryptedCommentRegex: 'hide' } });
    expect(clear).toContain('hunter2');
  });

  test('above a dash without a value stay there, also where the list is not indented', async () => {
    const sealed = await seal('a:\n- b\n# c\n-\nd:\n  - e\n  # f\n  -\n');
    expect(await unseal(sealed)).toBe('a:\n    - b\n    # c\n    - null\nd:\n    - e\n    # f\n    - null\n');
  });

  test('of a file whose lines end with CR LF hold no CR', async () => {
    expect(await unseal(await seal('# a\r\n# b\r\nc: 1 # d\r\n'))).toBe('# a\n# b\nc: 1 # d\n');
  });

  test('without text stay, and become no value of a list', async () => {
    const text = '#\n# a\n#\nb:\n    #\n    - 1\n    #\n    - 2\n    #\n';
    expect(await unseal(await seal(text))).toBe(text);
  });
});

suite('which values are encrypted', () => {
  const text = 'user: ann\nkey_clear: yes1\nstringData:\n    # pw: secret\n    a: one\n    b: two\n';

  test.each([
    ['unencryptedSuffix', '_clear', ['key_clear: yes1'], ['user: ann', 'a: one']],
    ['encryptedSuffix', 'user', ['a: one', 'key_clear: yes1'], ['user: ann']],
    ['encryptedRegex', '^(data|stringData)$', ['user: ann'], ['a: one', 'b: two']],
    ['unencryptedRegex', '^stringData$', ['a: one', 'b: two'], ['user: ann']],
    ['encryptedCommentRegex', 'secret', ['user: ann', 'b: two', '# pw: secret'], ['a: one']],
    ['unencryptedCommentRegex', 'secret', ['a: one', '# pw: secret'], ['user: ann', 'b: two']],
  ])('%s %s decides by the key path or the comment', async (field, value, clear, hidden) => {
    const sealed = await seal(text, { rule: { [field]: value } });
    for (const line of clear) expect(sealed).toContain(line);
    for (const line of hidden) expect(sealed).not.toContain(line);
    expect(await unseal(sealed)).toBe(text);
  });

  test('a file that names no rule has the default one', async () => {
    const sealed = (await seal('a: b\nc_unencrypted: d\n')).replace(/ +unencrypted_suffix: .*\n/, '');
    expect(await unseal(sealed)).toBe('a: b\nc_unencrypted: d\n');
  });

  test('a rule by comments that would match an encrypted comment is refused, as it could not be opened', async () => {
    await expect(seal('# x\na: b\n', { rule: { unencryptedCommentRegex: 'ENC' } })).rejects.toThrow(
      'unencrypted_comment_regex matches an encrypted comment',
    );
  });

  test('two rules at once are refused', async () => {
    await expect(seal(text, { rule: { encryptedRegex: 'a', encryptedSuffix: 'b' } })).rejects.toThrow(/only one of/);
  });

  test('a regular expression that would take for ever elsewhere is matched in linear time', async () => {
    const sealed = await seal(`${'a'.repeat(1000)}: b\n`, { rule: { encryptedRegex: '^(a+)+$x' } });
    expect(sealed).toContain('a: b\n');
  });
});

suite('a file that was tampered with', () => {
  const text = 'list:\n    - one\n    - two\na: first\nb: second\nc_unencrypted: clear\n';

  async function refused(change: (sealed: string) => string): Promise<SopsError> {
    const sealed = await seal(text);
    const changed = change(sealed);
    expect(changed).not.toBe(sealed);
    return await unseal(changed).then(
      () => expect.unreachable('it was accepted'),
      (error: unknown) => error as SopsError,
    );
  }

  test('by two list elements that changed places is refused', async () => {
    const error = await refused((sealed) => {
      const [one, two] = [...sealed.matchAll(/ {4}- ENC.*\n/g)].map(([line]) => line);
      return sealed.replace(one! + two!, two! + one!);
    });
    expect(error.code).toBe('tampered');
  });

  test('by a value in the place of another is refused', async () => {
    const error = await refused((sealed) =>
      sealed.replace(/^b: .*$/m, (/^a: (.*)$/m.exec(sealed)?.[0] ?? '').replace('a:', 'b:')),
    );
    expect(error.message).toMatch(/^b: /);
  });

  test.each([
    ['an element that was cut', (sealed: string) => sealed.replace(/ {4}- ENC.*\n/, '')],
    ['a clear value that was edited', (sealed: string) => sealed.replace('clear', 'other')],
    ['a value that was replaced by hand', (sealed: string) => sealed.replace(/^a: .*$/m, 'a: mine')],
    ['a value that was added', (sealed: string) => `d: 7\n${sealed}`],
    ['a shortened tag', (sealed: string) => sealed.replace(/tag:(\S{4})[^,]*,/, 'tag:$1,')],
    ['another time', (sealed: string) => sealed.replace(/lastmodified: "\d{4}/, 'lastmodified: "1999')],
  ])('%s is refused', async (_what, change) => {
    expect((await refused(change)).code).toBe('tampered');
  });

  test('a MAC that was removed is refused', async () => {
    const error = await refused((sealed) => sealed.replace(/^ {4}mac: .*\n/m, ''));
    expect(error.message).toBe('sops.mac: missing');
  });
});

suite('edit', () => {
  test('keeps the bytes of what did not change', async () => {
    const before = await seal(example);
    const after = (
      await edit(before, example.replace('3000', '3001'), { format: 'yaml', identities: [alice.identity] })
    ).toString();
    const changed = before.split('\n').filter((line) => !after.includes(line));
    expect(changed.map((line) => line.trim().split(':')[0])).toEqual(['port', 'mac']);
    expect(await unseal(after)).toContain('port: 3001');
  });

  test('keeps the bytes of each of several equal elements of a list', async () => {
    const before = await seal('a:\n    - x\n    - x\nb: 1\n');
    const options = { format: 'yaml', identities: [alice.identity] } as const;
    const after = (await edit(before, 'a:\n    - x\n    - x\n    - x\nb: 2\n', options)).toString();
    const elements = (text: string) => [...text.matchAll(/^ {4}- ENC.*$/gm)].map(([line]) => line);
    expect(elements(after).slice(0, 2)).toEqual(elements(before));
    expect(new Set(elements(after)).size).toBe(3);
  });

  test('that leaves nothing, or only comments, is refused', async () => {
    const options = { format: 'yaml', identities: [alice.identity] } as const;
    const sealed = await seal('a: b\n');
    await expect(edit(sealed, '', options)).rejects.toThrow('nothing is left');
    await expect(edit(sealed, '# gone\n', options)).rejects.toThrow('comments only');
  });

  test('that adds a sops block is refused', async () => {
    const options = { format: 'yaml', identities: [alice.identity] } as const;
    await expect(edit(await seal('a: b\n'), 'a: b\nsops: {}\n', options)).rejects.toThrow('top-level sops key');
  });

  test('of nothing returns the same bytes', async () => {
    const before = await seal(example);
    const after = await edit(before, example, { format: 'yaml', identities: [alice.identity] });
    expect(after.toString()).toBe(before);
  });
});

test('rotate encrypts everything anew, for other recipients if asked', async () => {
  const before = await seal(example);
  const after = await rotate(before, { format: 'yaml', identities: [alice.identity], recipients: [bob.recipient] });
  for (const [line] of before.matchAll(/ENC\[.*\]/g)) expect(after.toString()).not.toContain(line);
  expect((await decrypt(after, { format: 'yaml', identities: [bob.identity] })).toString()).toBe(example);
  await expect(decrypt(after, { format: 'yaml', identities: [alice.identity] })).rejects.toThrow(SopsError);
});

suite('one value', () => {
  const options = () => ({ format: 'yaml', identities: [alice.identity] }) as const;
  const text = '# all\na: 1 # one\nb:\n    - x\n    # two\n    - z\n';

  test('is set; the others keep their bytes, and the comments theirs', async () => {
    const before = await seal(text);
    const after = (await setValue(before, ['b', 1], '{"c": [true, 9007199254740993]}', options())).toString();
    const gone = before.split('\n').filter((line) => !after.includes(line));
    expect(gone.map((line) => line.trim().split(':')[0])).toEqual([expect.stringContaining('- ENC['), 'mac']);
    expect(await unseal(after)).toBe(text.replace('- z\n', '- c:\n        - true\n        - 9007199254740993\n'));
  });

  test('is taken out', async () => {
    const after = await unsetValue(await seal(text), ['a'], options());
    expect(await unseal(after.toString())).toBe('# all\n# one\nb:\n    - x\n    # two\n    - z\n');
  });

  test('that is there already leaves the file as it was', async () => {
    const before = await seal(text);
    expect((await setValue(before, ['a'], '1', options())).toString()).toBe(before);
  });

  test.each(['', 'hunter2', '1, "b": 2', '{"a": '])('that is not JSON is refused and not shown: %j', async (json) => {
    const error = await setValue(await seal(text), ['a'], json, options()).catch((thrown: unknown) => thrown as Error);
    expect(String(error)).toMatch(/^SopsError: the value: not valid JSON( at line 1, column \d+)?$/);
    expect(error).toMatchObject({ code: 'config', hint: `a text takes double quotes: '"text"'` });
  });

  test('cannot take the name of the sops block', async () => {
    await expect(setValue(await seal(text), ['sops'], '1', options())).rejects.toThrow('top-level sops key');
  });

  test.each([
    [['a'], 'yaml', '1\n'],
    [['b', 0], 'yaml', 'x'],
    [['b'], 'yaml', '- x\n# two\n- z\n'],
    [['b'], 'json', '[\n\t"x",\n\t"z"\n]'],
    [['a'], 'dotenv', '1'],
  ] as const)('%j comes out alone as %s', async (extract, outputFormat, expected) => {
    const sealed = await seal(text);
    expect((await decrypt(sealed, { ...options(), extract, outputFormat })).toString()).toBe(expected);
  });
});

suite('recipients', () => {
  const options = () => ({ format: 'yaml', identities: [alice.identity] }) as const;

  test('change without a new data key: values, MAC and time stay, and so do the keys of who stays', async () => {
    const before = await seal('# c\na: b\n');
    const after = (await updateKeys(before, { ...options(), recipients: [bob.recipient, alice.recipient] })).toString();
    expect(before.split('\n').filter((line) => !after.includes(line))).toEqual([]);
    expect(describe(after, 'yaml').age.map((key) => key.recipient)).toEqual([bob.recipient, alice.recipient]);
    const without = await updateKeys(after, { ...options(), recipients: [bob.recipient] });
    expect((await decrypt(without, { format: 'yaml', identities: [bob.identity] })).toString()).toBe('# c\na: b\n');
    await expect(decrypt(without, options())).rejects.toThrow('none of the 1 age identities');
    await expect(updateKeys(before, { ...options(), recipients: [] })).rejects.toThrow('no recipient');
  });

  test('that are the same leave the file as it was', async () => {
    const before = await seal('a: b\n');
    expect((await updateKeys(before, { ...options(), recipients: [alice.recipient] })).toString()).toBe(before);
  });

  test('of other services are kept by an edit, and nothing is done that would drop them', async () => {
    const pgp = '    pgp:\n        - created_at: "2026-01-01T00:00:00Z"\n          enc: x\n          fp: ABC\n';
    const sealed = (await seal('a: b\n')).replace('    unencrypted_suffix', `${pgp}    unencrypted_suffix`);
    expect((await edit(sealed, 'a: c\n', options())).toString()).toContain(pgp);
    await expect(rotate(sealed, options())).rejects.toThrow('sops.pgp: a data key cannot be wrapped');
    await expect(updateKeys(sealed, { ...options(), recipients: [bob.recipient] })).rejects.toThrow('sops.pgp');
  });

  test('in empty lists of an old file count as none', async () => {
    const old = '    kms: []\n    pgp: []\n    key_groups: []\n    shamir_threshold: 1\n    unencrypted_suffix';
    const sealed = (await seal('a: b\n')).replace('    unencrypted_suffix', old);
    expect(await unseal(sealed)).toBe('a: b\n');
    expect((await rotate(sealed, options())).toString()).not.toContain('kms');
  });
});

suite('other formats', () => {
  test('YAML becomes JSON and dotenv, sealed or opened', async () => {
    const text = '# c\na: 1\nb: x\n';
    const identities = [alice.identity];
    const opened = await decrypt(await seal(text), { format: 'yaml', identities, outputFormat: 'json' });
    expect(opened.toString()).toBe('{\n\t"a": 1,\n\t"b": "x"\n}\n');
    const sealed = await seal(text, { outputFormat: 'dotenv' });
    expect((await decrypt(sealed, { format: 'dotenv', identities })).toString()).toBe('# c\na=1\nb=x\n');
  });

  test('that hold one document take no file of several', async () => {
    const sealed = await seal('a: 1\n---\nb: 2\n');
    const options = { format: 'yaml', identities: [alice.identity], outputFormat: 'json' } as const;
    await expect(decrypt(sealed, options)).rejects.toThrow('2 documents, which json cannot');
    await expect(seal('a: 1\n---\nb: 2\n', { outputFormat: 'json' })).rejects.toThrow('2 documents');
  });

  test('a negative zero of JSON that stays clear keeps its sign, so that its MAC fits', async () => {
    const sealed = await encrypt('{"a_unencrypted": -0.0}', { format: 'json', recipients: [alice.recipient] });
    expect((await decrypt(sealed, { format: 'json', identities: [alice.identity] })).toString()).toContain('-0.0');
  });

  test.each([
    ['json', '{\n\t"b": "x",\n\t"7": 1,\n\t"a": [\n\t\t1.5,\n\t\tnull\n\t],\n\t"big": 9007199254740993\n}\n'],
    ['dotenv', '# about\nUSER=ann\nPEM=one\\ntwo\nEMPTY=\n'],
    ['binary', 'any text\u0000\n'],
  ] as const)('%s comes back byte for byte', async (format, text) => {
    const sealed = await encrypt(text, { format, recipients: [alice.recipient] });
    expect(sealed.toString()).not.toContain('ann');
    expect(isEncrypted(sealed, format)).toBe(true);
    expect((await decrypt(sealed, { format, identities: [alice.identity] })).toString()).toBe(text);
  });

  test('a rule about keys leaves no byte of a binary file clear', async () => {
    const sealed = await encrypt('hunter2', {
      format: 'binary',
      recipients: [alice.recipient],
      rule: { encryptedRegex: '^password$' },
    });
    expect(sealed.toString()).not.toContain('hunter2');
  });

  test('bytes that are no text come back byte for byte', async () => {
    const bytes = Uint8Array.from({ length: 256 }, (_, index) => index);
    const sealed = await encrypt(bytes, { format: 'binary', recipients: [alice.recipient] });
    expect(await decrypt(sealed, { format: 'binary', identities: [alice.identity] })).toEqual(Buffer.from(bytes));
  });
});

suite('bad input', () => {
  test.each([
    ['a list at the top', '- a\n', /top level of a YAML document has to be a map/],
    ['broken YAML, without quoting the line', 'password: "hunter2\n', /^not valid YAML: \w+ at line \d+, column \d+$/],
    ['a key that is a number', '7: a\n', /the key 7 is not a string/],
    ['an alias that contains itself', 'a: &a\n    b: *a\n', /contains itself/],
    ['the same key twice', 'a: 1\na: 2\n', /DUPLICATE_KEY at line 2/],
    ['a file of comments', '# a\n', /comments only/],
    ['a file that is encrypted already', 'a: b\nsops: {}\n', /encrypted already/],
  ])('%s is refused', async (_what, text, message) => {
    await expect(seal(text)).rejects.toThrow(message);
  });

  test('aliases that multiply are refused before they fill the memory', async () => {
    const lines = ['a0: &a0 [x, x, x, x, x, x, x, x, x, x]'];
    for (let level = 1; level < 9; level += 1) {
      lines.push(`a${level}: &a${level} [${Array.from({ length: 10 }, () => `*a${level - 1}`).join(', ')}]`);
    }
    await expect(seal(`${lines.join('\n')}\n`)).rejects.toThrow(/more than 500000 values/);
  });

  test('a file nested without end is refused', async () => {
    await expect(
      encrypt(`${'{"a":'.repeat(2000)}1${'}'.repeat(2000)}`, { format: 'json', recipients: [alice.recipient] }),
    ).rejects.toThrow(SopsError);
  });

  test.each([
    ['no recipient', [], /no recipient to encrypt for/],
    ['a recipient that is none', ['age1nonsense'], /'age1nonsense' is not an age recipient/],
  ])('%s is refused', async (_what, recipients, message) => {
    await expect(seal('a: b\n', { recipients })).rejects.toThrow(message);
  });

  test('a plain file is not taken for an encrypted one', async () => {
    await expect(unseal('a: b\n')).rejects.toThrow(/it is not encrypted/);
  });
});

test('a clear file of bytes is told from an encrypted one, with what to do', async () => {
  const failed = decrypt('hello\n', { format: 'binary', identities: ['AGE-SECRET-KEY-1'] });
  await expect(failed).rejects.toThrow('not an encrypted file of bytes: not valid JSON');
  await expect(failed).rejects.toMatchObject({ hint: 'encrypt it first, or name the format of the file' });
});
