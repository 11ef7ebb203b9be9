import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { skipped } from '@slipway/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { toPlain } from '../go/values.ts';
import { HelmfileCache } from './cache.ts';
import { HelmfileError } from './helmfile-error.ts';
import { loadHelmfile, type Helmfile, type LoadHelmfileOptions } from './helmfile.ts';
import type { LoadedPart } from './load-state.ts';
import type { NeedsPolicy } from './plan.ts';

let cwd: string;
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'slipway-helmfile-'));
});
afterEach(() => rmSync(cwd, { recursive: true, force: true }));

function write(files: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(cwd, name)), { recursive: true });
    writeFileSync(join(cwd, name), text);
  }
}

async function load(files: Readonly<Record<string, string>>, options: Partial<LoadHelmfileOptions> = {}) {
  write(files);
  return await loadHelmfile({ cwd, ...options });
}

async function refusal(files: Readonly<Record<string, string>>, options: Partial<LoadHelmfileOptions> = {}) {
  const error: unknown = await load(files, options).then(
    (helmfile) => valuesOfAll(helmfile),
    (cause: unknown) => cause,
  );
  if (!(error instanceof HelmfileError)) throw new Error('the state was accepted', { cause: error });
  return { code: error.code, message: error.message.replaceAll(`${cwd}/`, '') };
}

/** Values of releases are read when they are asked for; so are their mistakes. */
function valuesOfAll(helmfile: Helmfile): unknown {
  try {
    return helmfile.releases.map((release) => helmfile.valuesOf(release));
  } catch (error) {
    return error;
  }
}

const release = 'releases:\n  - name: web\n    chart: ./web\n';

