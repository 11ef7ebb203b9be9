import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { oracleInLane } from '@slipway/oracles';
import { skipped } from '@slipway/testing';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';

import {
  decrypt,
  edit,
  encrypt,
  findAgeIdentities,
  type FormatName,
  generateAgeKey,
  indentOf,
  rotate,
  type SelectionRule,
  setValue,
  unsetValue,
  updateKeys,
} from '../src/index.ts';
import { ruleFields } from '../src/selection.ts';
import { makeOpenSshKey } from './openssh-key.ts';

const sops = await oracleInLane('sops');
const without = skipped(!sops.available, `compared with sops: ${sops.available ? '' : sops.reason}`);

let folder: string;
let key: { identity: string; recipient: string };

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'real-sops-'));
  key = await generateAgeKey();
});
afterAll(async () => await rm(folder, { recursive: true }));

function run(...args: string[]): Buffer {
  return runWith({ HOME: folder, SOPS_AGE_KEY: key.identity, PATH: process.env['PATH'] }, args);
}

function runWith(env: Record<string, string | undefined>, args: readonly string[]): Buffer {
  if (!sops.available) throw new Error(sops.reason);
  return execFileSync(sops.path, args, {
    cwd: folder,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
    maxBuffer: 64 * 1024 * 1024,
  });
}

const extension: Record<FormatName, string> = { yaml: 'yaml', json: 'json', dotenv: 'env', binary: 'bin' };

async function theyEncrypt(
  plain: string | Buffer,
  format: FormatName,
  rule: object = {},
  config: object = {},
): Promise<Buffer> {
  const file = `plain.${extension[format]}`;
  const settings = { creation_rules: [{ age: key.recipient, ...rule }], ...config };
  await writeFile(join(folder, '.sops.yaml'), JSON.stringify(settings));
  await writeFile(join(folder, file), plain);
  return run('encrypt', file);
}

async function theyDecrypt(sealed: Buffer, format: FormatName): Promise<Buffer> {
  const file = `sealed.${extension[format]}`;
  await writeFile(join(folder, file), sealed);
  return run('decrypt', file);
}

const weEncrypt = async (plain: string | Buffer, format: FormatName, more: object = {}): Promise<Buffer> =>
  await encrypt(plain, { format, recipients: [key.recipient], ...more });
const weDecrypt = async (sealed: Buffer, format: FormatName): Promise<Buffer> =>
  await decrypt(sealed, { format, identities: [key.identity] });

const everything = `# top comment
apps:
    # about gitea
    gitea:
        password: "hunter2" # inline note
        port: 3000
        ratio: 1.5
        whole: 1.0
        switch: true
        word: "yes"
        when: 2026-11-15
        stamp: 2026-11-15T07:00:00.120+01:00
        empty: ""
        nothing: null
        big: 9007199254740993
        octal: 017
        hex: 0x1F
        under: 1_000
        large: 1e20
        tiny: 1.5e-7
        text: |
            line one
            line two
        emptyMap: {}
        emptyList: []
    clear_unencrypted: 12:30:45
list:
    # first of list
    - a # inline a
    - 2
    - nested:
          - x
    # trailing
anchor: &x
    k: v
copy: *x
# the end
`;

