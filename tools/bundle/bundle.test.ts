import { execFile, spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { findOperators } from '@slipway/cli';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { baseBytes, compressedBytes, filesBelow, imageBudgetBytes, makeImageContent } from './image-size.ts';

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'slipway-bundle-'));
  await makeImageContent(folder);
}, 60_000);

afterAll(() => rm(folder, { recursive: true, force: true }));

const slipway = async (...argv: string[]) =>
  (
    await promisify(execFile)(process.execPath, [join(folder, 'slipway.mjs'), ...argv], {
      cwd: folder,
      maxBuffer: 1 << 26,
    })
  ).stdout;

test('starts from a folder without any modules, and knows all operators', async () => {
  const help = await slipway('run', '--help');
  for (const operator of await findOperators()) expect(help).toContain(operator.name);
});

test('prints the definitions and the version', async () => {
  const { version } = JSON.parse(await readFile(join(import.meta.dirname, '..', '..', 'package.json'), 'utf8')) as {
    version: string;
  };
  expect(await slipway('--version')).toBe(`${version}\n`);
  expect(await slipway('crds')).toContain('kind: CustomResourceDefinition');
});

test('holds what operators read at run time beside it', async () => {
  for (const operator of await findOperators()) {
    if (operator.manifestsDir === undefined) continue;
    const place = join(folder, 'operators', operator.name, basename(operator.manifestsDir));
    expect((await stat(place)).isDirectory()).toBe(true);
  }
});

