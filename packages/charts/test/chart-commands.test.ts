import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { systemClock } from '@slipway/kube';
import { type Command } from '@slipway/kube/command';
import { callCommand } from '@slipway/testing/command';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

import { chartFiles } from '../src/chart/load.ts';
import { command } from '../src/command/chart-command.ts';
import { loadChart } from '../src/index.ts';
import { lintChart } from '../src/lint/lint-chart.ts';

const files = {
  'Chart.yaml': 'apiVersion: v2\nname: shop\nversion: 1.0.0\nappVersion: "2"\nicon: https://example.com/i.png\n',
  'values.yaml': '# how to greet\ngreeting: hello\n',
  'README.md': '# Shop\n',
  'crds/kind.yaml': 'apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\n',
  'templates/config.yaml':
    'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: {{ .Values.name | default "shop" }}}\ndata: {say: {{ required "say" .Values.greeting }}}\n',
  'templates/try.yaml': 'apiVersion: v1\nkind: Pod\nmetadata: {name: try, annotations: {helm.sh/hook: test}}\n',
};

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'chart-commands-'));
  for (const [name, text] of Object.entries(files)) await write(`shop/${name}`, text);
});
afterEach(async () => {
  await rm(folder, { recursive: true });
});

async function write(path: string, text: string): Promise<void> {
  await mkdir(dirname(join(folder, path)), { recursive: true });
  await writeFile(join(folder, path), text);
}

/** What a command prints. */
async function call(path: string, args: readonly string[], given: object = {}): Promise<string> {
  const { out } = await callCommand(command as Command, path, args, given, { cwd: folder, clock: systemClock });
  return out;
}

describe('slipway chart show', () => {
  test('prints the parts of a chart as they are, and Chart.yaml in its own order', async () => {
    expect(await call('show chart', ['shop'])).toBe(
      'apiVersion: v2\nappVersion: "2"\nicon: https://example.com/i.png\nname: shop\nversion: 1.0.0\n\n',
    );
    expect(await call('show values', ['shop'])).toBe('# how to greet\ngreeting: hello\n\n');
    expect(await call('show readme', ['shop'])).toBe('# Shop\n\n');
    expect(await call('show crds', ['shop'])).toBe(`---\n${files['crds/kind.yaml']}\n`);
    const parts = await Promise.all(
      ['chart', 'values', 'readme', 'crds'].map((part) => call(`show ${part}`, ['shop'])),
    );
    expect(await call('show all', ['shop'])).toBe(`${parts.slice(0, 3).join('---\n')}${parts[3]}`);
  });

  test('prints nothing for what a chart does not have, and says where there is no chart', async () => {
    await rm(join(folder, 'shop/README.md'));
    expect(await call('show readme', ['shop'])).toBe('');
    await expect(call('show all', ['nowhere'])).rejects.toThrow('nowhere');
  });
});

describe('slipway chart package', () => {
  test('packs a chart, with other versions when they are given', async () => {
    expect(await call('package', ['shop'], { destination: 'dist' })).toBe(
      'Successfully packaged chart and saved it to: dist/shop-1.0.0.tgz\n',
    );
    const packed = await chartFiles(join(folder, 'dist/shop-1.0.0.tgz'));
    expect(packed.map(({ name }) => name)).toEqual([
      'Chart.yaml',
      'values.yaml',
      'templates/config.yaml',
      'templates/try.yaml',
      'README.md',
      'crds/kind.yaml',
    ]);
    const given = { destination: 'dist', version: '2.0.0', 'app-version': '3' };
    expect(await call('package', ['shop'], given)).toContain('dist/shop-2.0.0.tgz');
    const { metadata } = await loadChart(join(folder, 'dist/shop-2.0.0.tgz'));
    expect(metadata).toMatchObject({ version: '2.0.0', appVersion: '3' });
    expect(await call('show values', ['dist/shop-2.0.0.tgz'])).toBe('# how to greet\ngreeting: hello\n\n');
  });

  test.each([
    ['dependencies: [{name: inner, version: 1.0.0, repository: ""}]\n', {}, 'missing in charts/ directory: inner'],
    ['', { version: 'new' }, 'version "new" is invalid'],
  ])('refuses a chart with %j and %j', async (more, given, message) => {
    await write('shop/Chart.yaml', files['Chart.yaml'] + more);
    await expect(call('package', ['shop'], given)).rejects.toThrow(message);
  });
});