describe('a state that is wrong is refused with file and path', () => {
  it.each([
    ['an unknown key', 'colour: red', 'InvalidState', 'helmfile.yaml: unknown key colour'],
    [
      'an unknown key of a release',
      `${release}    colour: red`,
      'InvalidState',
      'helmfile.yaml: unknown key releases[0].colour',
    ],
    [
      'a key only helmfile supports',
      'lockFilePath: locks.yaml',
      'Unsupported',
      'helmfile.yaml: lockFilePath is not supported',
    ],
    [
      'hooks of a release',
      `${release}    hooks: [{events: [presync], command: rm}]`,
      'Unsupported',
      'helmfile.yaml: releases[0].hooks is not supported',
    ],
    [
      'a text where a list belongs',
      'releases: web',
      'InvalidState',
      'helmfile.yaml: releases must be a list, but is a text',
    ],
    [
      'a text where a flag belongs',
      `${release}    installed: perhaps`,
      'InvalidState',
      'helmfile.yaml: releases[0].installed must be true or false, but is a text',
    ],
    [
      'a number among values',
      `${release}    values: [5]`,
      'InvalidState',
      'helmfile.yaml: releases[0].values[0] must be a path or a mapping, but is a number',
    ],
    ['a list as state', '- a: 1\nb: 2', 'InvalidState', 'helmfile.yaml: yaml: line '],
    ['a state without keys', '{releases: []}', 'InvalidState', 'helmfile.yaml: no key stands at the start of a line'],
    ['an empty state', '# nothing yet', 'InvalidState', 'helmfile.yaml: there is nothing in the state'],
    [
      'environments and releases in one part',
      `environments: {default: {}}\n${release}`,
      'InvalidState',
      'helmfile.yaml: environments and releases stand in one part',
    ],
    [
      'bases after releases',
      `${release}---\nbases: [a.yaml]\n`,
      'InvalidState',
      'helmfile.yaml: bases must be defined before releases',
    ],
    [
      'two merge keys in a mapping',
      `templates: {t: &t {chart: x}}\n${release}    <<: *t\n    <<: *t\n`,
      'InvalidState',
      'helmfile.yaml: yaml: line 6: mapping key "<<" already defined',
    ],
    ['a directory among values', `${release}    values: [.]`, 'NotFound', ' is no file'],
    [
      'a reference to a secret among values',
      `${release}    values: [{a: ref+vault://x}]`,
      'Unsupported',
      'helmfile.yaml: release "web" values[0]: references to secrets elsewhere',
    ],
    [
      'a key written twice',
      'namespace: a\nnamespace: b',
      'InvalidState',
      'helmfile.yaml: yaml: line 2: mapping key "namespace" already defined',
    ],
    [
      'wrong YAML in a later part',
      `values: []\n---\n\n---\n${release}   bad: x\n`,
      'InvalidState',
      'helmfile.yaml: yaml: line 8: ',
    ],
    [
      'a release without chart',
      'releases: [{name: web}]',
      'InvalidState',
      'helmfile.yaml: releases[0].chart is missing',
    ],
    ['a missing base', 'bases: [none.yaml]', 'NotFound', 'helmfile.yaml: bases: none.yaml does not exist'],
    [
      'a missing values file',
      `${release}    values: [none.yaml]`,
      'NotFound',
      'helmfile.yaml: release "web" values[0]: none.yaml does not exist',
    ],
    [
      'a missing environment file',
      'environments: {default: {values: [none.yaml]}}',
      'NotFound',
      'helmfile.yaml: environments.default.values[0]: none.yaml does not exist',
    ],
    [
      'a missing nested state',
      'helmfiles: [{path: none.yaml}]',
      'NotFound',
      'helmfile.yaml: helmfiles[0].path: none.yaml does not exist',
    ],
    [
      'a remote state',
      'helmfiles: ["git::https://example.com/x.git@helmfile.yaml"]',
      'Unsupported',
      'helmfile.yaml: helmfiles[0].path: git::https://example.com/x.git@helmfile.yaml: remote',
    ],
    [
      'two releases of one name',
      'releases: [{name: a, chart: x}, {name: a, chart: y}]',
      'InvalidState',
      'helmfile.yaml: releases: there are two releases "a"',
    ],
  ])('%s', async (_, text, code, message) => {
    const error = await refusal({ 'helmfile.yaml': text });
    expect(error.code).toBe(code);
    expect(error.message).toContain(message);
  });

  it('states that include each other', async () => {
    const error = await refusal({
      'helmfile.yaml': 'helmfiles: [a/helmfile.yaml]',
      'a/helmfile.yaml': 'helmfiles: [../helmfile.yaml]',
    });
    expect(error).toEqual({
      code: 'Circular',
      message: 'helmfiles include each other: helmfile.yaml -> a/helmfile.yaml -> helmfile.yaml',
    });
  });

  it('an environment that no state defines', async () => {
    const error = await refusal({ 'helmfile.yaml': release }, { environment: 'prod' });
    expect(error).toEqual({
      code: 'UndefinedEnvironment',
      message: 'helmfile.yaml: environment "prod" is not defined',
    });
  });

  it('expressions that never settle', async () => {
    const error = await refusal({
      'helmfile.yaml': 'releases:\n  - name: "{{ .Release.Name }}x"\n    chart: ./web\n',
    });
    expect(error.code).toBe('Circular');
    expect(error.message).toContain('helmfile.yaml: releases[0]');
  });
});