test('takes modules of Node only when they are used', async () => {
  const files = (await readdir(folder)).filter((name) => name.endsWith('.mjs'));
  expect(files).toContain('slipway.mjs');
  for (const file of files) {
    const text = await readFile(join(folder, file), 'utf8');
    const imported = [...text.matchAll(/(?:^|[;\n])import[^;"'`]*from\s*["']([^"']+)["']/g)].map(([, name]) => name!);
    expect(imported.filter((name) => !name.startsWith('./slipway-'))).toEqual([]);
  }
});

test('serves a cluster with settings from a file: certificates and kubeconfig are made, and it ends in order', async () => {
  const data = join(folder, 'data');
  const settings = join(folder, 'settings.yaml');
  await writeFile(settings, `port: 0\ndata: ${data}\n`);
  const server = spawn(process.execPath, [join(folder, 'slipway.mjs'), 'cluster', '--config', settings]);
  const ended = once(server, 'exit');
  await once(server.stdout, 'data');
  expect(await readFile(join(data, 'kubeconfig'), 'utf8')).toContain('certificate-authority-data');
  const kubeconfig = ['--kubeconfig', join(data, 'kubeconfig')];
  expect(JSON.parse(await slipway('version', '-o', 'json', ...kubeconfig))).toHaveProperty('serverVersion');
  server.kill('SIGTERM');
  expect(await ended).toEqual([0, null]);
});

test('renders a chart by the brief program alone, whose bytecode the image has', async () => {
  const modules = await modulesLoadedBy('chart', 'template', '--help');
  expect(modules.join('').length).toBeLessThan(10_000);
  const kept = (await readdir(join(folder, 'compiled'))).filter((name) => name.endsWith('.bytecode'));
  expect(kept).toHaveLength(1);
  const brief = await readFile(join(folder, 'brief-chart-template.cjs'), 'utf8');
  expect(brief).toContain('nindent');
  expect(brief).not.toContain('node_modules/undici');
  expect(brief.length).toBeLessThan(1_300_000);
  // What is in it is licensed as the rest is.
  expect(await readFile(join(folder, 'slipway.mjs.LEGAL.txt'), 'utf8')).toContain('re2js');
});

test('the brief program checks values that come from standard input against the schema of the chart', async () => {
  const chart = join(folder, 'checked');
  await mkdir(join(chart, 'templates'), { recursive: true });
  await writeFile(join(chart, 'Chart.yaml'), 'apiVersion: v2\nname: checked\nversion: 1.0.0\n');
  await writeFile(join(chart, 'values.schema.json'), '{"properties": {"count": {"type": "integer"}}}');
  await writeFile(join(chart, 'templates', 'all.yaml'), 'kind: K{{ .Values.count }}');
  const render = (values: string) =>
    spawnSync(process.execPath, [join(folder, 'slipway.mjs'), 'chart', 'template', 'shop', chart, '-f', '-'], {
      input: values,
      encoding: 'utf8',
      env: { ...process.env, NODE_COMPILE_CACHE: join(folder, 'compiled'), NODE_DEBUG_NATIVE: 'COMPILE_CACHE' },
    });
  const good = render('count: 2');
  expect(good.stdout).toContain('kind: K2\n');
  expect(good.stderr + good.stdout).not.toContain('slipway-program');
  const wrong = render('count: two');
  expect(wrong.status).toBe(1);
  expect(wrong.stderr).toContain('count');
  expect(wrong.stderr + wrong.stdout).not.toContain('slipway-program');
});

test('leaves to the whole program what the brief one does not have, as if it had been asked first', async () => {
  const fail = async (...argv: string[]) => {
    const error = await slipway(...argv).then(
      () => undefined,
      (reason: unknown) => reason,
    );
    return error as { readonly code: number; readonly stdout: string; readonly stderr: string };
  };
  const remote = await fail('chart', 'template', 'shop', 'web', '--repo', 'http://127.0.0.1:1/charts');
  expect(remote).toMatchObject({ code: 1, stdout: '' });
  expect(remote.stderr).toContain('127.0.0.1:1');
  expect(remote.stderr.match(/slipway: /g)).toHaveLength(1);
  const missing = await fail('chart', 'template', 'shop', './nowhere');
  expect(missing).toMatchObject({ code: 2, stdout: '' });
  expect(missing.stderr).toContain('path "./nowhere" not found');
  // A settings file may have what other commands know.
  const settings = join(folder, 'all-settings.yaml');
  await writeFile(settings, 'metrics-port: 0\nnamespace: elsewhere\n');
  const chart = join(folder, 'settled');
  await mkdir(join(chart, 'templates'), { recursive: true });
  await writeFile(join(chart, 'Chart.yaml'), 'apiVersion: v2\nname: settled\nversion: 1.0.0\n');
  await writeFile(join(chart, 'templates', 'all.yaml'), 'kind: {{ .Release.Namespace }}');
  expect(await slipway('chart', 'template', 'shop', chart, '--config', settings)).toContain('kind: elsewhere');
});

test('has what only some charts need: expressions, certificates, password hashes, TOML, YAML that only Go reads', async () => {
  const chart = join(folder, 'web');
  await mkdir(join(chart, 'templates'), { recursive: true });
  await writeFile(join(chart, 'Chart.yaml'), 'apiVersion: v2\nname: web\nversion: 1.0.0\n');
  const lines = [
    'expression: {{ regexReplaceAll "[^a-z]+" "a1b" "-" }}',
    'certificate: {{ (genCA "web" 1).Cert | b64enc }}',
    'hash: {{ htpasswd "user" "password" | quote }}',
    'toml: {{ ("a = 1" | fromToml).a }}',
    'lenient: {{ ("a: [\\n  1\\n]" | fromYaml).a | toJson }}',
    'sum: {{ sha256sum "web" }}',
  ];
  await writeFile(join(chart, 'templates', 'all.yaml'), lines.join('\n'));
  const rendered = await slipway('chart', 'template', 'shop', chart);
  expect(rendered).toContain('expression: a-b\n');
  expect(rendered).toMatch(/^certificate: LS0tLS1CRUdJTi/m);
  expect(rendered).toContain('hash: "user:$2a$10$');
  expect(rendered).toContain('toml: 1\nlenient: [1]\n');
  expect(rendered).toContain(`sum: ${createHash('sha256').update('web').digest('hex')}\n`);
});

test('takes neither the cryptography of Node nor those packages for a chart that does not ask', async () => {
  const chart = join(folder, 'plain');
  await mkdir(join(chart, 'templates'), { recursive: true });
  await writeFile(join(chart, 'Chart.yaml'), 'apiVersion: v2\nname: plain\nversion: 1.0.0\n');
  await writeFile(join(chart, 'templates', 'all.yaml'), 'kind: {{ .Release.Name | upper }}');
  const listing = join(folder, 'list-modules.cjs');
  await writeFile(listing, "process.on('exit', () => process.stderr.write(process.moduleLoadList.join('\\n')));");
  const { stdout, stderr } = await promisify(execFile)(
    process.execPath,
    ['--require', listing, join(folder, 'slipway.mjs'), 'chart', 'template', 'shop', chart],
    { cwd: folder },
  );
  expect(stdout).toContain('kind: SHOP');
  expect(stderr.split('\n')).not.toContain('NativeModule crypto');
});

/** The texts of the modules a call loads: those it compiles. */
async function modulesLoadedBy(...argv: string[]): Promise<string[]> {
  const { stderr, stdout } = await promisify(execFile)(process.execPath, [join(folder, 'slipway.mjs'), ...argv], {
    env: { ...process.env, NODE_COMPILE_CACHE: join(folder, 'compiled'), NODE_DEBUG_NATIVE: 'COMPILE_CACHE' },
    maxBuffer: 1 << 26,
  });
  const names = new Set(`${stderr}${stdout}`.match(/slipway-[A-Z0-9]+\.mjs/g));
  return await Promise.all([...names].map((name) => readFile(join(folder, name), 'utf8')));
}

test('leaves compiled code for the image', async () => {
  expect((await filesBelow(join(folder, 'compiled'))).length).toBeGreaterThan(0);
});

test('stays within its part of the image budget', async () => {
  // Node compresses to a third; compressing it here would take longer than all other tests of the bundle.
  const node = (await stat(process.execPath)).size * 0.36;
  const own = await compressedBytes(await filesBelow(folder));
  expect(own).toBeLessThan(3_500_000);
  expect(baseBytes + node + own).toBeLessThan(imageBudgetBytes);
});