test('slipway chart package refuses a schema that is no JSON', async () => {
  await write('shop/values.schema.json', '{');
  await expect(call('package', ['shop'])).rejects.toThrow('failed to save: invalid JSON in values.schema.json');
});

describe('slipway chart lint', () => {
  test('has nothing against a good chart, and asks for no values', async () => {
    expect(await call('lint', ['shop'])).toBe('==> Linting shop\n\n1 chart(s) linted, 0 chart(s) failed\n');
    await write('shop/values.yaml', '');
    expect(await call('lint', ['shop'], { quiet: true })).toBe('');
    await cp(join(folder, 'shop'), folder, { recursive: true });
    expect(await call('lint', [])).toMatch(/^==> Linting \.\n/);
  });

  test('says what is wrong in the words of helm, and fails for errors, or for warnings with --strict', async () => {
    await write('shop/templates/old.yaml', 'apiVersion: batch/v1beta1\nkind: CronJob\nmetadata: {name: Old}\n');
    const printed = await call('lint', ['shop']);
    expect(printed).toContain('[WARNING] templates/old.yaml: object name does not conform to Kubernetes naming');
    expect(printed).toContain(
      '[WARNING] templates/old.yaml: batch/v1beta1 CronJob is deprecated in v1.21+, unavailable in v1.25+; use batch/v1 CronJob\n',
    );
    expect(await call('lint', ['shop'], { 'kube-version': 'v1.20.0' })).not.toContain('deprecated');
    await expect(call('lint', ['shop'], { strict: true })).rejects.toThrow('1 chart(s) linted, 1 chart(s) failed');
    await expect(call('lint', ['shop', 'nowhere'])).rejects.toThrow('2 chart(s) linted, 1 chart(s) failed');
  });

  test.each([
    ['Chart.yaml', 'name: shop\nversion: 1.5\n', 'Chart.yaml: apiVersion is required'],
    [
      'Chart.yaml',
      'apiVersion: v2\nname: shop\nversion: 1.5\n',
      "version should be of type string but it's of type float64",
    ],
    ['Chart.yaml', `${files['Chart.yaml']}colour: red\n`, 'json: unknown field "colour"'],
    ['Chart.yaml', `${files['Chart.yaml']}version: 1.0.1\n`, 'line 6: key "version" already set in map'],
    ['Chart.yaml', `${files['Chart.yaml']}sources: [nowhere]\n`, "invalid source URL 'nowhere'"],
    [
      'Chart.yaml',
      `${files['Chart.yaml']}maintainers: [{name: a, email: b}]\n`,
      "invalid email 'b' for maintainer 'a'",
    ],
    [
      'Chart.yaml',
      `${files['Chart.yaml']}dependencies: [{name: a, version: 1.0.0}]\n`,
      'missing these dependencies: a',
    ],
    ['values.schema.json', '{"required": ["name"]}', 'values.yaml: '],
    ['values.yaml', '- a\n', 'values.yaml: unable to parse YAML: error unmarshaling JSON'],
    ['templates/x.yaml', 'kind: A\r\nmetadata: {name: a}\r\n---\r\nkind: B\r\n', 'name does not conform'],
    ['values.schema.json', '{"properties": {"greeting": {"$ref": "https://example.com/x.json"}}}', 'values.yaml: '],
    ['crds/kind.yaml', 'kind: ConfigMap\n', "crds/kind.yaml: object kind is not 'CustomResourceDefinition'"],
    ['templates/x.yaml', '{{ fail "never" }}\nkind: A\nmetadata: {name: a}\nb: c: d\n', 'unable to parse YAML'],
    ['templates/x.yaml', '{{ .Values.a.b.c }}', 'nil pointer'],
    ['templates/x.json', '{}', "file extension '.json' not valid"],
    ['templates/x.yaml', 'kind: DaemonSet\nmetadata: {name: a}\n', 'must contain matchLabels or matchExpressions'],
  ])('finds what is wrong in %s of %j', async (path, text, message) => {
    await write(`shop/${path}`, text);
    const source = { path: 'shop', files: await chartFiles(join(folder, 'shop')), folders: new Set<string>() };
    const messages = await lintChart(source, { values: new Map(), namespace: 'default' });
    const said = messages
      .filter(({ severity }) => severity !== 'INFO')
      .map(({ path: file, text: what }) => `${file}: ${what}`);
    expect(said.join('\n')).toContain(message);
    await expect(call('lint', ['shop'], { strict: true })).rejects.toThrow('1 chart(s) failed');
  });

  test('finds nothing wrong with a separator whose comment an action has drawn up to it', async () => {
    const object = 'kind: A\nmetadata: {name: a}\n';
    await write('shop/templates/x.yaml', `${object}---\n{{- if true }}\n{{- end -}}\n# b\n${object}`);
    const source = { path: 'shop', files: await chartFiles(join(folder, 'shop')), folders: new Set<string>() };
    const messages = await lintChart(source, { values: new Map(), namespace: 'default' });
    expect(messages.filter(({ severity }) => severity === 'ERROR')).toEqual([]);
  });

  test('renders with the defaults that a null of the user removes, as helm lint does', async () => {
    await write('shop/templates/config.yaml', '{{ if not .Values.greeting }}{{ .Values.a.b }}{{ end }}');
    expect(await call('lint', ['shop'], { set: ['greeting=null'] })).toContain(', 0 chart(s) failed');
    await expect(call('template', ['shop'], { set: ['greeting=null'] })).rejects.toThrow('nil pointer');
  });

  test('looks at the charts under charts/ with --with-subcharts', async () => {
    await write('shop/Chart.yaml', `${files['Chart.yaml']}dependencies: [{name: inner, version: 1.0.0}]\n`);
    await write('shop/charts/inner/Chart.yaml', 'apiVersion: v2\nname: inner\nversion: 1.0.0\n');
    expect(await call('lint', ['shop'], { 'with-subcharts': true })).toBe(
      [
        '==> Linting shop\n\n',
        '==> Linting shop/charts/inner\n',
        '[INFO] Chart.yaml: icon is recommended\n',
        '[INFO] values.yaml: file does not exist\n',
        '[WARNING] templates/: directory does not exist\n\n',
        '2 chart(s) linted, 0 chart(s) failed\n',
      ].join(''),
    );
  });
});