describe('a template', () => {
  const template = (expression: string) => ({ 'helmfile.yaml.gotmpl': `commonLabels:\n  a: {{ ${expression} }}\n` });

  it.each([
    ['calls a function that does not exist', 'toToml 1', 'TemplateFailed', 'function "toToml" not defined'],
    ['reads a value that is not there', '.Values.none', 'TemplateFailed', 'map has no entry for key "none"'],
    ['runs a program', 'exec "date" (list)', 'Forbidden', 'exec "date": templates may not run programs'],
    ['asks for a secret elsewhere', 'fetchSecretValue "ref+x"', 'Unsupported', 'function "fetchSecretValue"'],
    ['reads outside the tree', 'readFile "/etc/hostname"', 'Forbidden', 'the path is outside the tree'],
    ['climbs out of the tree', 'readDir "../.."', 'Forbidden', 'the path is outside the tree'],
    ['needs a variable that is not set', 'requiredEnv "NONE"', 'TemplateFailed', 'required env var `NONE` is not set'],
  ])('that %s is refused', async (_, expression, code, message) => {
    const error = await refusal(template(expression));
    expect(error.code).toBe(code);
    expect(error.message).toContain('helmfile.yaml.gotmpl, part 0: ');
    expect(error.message).toContain(message);
  });

  it('that renders no YAML is refused with its part', async () => {
    const error = await refusal({ 'helmfile.yaml.gotmpl': 'values: []\n---\nnamespace: a\n{{ "namespace: b" }}\n' });
    expect(error.message).toContain(
      'helmfile.yaml.gotmpl, part 1, as rendered: yaml: line 2: mapping key "namespace" already defined',
    );
  });

  it('runs a program where that is allowed', async () => {
    const helmfile = await load(
      { 'helmfile.yaml.gotmpl': 'values: [{out: {{ exec "say" (list "a" "b") | quote }}}]' },
      { exec: ({ command, args }) => [command, ...args].join(' ') },
    );
    expect(helmfile.environmentValues).toEqual({ out: 'say a b' });
  });

  it('does not print values in its errors', async () => {
    const error = await refusal({
      'helmfile.yaml.gotmpl': 'values: [{password: hunter2}]\n---\nnamespace: {{ .Values | get "none" }}\n',
    });
    expect(error.message).toContain('no value exist for key "none"');
    expect(error.message).not.toContain('hunter2');
  });
});

it('a template that calls itself for ever is an error, not the end', async () => {
  const error = await refusal({
    'helmfile.yaml.gotmpl': '{{ define "a" }}{{ include "a" . }}{{ end }}\nnamespace: {{ include "a" . }}',
  });
  expect(error.code).toBe('TemplateFailed');
  expect(error.message).toMatch(/nested reference name|without end/);
  expect(error.message.length).toBeLessThan(2000);
});

it('files that lead back to themselves are refused with the way round', async () => {
  const through = {
    'helmfile.yaml': 'helmfiles: [b/helmfile.yaml]',
    'b/helmfile.yaml': 'helmfiles: [../helmfile.yaml]',
  };
  expect((await refusal(through)).message).toMatch(
    /include each other: helmfile.yaml -> b.helmfile.yaml -> helmfile.yaml/,
  );
  const itself = { 'helmfile.yaml': 'helmfiles: [helmfile.yaml]' };
  expect((await refusal(itself)).message).toMatch(/include each other: helmfile.yaml -> helmfile.yaml/);
  const bases = { 'helmfile.yaml': 'bases: [base.yaml]', 'base.yaml': 'bases: [helmfile.yaml]' };
  expect((await refusal(bases)).message).toBe('base.yaml: bases: a base cannot have bases of its own');
});

it('links that lead back to themselves are refused with the way round', async () => {
  symlinkSync('.', join(cwd, 'loop'));
  const error = await refusal({ 'helmfile.yaml': 'helmfiles: [loop/helmfile.yaml]' });
  expect(error.code).toBe('Circular');
  expect(error.message).toMatch(/include each other: helmfile.yaml -> loop.helmfile.yaml$/);
});

it('states that each include two others are refused before they are millions', async () => {
  const states = Array.from({ length: 30 }, (_, index): [string, string] => [
    `${index}.yaml`,
    `helmfiles: [${index + 1}.yaml, ${index + 1}.yaml]`,
  ]);
  const files = { ...Object.fromEntries(states), '30.yaml': 'releases: []' };
  expect((await refusal(files, { path: '0.yaml' })).message).toMatch(/^\d+.yaml: more than 10000 states are included$/);
});

it('values in HCL are refused with their place', async () => {
  const files = { 'helmfile.yaml': 'environments: {default: {values: [a.hcl]}}', 'a.hcl': 'a: 1' };
  expect(await refusal(files)).toEqual({
    code: 'Unsupported',
    message: 'helmfile.yaml: environments.default.values[0]: a.hcl: values in HCL are not supported',
  });
});

