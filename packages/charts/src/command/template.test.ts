import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { CommandContext, FlagValues, Terminal } from '@slipway/kube';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { templateCommand } from './template.ts';

type Flags = NonNullable<typeof templateCommand.flags>;

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'slipway-template-'));
  const files = {
    'web/Chart.yaml': 'apiVersion: v2\nname: web\nversion: 1.0.0\n',
    'web/values.yaml': 'greeting: hello\n',
    'web/crds/kind.yaml': 'kind: CustomResourceDefinition\n',
    'web/templates/config.yaml':
      'kind: ConfigMap\nmetadata: {name: {{ .Release.Name }}, namespace: {{ .Release.Namespace }}}\ndata: {say: {{ .Values.greeting }}}\n',
    'web/templates/test.yaml': 'kind: Pod\nmetadata: {name: try, annotations: {helm.sh/hook: test}}\n',
    'more.yaml': 'greeting: salut\n',
  };
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), text);
  }
});
afterEach(async () => {
  await rm(folder, { recursive: true, force: true });
});

async function template(
  args: readonly string[],
  given: Partial<FlagValues<Flags>> = {},
  more: Partial<Terminal> = {},
): Promise<string> {
  let out = '';
  const lists = ['values', 'set', 'set-string', 'set-json', 'set-file', 'set-literal', 'show-only', 'api-versions'];
  const flags = { namespace: 'default', ...Object.fromEntries(lists.map((name) => [name, []])), ...given };
  const terminal = {
    out: (text: string) => void (out += text),
    readInput: async () => 'greeting: piped\n',
    cwd: folder,
    env: {},
    ...more,
  } as unknown as Terminal;
  await templateCommand.run!({ args, flags, terminal } as unknown as CommandContext<Flags>);
  return out;
}

describe('slipway chart template', () => {
  it('refuses a name that no release can have', async () => {
    await expect(template(['Shop_1', 'web'])).rejects.toThrow("'Shop_1' cannot be the name of a release");
    await expect(template(['a'.repeat(54), 'web'])).rejects.toThrow('at most 53');
    await expect(template(['shop.1', 'web'])).resolves.toContain('name: shop.1');
  });

  it('tells the process that it ends soon, and prints object by object', async () => {
    const said: string[] = [];
    const more = { endsSoon: () => said.push('ends soon'), out: (text: string) => said.push(text) };
    await template(['shop', 'web'], { 'include-crds': true }, more as unknown as Partial<Terminal>);
    expect(said.flatMap((text) => /^ends soon|(?<=# Source: ).*/.exec(text)?.[0] ?? [])).toEqual([
      'ends soon',
      'web/crds/kind.yaml',
      'web/templates/config.yaml',
      'web/templates/test.yaml',
    ]);
  });

  it('passes definitions on as the bytes they are, where bytes are taken', async () => {
    const bytes: Buffer[] = [];
    const more = { outBytes: (piece: Uint8Array) => void bytes.push(Buffer.from(piece)) };
    const text = await template(['shop', 'web'], { 'include-crds': true }, more);
    expect(bytes.map(String)).toEqual(['kind: CustomResourceDefinition\n']);
    expect(text).toContain('---\n# Source: web/crds/kind.yaml\n\n---\n# Source: web/templates/config.yaml\n');
    bytes.length = 0;
    await template(['shop', 'web'], {}, more);
    expect(bytes).toEqual([]);
  });

  it('prints what helm template prints', async () => {
    expect(await template(['shop', 'web'], { namespace: 'ns', set: ['greeting=hi'], 'include-crds': true })).toBe(
      [
        '---\n# Source: web/crds/kind.yaml\nkind: CustomResourceDefinition\n',
        '---\n# Source: web/templates/config.yaml\nkind: ConfigMap',
        'metadata: {name: shop, namespace: ns}',
        'data: {say: hi}',
        '---\n# Source: web/templates/test.yaml\nkind: Pod\nmetadata: {name: try, annotations: {helm.sh/hook: test}}\n\n',
      ].join('\n'),
    );
  });

  it('takes values from files, standard input and flags, the flags last', async () => {
    expect(await template(['web'], { values: ['more.yaml'] })).toContain('say: salut');
    expect(await template(['web'], { values: ['more.yaml', '-'] })).toContain('say: piped');
    expect(await template(['web'], { values: ['more.yaml'], 'set-string': ['greeting=7'] })).toContain('say: 7');
  });

  it('names the release by a template, and shows only what is asked for', async () => {
    const out = await template(['web'], {
      'name-template': '{{ "SHOP" | lower }}-1',
      'show-only': ['templates/con*.yaml'],
    });
    expect(out).toBe(
      '---\n# Source: web/templates/config.yaml\nkind: ConfigMap\nmetadata: {name: shop-1, namespace: default}\ndata: {say: hello}\n\n',
    );
    expect(await template(['web'], { 'skip-tests': true })).not.toContain('kind: Pod');
  });

  it.each([
    [['nowhere'], {}, 'not found'],
    [['web'], { 'show-only': ['templates/nope.yaml'] }, 'could not find template templates/nope.yaml in chart'],
    [['web'], { set: ['a'] }, 'key "a" has no value'],
    [['web'], { values: ['absent.yaml'] }, 'absent.yaml cannot be read'],
    [['web'], { 'kube-version': 'new' }, 'invalid kube version'],
    [['web'], { 'name-template': '{{ nothing }}' }, /^--name-template: .*function "nothing" not defined/],
  ] as const)('says what is wrong: %j %j', async (args, flags, message) => {
    await expect(template(args, flags as Partial<FlagValues<Flags>>)).rejects.toThrow(message);
  });

  it.each([
    [['web', 'shop'], {}, /name of the release stands before/],
    [['web'], { values: ['absent.yaml'] }, /look at the path/],
    [['web'], { values: ['web/templates/config.yaml'] }, /correct the values/],
    [['web'], { set: ['a'] }, /write key=value/],
    [['web'], { 'set-json': ['a={'] }, /texts take double quotes/],
    [['web'], { 'set-file': ['a=absent'] }, /look at the path/],
  ] as const)(
    'what is wrong with the words it is called with ends it with code 2: %j %j',
    async (args, flags, hint) => {
      const failed = template(args, flags as Partial<FlagValues<Flags>>);
      await expect(failed).rejects.toMatchObject({ exitCode: 2, hint: expect.stringMatching(hint) as string });
    },
  );
});