describe('slipway chart template --output-dir', () => {
  test('writes each template to its own file and says so', async () => {
    const given = { 'output-dir': 'out', 'release-name': true, 'include-crds': true, namespace: 'default' };
    expect(await call('template', ['mine', 'shop'], given)).toBe(
      ['crds/kind.yaml', 'mine/shop/templates/config.yaml', 'mine/shop/templates/try.yaml']
        .map((path, index) => `wrote out/${index === 0 ? 'shop/' : ''}${path}\n`)
        .join('')
        .concat('\n'),
    );
    expect(await readFile(join(folder, 'out/mine/shop/templates/config.yaml'), 'utf8')).toBe(
      '---\n# Source: shop/templates/config.yaml\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: shop}\ndata: {say: hello}\n\n',
    );
    await call('template', ['mine', 'shop'], { ...given, 'skip-tests': true, set: ['greeting=bye'] });
    const again = await readFile(join(folder, 'out/mine/shop/templates/config.yaml'), 'utf8');
    expect(again.match(/Source/g)).toHaveLength(1);
    expect(again).toContain('say: bye');
  });
});

test('template and install tell times in the zone of TZ', async () => {
  await write(
    'shop/templates/config.yaml',
    'at: {{ dateInZone "15:04" (toDate "2006-01-02 15:04" "2026-01-02 15:00") "UTC" }}\n',
  );
  for (const [TZ, at] of [
    ['Asia/Tokyo', '06:00'],
    ['', '15:00'],
  ] as const) {
    const context = { cwd: folder, clock: systemClock, env: { TZ } };
    for (const [name, flags] of [
      ['template', {}],
      ['install', { 'dry-run': 'client', namespace: 'apps' }],
    ] as const) {
      const { out } = await callCommand(command as Command, name, ['web', 'shop'], flags, context);
      expect(out).toContain(`at: ${at}\n`);
    }
  }
});