describe('what is no file', () => {
  const pipesAreSkipped = skipped(spawnSync('mkfifo', ['--version']).error !== undefined, 'pipes: there is no mkfifo');
  const inPlaces = (path: string): [string, Record<string, string>][] => [
    ['values of a release', { 'helmfile.yaml': `${release}    values: [${path}]` }],
    ['values of an environment', { 'helmfile.yaml': `environments: {default: {values: [${path}]}}` }],
    ['a base', { 'helmfile.yaml': `bases: [${path}]` }],
    ['a file a template reads', { 'helmfile.yaml.gotmpl': `values: [{a: {{ readFile "${path}" }}}]` }],
  ];

  it.skipIf(pipesAreSkipped).each(inPlaces('pipe'))('is not waited for: a pipe as %s', async (_, files) => {
    execFileSync('mkfifo', [join(cwd, 'pipe')]);
    expect((await refusal(files)).message).toMatch(/pipe is no regular file$/);
  });

  it.each(inPlaces('/dev/zero').slice(0, 3))('is not read to its end: a device as %s', async (_, files) => {
    expect((await refusal(files)).message).toMatch(/\/dev\/zero is no regular file$/);
  });

  it.skipIf(pipesAreSkipped)('is not waited for when it only lies beside a template', async () => {
    execFileSync('mkfifo', [join(cwd, '_pipe.tpl')]);
    const files = { 'helmfile.yaml.gotmpl': 'values: [{a: {{ 1 }}}]' };
    expect((await refusal(files)).message).toMatch(/_pipe.tpl is no regular file$/);
  });

  it('is called what it is', async () => {
    mkdirSync(join(cwd, 'folder'));
    expect((await refusal({ 'helmfile.yaml': 'bases: [folder]' })).message).toBe(
      'helmfile.yaml: bases: folder is a directory',
    );
  });
});

it('a helper that leads out of the tree is not read', async () => {
  write({ 'elsewhere/text': 'secret', 'tree/helmfile.yaml.gotmpl': 'values: [{a: {{ 1 }}}]' });
  symlinkSync('../elsewhere/text', join(cwd, 'tree/_helper.tpl'));
  const options = { path: 'tree/helmfile.yaml.gotmpl', roots: [join(cwd, 'tree')] };
  expect(await refusal({}, options)).toMatchObject({ code: 'Forbidden' });
});

it('a link without end is named', async () => {
  symlinkSync('around', join(cwd, 'around'));
  expect((await refusal({ 'helmfile.yaml': `${release}    values: [around]` })).message).toBe(
    'around cannot be read (ELOOP)',
  );
});

it('releases that need each other are refused when they are planned', async () => {
  const helmfile = await load({
    'helmfile.yaml': 'releases: [{name: a, chart: x, needs: [b]}, {name: b, chart: x, needs: [a]}]',
  });
  expect(() => helmfile.plan()).toThrow(/helmfile.yaml: releases need each other: a -> b -> a/);
});

describe('a plan', () => {
  const chain = `releases:
  - {name: a, chart: x, needs: [b]}
  - {name: b, chart: x, needs: [c]}
  - {name: c, chart: x}
  - {name: d, chart: x}
`;
  const planned = async (selectors: string[], needs?: NeedsPolicy) =>
    (await load({ 'helmfile.yaml': chain }, { selectors })).plan(needs).map(({ name }) => name);

  it('leaves out what the selectors do not take, and keeps the order the needs between ask for', async () => {
    expect(await planned(['name=a', 'name=c'])).toEqual(['c', 'a']);
    await expect(planned(['name=a', 'name=c'], 'require')).rejects.toThrow(/"a" needs "b", which the selectors do not/);
  });

  it('includes needs of needs', async () => {
    expect(await planned(['name=a'], 'include')).toEqual(['c', 'b', 'a']);
  });

  it('tells releases of one name on two clusters apart, and their needs', async () => {
    const helmfile = await load({
      'helmfile.yaml': `releases:
  - {name: a, namespace: n, chart: x, kubeContext: one, needs: [b]}
  - {name: b, namespace: n, chart: x, kubeContext: one, needs: [two/n/b]}
  - {name: b, namespace: n, chart: x, kubeContext: two}
`,
    });
    expect(helmfile.plan().map(({ id }) => id)).toEqual(['two/n/b', 'one/n/b', 'one/n/a']);
  });

  it('takes the cluster of the environment for releases that name none', async () => {
    const environments = 'environments: {default: {kubeContext: ours}}\n---\n';
    const helmfile = await load({ 'helmfile.yaml': `${environments}${chain}` });
    expect(helmfile.releases.map(({ kubeContext }) => kubeContext)).toEqual(['ours', 'ours', 'ours', 'ours']);
  });
});