describe.skipIf(without)('with the real sops', () => {
  test('a file of every type travels sops → ours → sops → ours', async () => {
    const theirs = await theyEncrypt(everything, 'yaml');
    const first = await weDecrypt(theirs, 'yaml');
    expect(parse(first.toString())).toEqual(parse((await theyDecrypt(theirs, 'yaml')).toString()));
    const ours = await weEncrypt(first, 'yaml');
    const second = await theyDecrypt(ours, 'yaml');
    expect(parse(second.toString())).toEqual(parse(first.toString()));
    const again = await weDecrypt(await theyEncrypt(second, 'yaml'), 'yaml');
    expect(parse(again.toString())).toEqual(parse(first.toString()));
  });

  test('every comment survives both ways, and none is left sealed', async () => {
    const comments = ['top comment', 'about gitea', 'inline note', 'first of list', 'inline a', 'trailing', 'the end'];
    const opened = [
      await weDecrypt(await theyEncrypt(everything, 'yaml'), 'yaml'),
      await theyDecrypt(await weEncrypt(everything, 'yaml'), 'yaml'),
    ];
    for (const text of opened.map(String)) {
      for (const comment of comments) expect(text).toContain(`# ${comment}`);
      expect(text).not.toContain('ENC[');
    }
  });

  test.each([
    { encryptedRegex: '^(password|port)$' },
    { unencryptedRegex: 'list' },
    { encryptedSuffix: 'word' },
    { unencryptedSuffix: 'word' },
    { encryptedCommentRegex: 'gitea' },
    { unencryptedCommentRegex: 'gitea' },
  ] as SelectionRule[])('the rule %j chooses the same values', async (rule) => {
    const sealedKeys = (sealed: Buffer): string[] =>
      [...sealed.toString().matchAll(/^\s*(\w+): ENC\[/gm)].map(([, name]) => name!);
    const ours = await weEncrypt(everything, 'yaml', { rule });
    const [[field, text]] = Object.entries(rule) as [[keyof SelectionRule, string]];
    expect(sealedKeys(ours)).toEqual(sealedKeys(await theyEncrypt(everything, 'yaml', { [ruleFields[field]]: text })));
    expect(parse((await theyDecrypt(ours, 'yaml')).toString())).toEqual(
      parse((await weDecrypt(ours, 'yaml')).toString()),
    );
  });

  test('a MAC over encrypted values only is accepted both ways', async () => {
    const more = { macOnlyEncrypted: true, rule: { encryptedRegex: 'password' } };
    expect((await theyDecrypt(await weEncrypt(everything, 'yaml', more), 'yaml')).toString()).toContain('hunter2');
    const theirs = await theyEncrypt(everything, 'yaml', { mac_only_encrypted: true, encrypted_regex: 'password' });
    expect((await weDecrypt(theirs, 'yaml')).toString()).toContain('hunter2');
  });

  test('what edit and rotate write is accepted', async () => {
    const theirs = await theyEncrypt('a: one\nb: two\n', 'yaml');
    const options = { format: 'yaml', identities: [key.identity] } as const;
    const edited = await edit(theirs, 'a: one\nb: three\n', options);
    expect((await theyDecrypt(edited, 'yaml')).toString()).toBe('a: one\nb: three\n');
    const [line = ''] = /^a: .*$/m.exec(theirs.toString()) ?? [];
    expect(edited.toString()).toContain(line);
    expect((await theyDecrypt(await rotate(edited, options), 'yaml')).toString()).toBe('a: one\nb: three\n');
  });

  test.each([
    ['json', '{\n\t"b": "x",\n\t"7": 1,\n\t"a": [\n\t\t1.5,\n\t\tnull,\n\t\ttrue\n\t]\n}\n'],
    ['dotenv', '#about\nUSER=ann\nPEM=one\\ntwo\nEMPTY=\n'],
    ['binary', Buffer.from(Uint8Array.from({ length: 256 }, (_, index) => index))],
  ] as [FormatName, string | Buffer][])('%s travels both ways byte for byte', async (format, plain) => {
    expect(await theyDecrypt(await weEncrypt(plain, format), format)).toEqual(Buffer.from(plain));
    expect(await weDecrypt(await theyEncrypt(plain, format), format)).toEqual(Buffer.from(plain));
  });

  test.each(['ssh-ed25519', 'ssh-rsa'] as const)('a file for %s is opened by both, whoever sealed it', async (type) => {
    const ssh = makeOpenSshKey(type);
    const name = type === 'ssh-rsa' ? 'id_rsa' : 'id_ed25519';
    const env = { HOME: join(folder, type), PATH: process.env['PATH'] };
    await mkdir(join(env.HOME, '.ssh'), { recursive: true });
    await writeFile(join(env.HOME, '.ssh', name), ssh.pem, { mode: 0o600 });
    await writeFile(join(folder, '.sops.yaml'), '');
    const plain = 'a: hunter2\n';
    await writeFile(join(folder, 'plain.yaml'), plain);
    const theirs = run('encrypt', '--age', ssh.recipient, 'plain.yaml');
    const identities = await findAgeIdentities({ env, home: env.HOME, recipients: [ssh.recipient] });
    expect((await decrypt(theirs, { format: 'yaml', identities })).toString()).toBe(plain);
    const ours = await encrypt(plain, { format: 'yaml', recipients: [ssh.recipient] });
    expect(parse(ours.toString())).toMatchObject({ sops: { age: [{ recipient: ssh.recipient }] } });
    await writeFile(join(folder, 'sealed.yaml'), ours);
    expect(runWith(env, ['decrypt', 'sealed.yaml']).toString()).toBe(plain);
  });

  test('what sops refuses as tampered, ours refuses too', async () => {
    const sealed = (await theyEncrypt('list:\n    - one\n    - two\na: x\n', 'yaml')).toString();
    const [one, two] = [...sealed.matchAll(/ {4}- ENC.*\n/g)].map(([line]) => line) as [string, string];
    for (const changed of [sealed.replace(one + two, two + one), sealed.replace(one, ''), `b: 1\n${sealed}`]) {
      await expect(theyDecrypt(Buffer.from(changed), 'yaml')).rejects.toThrow('Command failed');
      await expect(weDecrypt(Buffer.from(changed), 'yaml')).rejects.toThrow(/MAC|encrypted value/);
    }
  });

  test('what is a line end in YAML 1.1 or not printable is read the same where it stands clear', async () => {
    const odd = '\u007f\u0085\u009f\u2028\u2029\ufeff\ufffe\uffff';
    const value = { [`a${odd}`]: 'sealed', b_unencrypted: odd };
    await writeFile(join(folder, 'sealed.yaml'), await weEncrypt(JSON.stringify(value), 'yaml'));
    expect(JSON.parse(run('decrypt', '--output-type', 'json', 'sealed.yaml').toString())).toEqual(value);
    await writeFile(join(folder, 'plain.json'), JSON.stringify(value));
    const theirs = run('encrypt', '--age', key.recipient, '--output-type', 'yaml', 'plain.json');
    expect(parse((await weDecrypt(theirs, 'yaml')).toString())).toEqual(value);
  });

  test.each([
    ['of two lines', 'a\nb'],
    ['that ends with a line end', 'a\n'],
    ['too long for one line of YAML', 'long '.repeat(300)],
  ])('a map under a key %s is read by both', async (_, name) => {
    const value = { [name]: { b: 'x', c: null, d: [1] } };
    await writeFile(join(folder, 'sealed.yaml'), await weEncrypt(JSON.stringify(value), 'yaml'));
    expect(JSON.parse(run('decrypt', '--output-type', 'json', 'sealed.yaml').toString())).toEqual(value);
    await writeFile(join(folder, 'plain.json'), JSON.stringify(value));
    const theirs = run('encrypt', '--age', key.recipient, '--output-type', 'yaml', 'plain.json');
    expect(parse((await weDecrypt(theirs, 'yaml')).toString())).toEqual(value);
  });

  test('tags, and words that look like others, mean the same to both, sealed and clear', async () => {
    const words = [
      '!!binary aGk=',
      '!!binary hg==',
      '!!timestamp 2026-01-01',
      '!!int "0x1f"',
      '!!int 9007199254740993',
      '!!float 3',
      '!!str 7',
      '! 7',
      '<<',
      '!custom 7',
      '!!omap [b: 1]',
      '1e400',
      '-1e400',
      '1e-400',
    ];
    const text = words.map((word, index) => `a${index}: ${word}\nb${index}_unencrypted: ${word}\n`).join('');
    const theirReading = async (sealed: Buffer): Promise<unknown> => {
      await writeFile(join(folder, 'sealed.yaml'), sealed);
      return JSON.parse(run('decrypt', '--output-type', 'json', 'sealed.yaml').toString());
    };
    const theirs = await theyEncrypt(text, 'yaml');
    const meaning = await theirReading(theirs);
    expect(await theirReading(await weEncrypt(text, 'yaml'))).toEqual(meaning);
    expect(await theirReading(await theyEncrypt(await weDecrypt(theirs, 'yaml'), 'yaml'))).toEqual(meaning);
  });

  test('a number of JSON that is too large for a float is refused by both', async () => {
    await expect(theyEncrypt('{"a": 1e400}', 'json')).rejects.toThrow('Command failed');
    await expect(weEncrypt('{"a": 1e400}', 'json')).rejects.toThrow('too large for a float');
  });

  test('a whole number from 2^63 up to 2^64 in YAML is refused by both', async () => {
    for (const digits of ['9223372036854775808', '18446744073709551615']) {
      const plain = `a: ${digits}\n`;
      await expect(theyEncrypt(plain, 'yaml')).rejects.toThrow('uint64');
      await expect(weEncrypt(plain, 'yaml')).rejects.toThrow('above the largest int64');
    }
  });

  test('what is set, taken out or given to others is what sops reads', async () => {
    const options = { format: 'yaml', identities: [key.identity] } as const;
    let sealed = await theyEncrypt('# all\na: 1\nb:\n    - x\n    # two\n    - y\nc: {d: e}\n', 'yaml');
    sealed = await setValue(sealed, ['b', 1], '{"n": 7}', options);
    sealed = await unsetValue(sealed, ['c', 'd'], options);
    const bob = await generateAgeKey();
    sealed = await updateKeys(sealed, { ...options, recipients: [bob.recipient, key.recipient] });
    const text = '# all\na: 1\nb:\n    - x\n    # two\n    - "n": 7\nc: {}\n';
    expect((await theyDecrypt(sealed, 'yaml')).toString()).toBe(text);
    for (const [path, extract] of [
      ['["a"]', ['a']],
      ['["b"][0]', ['b', 0]],
      ['["c"]', ['c']],
      ['', []],
    ] as const) {
      const theirs = run('decrypt', '--extract', path, 'sealed.yaml').toString();
      expect((await decrypt(sealed, { ...options, extract })).toString()).toBe(theirs);
    }
    const json = run('decrypt', '--output-type', 'json', 'sealed.yaml').toString();
    expect((await decrypt(sealed, { ...options, outputFormat: 'json' })).toString()).toBe(json);
  });

  /** What two programs write is the same but for what is random and the time. */
  const sameLayout = (sealed: Buffer): string =>
    sealed
      .toString()
      .replaceAll(/ENC\[AES256_GCM,.*?,type:(\w+)\]/g, 'ENC[$1]')
      .replaceAll(/-----BEGIN[^]*?-----END AGE ENCRYPTED FILE-----/g, 'AGE')
      .replaceAll(/(lastmodified"?[:=] ?"?)[\dT:-]+Z/g, '$1TIME');

  test.each([
    ['yaml', everything.replace('    # trailing\n', '')],
    ['yaml', 'a:\n    b:\n        c: 1\n        # of c\n    # of b\n# of a\nd: 1\n'],
    ['yaml', 'list:\n    # of one\n    - a: 1 # in line\n      b: [1, [2, {c: 3}]]\n    - - - 1\nend: {a: {}}\n'],
    ['yaml', '# one\na: 1\n---\n# two\nb: 2\n# end\n'],
    [
      'yaml',
      'a_unencrypted:\n    - yes\n    - it\'s\n    - "a: b"\n    - "# x"\n    - "a\\tb"\n    - |\n      x\n       y\n',
    ],
    ['json', '{"b":{"c":[1,{"d":null}],"e":{}},"a_unencrypted":[]}'],
    ['dotenv', '# about\nA=b c\nB=a\\nb\nC_unencrypted=1\n'],
    ['binary', 'text\n'],
  ] as [FormatName, string][])('a %s file is laid out the same by both: %j', async (format, plain) => {
    expect(sameLayout(await weEncrypt(plain, format))).toBe(sameLayout(await theyEncrypt(plain, format)));
  });

  test('files are indented the same by both as stores say', async () => {
    const plain =
      'a:\n    b:\n        - c: 1\n          d: [1, [2]]\n    # e\n    e_unencrypted: |4\n         f\n        g\n    f_unencrypted:\n        - |\n            h\n            i\n';
    for (const indent of [1, 2, 3, 5, 8, 12]) {
      const stores = { yaml: { indent }, json: { indent }, json_binary: { indent } };
      for (const [text, format] of [
        [plain, 'yaml'],
        ['{"a": {"b": [1, {}]}}', 'json'],
        ['text', 'binary'],
      ] as const) {
        const theirs = await theyEncrypt(text, format, {}, { stores });
        expect(await indentOf(join(folder, '.sops.yaml'), format)).toBe(indent);
        expect(sameLayout(await weEncrypt(text, format, { indent }))).toBe(sameLayout(theirs));
        const opened = await decrypt(theirs, { format, identities: [key.identity], indent });
        expect(opened.toString()).toBe((await theyDecrypt(theirs, format)).toString());
      }
    }
    await rm(join(folder, '.sops.yaml'));
  });

  test('rules for keys and MACs are not for a file of bytes, which both lay out the same', async () => {
    const rule = { encryptedRegex: '^pass', macOnlyEncrypted: true };
    const { macOnlyEncrypted, ...ours } = rule;
    const theirs = await theyEncrypt('text', 'binary', { encrypted_regex: '^pass', mac_only_encrypted: true });
    expect(sameLayout(await weEncrypt('text', 'binary', { rule: ours, macOnlyEncrypted }))).toBe(sameLayout(theirs));
  });

  test('what a YAML file says beside its values is laid out the same by both', async () => {
    for (const plain of [
      'a:\n    b:\n# of c\nc: 1\nd: {}\n    # of e\ne: []\n',
      'a: &a {b: 1}\nc: {<<: *a}\n',
      'a_unencrypted: |2\n    b\n  c\nb_unencrypted: [1e20, 1234567.5, 1.5e-7]\n',
      'a_unencrypted: 2026-11-15T07:00:00,1234567899Z\n',
      'a: 1\r\n# of b\r\nb: 2\r\n',
      '#\na: 1\n#\nb:\n    #\n    c: 1 #\n    #\n#\n',
      'a_unencrypted: |\n    the last line has no end',
    ]) {
      expect(sameLayout(await weEncrypt(plain, 'yaml'))).toBe(sameLayout(await theyEncrypt(plain, 'yaml')));
    }
  });

  test('a rule that goes by comments hides the same for both', async () => {
    for (const plain of ['a:\n# hide\nb: x\n', 'a: {}\n    # hide\nb: x\n', 'a: "x"\n    # hide\nb: x\n']) {
      const theirs = await theyEncrypt(plain, 'yaml', { encrypted_comment_regex: 'hide' });
      const ours = await weEncrypt(plain, 'yaml', { rule: { encryptedCommentRegex: 'hide' } });
      expect(sameLayout(ours)).toBe(sameLayout(theirs));
      expect(ours.toString()).toMatch(/^b: ENC\[/m);
    }
  });

  test('bytes that are no text in a dotenv file, and signs of HTML in JSON, are the same to both', async () => {
    const bytes = Buffer.from('A=caf\xe9\nB_unencrypted=\xff\n', 'latin1');
    expect(await theyDecrypt(await weEncrypt(bytes, 'dotenv'), 'dotenv')).toEqual(bytes);
    expect(await weDecrypt(await theyEncrypt(bytes, 'dotenv'), 'dotenv')).toEqual(bytes);
    const json = '{"a<b": "<&>", "c_unencrypted": "<&>"}';
    expect(sameLayout(await weEncrypt(json, 'json'))).toBe(sameLayout(await theyEncrypt(json, 'json')));
    const sealed = await weEncrypt(json, 'json');
    expect(await weDecrypt(sealed, 'json')).toEqual(await theyDecrypt(sealed, 'json'));
  });

  test('any string is written the same by both', async () => {
    const texts = [
      '',
      'a',
      ' a',
      'a ',
      'a: b',
      'a #b',
      '-',
      '- a',
      '-a',
      '?',
      ': a',
      'a:',
      '@',
      '`',
      '%',
      '!',
      '&a',
      '|',
      '>',
      "'",
      '"',
    ];
    texts.push(
      '~',
      'y',
      'Off',
      'oFF',
      '08',
      '1_0',
      '1:30',
      '.5',
      '...',
      '---',
      '日本',
      '😀',
      '\t',
      'a\nb',
      'a\n\nb\n\n',
    );
    const plain = JSON.stringify(Object.fromEntries(texts.map((text, index) => [`k${index}_unencrypted`, text])));
    expect(sameLayout(await weEncrypt(plain, 'yaml'))).toBe(sameLayout(await theyEncrypt(plain, 'yaml')));
  });

  test('a comment on any level is opened by both, whoever sealed it', async () => {
    const indent = (lines: readonly string[], first: string, rest: string): string[] =>
      lines.map((line, index) => (index === 0 ? first : rest) + line);
    const noted = (lines: readonly string[], before: boolean, after: boolean): string[] => [
      ...(before ? ['# note'] : []),
      ...lines,
      ...(after ? ['# note'] : []),
    ];
    const notes = fc.tuple(fc.boolean(), fc.boolean());
    const { map } = fc.letrec<{ map: string[]; value: string[] }>((tie) => ({
      map: fc
        .array(fc.tuple(tie('value'), notes), { minLength: 1, maxLength: 3 })
        .map((items) =>
          items.flatMap(([lines, [before, after]], at) =>
            noted(
              lines.length === 1 ? [`k${at}: ${lines[0]}`] : [`k${at}:`, ...indent(lines, '    ', '    ')],
              before,
              after,
            ),
          ),
        ),
      value: fc.oneof(
        { maxDepth: 3 },
        fc.constantFrom('word', '1 # note').map((text) => [text]),
        tie('map').map((lines) => (lines.length === 1 ? [...lines, 'more: 1'] : lines)),
        fc
          .array(tie('value'), { minLength: 2, maxLength: 3 })
          .map((elements) =>
            elements.flatMap((lines) =>
              indent(lines, lines[0]!.startsWith('#') ? '' : '- ', lines[0]!.startsWith('#') ? '' : '  '),
            ),
          )
          .filter((lines) => lines.every((line) => /^(- |  )/.test(line))),
      ),
    }));
    await fc.assert(
      fc.asyncProperty(map, async (lines) => {
        const plain = `${lines.join('\n')}\n`;
        for (const sealed of [await weEncrypt(plain, 'yaml'), await theyEncrypt(plain, 'yaml')]) {
          expect((await weDecrypt(sealed, 'yaml')).toString()).not.toContain('ENC[');
        }
        expect((await theyDecrypt(await weEncrypt(plain, 'yaml'), 'yaml')).toString()).not.toContain('ENC[');
      }),
      { numRuns: 20 },
    );
  });

  test('any tree of values is read the same by both', async () => {
    const leaf = fc.oneof(
      fc.string(),
      fc.constantFrom(
        'yes',
        '1_000',
        '0o7',
        '017',
        '2026-01-01',
        '.5',
        'a: b',
        '# x',
        ' lead',
        'trail ',
        'a\nb',
        'a\r\nb',
        '\u0085',
      ),
      fc.boolean(),
      fc.integer(),
      // JSON writes them in digits alone, which both refuse in YAML.
      fc.double({ noNaN: true, noDefaultInfinity: true }).filter((value) => value < 2 ** 63 || value >= 2 ** 64),
      fc.constant(null),
    );
    const name = fc.string({ minLength: 1, maxLength: 20 }).filter((text) => text !== 'sops' && !text.includes('\0'));
    const tree = fc.dictionary(name, fc.oneof(leaf, fc.array(leaf), fc.dictionary(name, leaf)), { minKeys: 1 });
    await fc.assert(
      fc.asyncProperty(tree, async (value) => {
        const ours = await weEncrypt(JSON.stringify(value), 'json');
        const asYaml = await weEncrypt(JSON.stringify(value), 'yaml');
        expect(JSON.parse((await theyDecrypt(ours, 'json')).toString())).toEqual(JSON.parse(JSON.stringify(value)));
        await writeFile(join(folder, 'sealed.yaml'), asYaml);
        const read = JSON.parse(run('decrypt', '--output-type', 'json', 'sealed.yaml').toString()) as unknown;
        expect(read).toEqual(JSON.parse(JSON.stringify(value)));
      }),
      { numRuns: 25 },
    );
    expect(await readFile(join(folder, 'sealed.yaml'))).toBeDefined();
  });
});