describe('slipway chart template', () => {
  test('takes values from a web server, and says when it has none', async () => {
    const server = createServer((request, response) => {
      response.statusCode = request.url === '/prod.yaml' ? 200 : 404;
      response.end('greeting: from afar\n');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const at = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    try {
      expect(await call('template', ['shop'], { values: [`${at}/prod.yaml`] })).toContain('data: {say: from afar}');
      await expect(call('template', ['shop'], { values: [`${at}/absent.yaml`] })).rejects.toThrow(
        `values at ${at}/absent.yaml: there is none (404)`,
      );
    } finally {
      server.close();
    }
  });

  test('takes --generate-name, which names nothing as long as there is a usual name', async () => {
    const named = { 'generate-name': true };
    expect(await call('template', ['shop'], named)).toBe(await call('template', ['release-name', 'shop']));
    await expect(call('template', ['mine', 'shop'], named)).rejects.toThrow('cannot set --generate-name');
    await expect(call('template', ['mine', 'shop'], { 'name-template': 'x' })).rejects.toThrow('--name-template');
  });

  test('refuses a chart for a Helm yet to come, not one below it', async () => {
    const yet = 'apiVersion: v9\nname: inner\nversion: 1.0.0\n';
    await write('shop/charts/inner/Chart.yaml', yet);
    await write('shop/charts/inner/templates/a.yaml', 'kind: Inner\n');
    expect(await call('template', ['shop'])).toContain('kind: Inner');
    await expect(call('template', ['shop/charts/inner'])).rejects.toThrow('unsupported chart version');
    await expect(call('package', ['shop/charts/inner'])).rejects.toThrow('unsupported chart version');
  });
});

describe('slipway chart dependency list', () => {
  test('cuts what is too long, and tells charts nobody asked for from what is no chart', async () => {
    const repository = `https://example.com/${'x'.repeat(80)}`;
    const dependencies = JSON.stringify([{ name: 'inner', version: '1.0.0', repository }]);
    await write('shop/Chart.yaml', `${files['Chart.yaml']}dependencies: ${dependencies}\n`);
    await write('shop/charts/inner/Chart.yaml', 'apiVersion: v2\nname: inner\nversion: 1.0.0\n');
    await write('shop/charts/other/Chart.yaml', 'apiVersion: v2\nname: other\nversion: 1.0.0\n');
    await write('shop/charts/_old/notes.txt', '');
    const printed = await call('dependency list', ['shop']);
    expect(printed).toContain(`\t${repository.slice(0, 77)}...\tunpacked\n`);
    expect(printed).toContain(
      'WARNING: "shop/charts/_old" is not a chart.\nWARNING: "shop/charts/other" is not in Chart.yaml.\n',
    );
    expect(await call('dependency list', ['shop'], { 'max-col-width': 200 })).toContain(`\t${repository}\t`);
  });
});