it('a namespace of the state counts for all its releases, in labels and templates too', async () => {
  const helmfile = await load(
    {
      'helmfile.yaml':
        'namespace: all\nreleases: [{name: a, namespace: own, chart: x, needs: [b], values: [v.gotmpl]}, {name: b, chart: x}]',
      'v.gotmpl': 'in: {{ .Release.Namespace }}',
    },
    { selectors: ['namespace=all'] },
  );
  expect(helmfile.plan().map(({ id }) => id)).toEqual(['all/b', 'all/a']);
  expect([...helmfile.valuesOf(helmfile.releases[0]!)]).toEqual([['in', 'all']]);
});

describe('values given from outside', () => {
  const state = {
    'helmfile.yaml.gotmpl':
      'values: [{list: [1, {a: 1, b: 2}, 3], map: {x: 1, y: 2}}]\n---\ncommonLabels:\n  all: {{ .Values | toJson | quote }}\n',
    'given.yaml': 'list: [7, 8]\nmap: {x: yes}\n',
    'given.yaml.gotmpl': 'name: {{ .Environment.Name }}\n',
  };
  const given = async (options: Partial<LoadHelmfileOptions>) => (await load(state, options)).environmentValues;

  it('replace lists when they come from files, which are read as helmfile reads values', async () => {
    expect(await given({ valuesFiles: ['given.yaml', 'given.yaml.gotmpl'] })).toEqual({
      list: [7, 8],
      map: { x: 'yes', y: 2 },
      name: 'default',
    });
  });

  it('change single items when they are set', async () => {
    expect(await given({ set: { list: [null, { a: 9 }], map: { x: null } } })).toEqual({
      list: [1, { a: 9, b: 2 }, 3],
      map: { x: 1, y: 2 },
    });
  });
});

describe('a cache', () => {
  const files = {
    'helmfile.yaml.gotmpl': 'values: [{text: {{ readFile "text.txt" }}, id: {{ uuidv4 }}}]',
    'text.txt': 'one',
  };

  it('sees that a file a template read has changed', async () => {
    const cache = new HelmfileCache();
    const state = { 'helmfile.yaml.gotmpl': 'values: [{text: {{ readFile "text.txt" }}}]' };
    const first = await load({ ...state, 'text.txt': 'one' }, { cache });
    const second = await load({ ...state, 'text.txt': 'two' }, { cache });
    expect([first.environmentValues, second.environmentValues]).toEqual([{ text: 'one' }, { text: 'two' }]);
  });

  it('sees that a file a pattern matches has appeared', async () => {
    const cache = new HelmfileCache();
    const state = { 'helmfile.yaml': 'environments: {default: {values: ["env/*.yaml"]}}', 'env/1.yaml': 'a: 1' };
    const first = await load(state, { cache });
    const second = await load({ ...state, 'env/2.yaml': 'b: 2' }, { cache });
    expect([first.environmentValues, second.environmentValues]).toEqual([{ a: 1 }, { a: 1, b: 2 }]);
  });

  it('sees that a directory with such a file has appeared', async () => {
    const cache = new HelmfileCache();
    const state = { 'helmfile.yaml': 'environments: {default: {values: ["env/*/v.yaml"]}}', 'env/1/v.yaml': 'a: 1' };
    const first = await load(state, { cache });
    const second = await load({ ...state, 'env/2/v.yaml': 'b: 2' }, { cache });
    expect([first.environmentValues, second.environmentValues]).toEqual([{ a: 1 }, { a: 1, b: 2 }]);
  });

  it('gives no load what it may not read itself', async () => {
    const cache = new HelmfileCache();
    const state = {
      'tree/helmfile.yaml.gotmpl': 'values: [{text: {{ readFile "../text.txt" }}}]',
      'text.txt': 'one',
    };
    const path = 'tree/helmfile.yaml.gotmpl';
    expect((await load(state, { cache, path })).environmentValues).toEqual({ text: 'one' });
    expect(await refusal(state, { cache, path, roots: [join(cwd, 'tree')] })).toMatchObject({ code: 'Forbidden' });
  });

  it('takes times in the zone of the load', async () => {
    const cache = new HelmfileCache();
    const state = { 'helmfile.yaml.gotmpl': 'values: [{day: {{ date "2" 86400 }}}]' };
    const dayIn = async (timeZone: string) =>
      (await load(state, { cache, functions: { timeZone } })).environmentValues['day'];
    expect([await dayIn('UTC'), await dayIn('America/New_York')]).toEqual([2, 1]);
  });

  it('drops what was not used for longest, and stays as small as it was told to be', async () => {
    const cache = new HelmfileCache(100_000);
    const kept: LoadedPart[] = [];
    const keep = cache.keepLayer.bind(cache);
    cache.keepLayer = (key, layer) => {
      kept.push(layer.part);
      keep(key, layer);
    };
    const text = 'x'.repeat(10_000);
    const loadNumber = async (number: number) => {
      await load({ 'helmfile.yaml': `values: [a.yaml]\n#${number}`, 'a.yaml': `text: ${text}` }, { cache });
      return kept.length;
    };
    for (let number = 0; number < 20; number += 1) await loadNumber(number);
    expect(await loadNumber(19)).toBe(20);
    expect(await loadNumber(0)).toBe(21);
  });

  it('sees that a variable has changed', async () => {
    const cache = new HelmfileCache();
    const state = { 'helmfile.yaml.gotmpl': 'values: [{home: {{ env "HOME" }}}]' };
    const homes = [
      await load(state, { cache, env: { HOME: 'a' } }),
      await load(state, { cache, env: { HOME: 'b' } }),
    ].map(({ environmentValues }) => environmentValues);
    expect(homes).toEqual([{ home: 'a' }, { home: 'b' }]);
  });

  it('renders a base once for all the states that begin with it', async () => {
    let calls = 0;
    const base = 'values: [{out: {{ readFile "text.txt" }}}]';
    const states = Object.fromEntries(
      ['a', 'b', 'c'].map((name) => [`helmfile.d/${name}.yaml`, 'bases: [base.gotmpl]\n']),
    );
    const cache = new HelmfileCache();
    const keep = cache.keepLayer.bind(cache);
    cache.keepLayer = (...args) => {
      calls += 1;
      keep(...args);
    };
    const helmfile = await load({ ...states, 'helmfile.d/base.gotmpl': base, 'helmfile.d/text.txt': 'one' }, { cache });
    expect(helmfile.states.map(({ state }) => toPlain(state.values))).toEqual(Array(3).fill({ out: 'one' }));
    // The part of the state, and the part of the base within it.
    expect(calls).toBe(2);
  });

  it('does not keep what randomness made', async () => {
    const cache = new HelmfileCache();
    const ids = [await load(files, { cache }), await load(files, { cache })].map(
      (helmfile) => helmfile.environmentValues.id,
    );
    expect(ids[0]).not.toBe(ids[1]);
  });

  it('gives every load values of its own', async () => {
    const cache = new HelmfileCache();
    const state = { 'helmfile.yaml': `${release}    values: [values.yaml]`, 'values.yaml': 'a: {b: 1}' };
    const [first, second] = [await load(state, { cache }), await load(state, { cache })];
    first.valuesOf(first.releases[0]!).clear();
    expect(toPlain(second.valuesOf(second.releases[0]!))).toEqual({ a: { b: 1 } });
  });
});
