import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Deployment, type KubeObject } from '@slipway/kube';
import { parseManifests } from '@slipway/manifests';
import { describe, expect, test } from 'vitest';

import { freePort } from '../src/commands/cluster.ts';
import { servedCluster, stranger, strangersOnly } from './kit.ts';
import { manifest, outside, source, type PackageFiles } from './outside-package.ts';

describe('--operator loads an operator from a package of its own', () => {
  test('crds and rbac print what it defines and needs, and nothing of the others', async () => {
    await using project = await outside();
    const crds = await project.slipway('crds', '--operator', './buoys');
    expect(crds).toMatchObject({ code: 0, err: '' });
    expect(parseManifests(crds.out, { source: 'crds' }).map(({ metadata }) => metadata.name)).toEqual([
      'buoys.sea.example.org',
    ]);
    const { out } = await project.slipway('rbac', '--operator=./buoys');
    const roles = parseManifests(out, { source: 'rbac' }).filter(({ kind }) => kind === 'ClusterRole');
    expect(roles.map(({ metadata }) => metadata.name)).toEqual(['slipway-buoy-manager', 'slipway-buoy']);
  });

  test('one of ours that is named comes along', async () => {
    await using project = await outside();
    const { out } = await project.slipway('crds', 'operand', '--operator', './buoys');
    expect(out).toContain('name: operands.operand.run.cloud.google.com');
    expect(out).toContain('name: buoys.sea.example.org');
  });

  test('an installed package is found by its name', async () => {
    await using project = await outside();
    await mkdir(join(project.path, 'node_modules', '@sea'), { recursive: true });
    await symlink(join(project.path, 'buoys'), join(project.path, 'node_modules', '@sea', 'buoys'));
    expect((await project.slipway('crds', '--operator', '@sea/buoys')).out).toContain('buoys.sea.example.org');
  });

  test('its flags and reasons are known like those of ours', async () => {
    await using project = await outside();
    const help = await project.slipway('run', '--operator', './buoys', '--help');
    expect(help.out).toContain('which operators (default: buoy)');
    expect(help.out).toContain('--buoy-light');
    expect(help.out).toContain('what it shows (SLIPWAY_LIGHT, default: steady)');
    expect((await project.slipway('explain', 'Afloat', '--operator', './buoys')).out).toContain('all is well');
    const listed = (await project.slipway('explain', '--operator', './buoys')).out.trim().split('\n').slice(1);
    expect(listed.map((line) => line.split(' ')[0])).toEqual(['buoy']);
  });

  test('up runs it with its webhook and its example, under its flag', async () => {
    await using project = await outside();
    const running = project.start('up', '--operator', './buoys', '--port', '0', '--kubeconfig', 'kc', '--light', 'red');
    await running.says(/Buoy default\/first → Ready/);
    expect(running.out).toContain('Slipway is up: Buoys on');
    const file = join(project.path, 'invisible.yaml');
    await writeFile(
      file,
      'apiVersion: sea.example.org/v1\nkind: Buoy\nmetadata: { name: b, namespace: default }\nspec: { colour: invisible }\n',
    );
    const plan = await project.slipway('plan', '-f', file, '--kubeconfig', join(project.path, 'kc'));
    expect(plan.out + plan.err).toContain('nobody would see it');
    const status = await project.slipway('status', '--operator', './buoys', '--kubeconfig', join(project.path, 'kc'));
    expect(status.out).toMatch(/buoy +Buoy +default\/first +Ready/);
    expect(status.err, 'a word about operators nobody asked for').toBe('');
    const unknown = await project.slipway('status', 'buoys', '--kubeconfig', join(project.path, 'kc'));
    expect(unknown.err).toMatch(/no operator, kind or KIND\/NAME 'buoys'\n.*--operator PACKAGE/);
    expect(await running.stop()).toBe(0);
  });

  test('run works with it on any cluster', async () => {
    await using project = await outside();
    await using cluster = await servedCluster();
    const port = String(await freePort());
    const webhooks = ['--webhook-url', `https://127.0.0.1:${port}`, '--webhook-port', port];
    const at = ['--kubeconfig', cluster.kubeconfig, ...webhooks];
    const running = project.start('run', '--operator', './buoys', '--install-crds', ...at);
    await running.says(/"operators":\["buoy"\]/);
    await running.says(/"msg":"ready"/);
    expect(await running.stop()).toBe(0);
  });

  test('install runs the image of its package, which holds it in its working directory', async () => {
    await using project = await outside();
    const { out } = await project.slipway('install', '--operator', './buoys', '--print', '--light', 'green');
    const objects = parseManifests(out, { source: 'print' });
    const deployment = objects.find(({ kind }) => kind === 'Deployment') as Deployment;
    const container = deployment.spec?.template.spec?.containers[0];
    expect(deployment.metadata.labels?.['app.kubernetes.io/version']).toBe('1.4.0');
    expect(container?.image).toBe('sea/buoys:1.4.0');
    expect(container?.args?.slice(0, 3)).toEqual(['run', 'buoy', '--operator=.']);
    expect(out).toContain('buoy-light: green');
    const chosen = await project.slipway('install', '--operator', './buoys', '--print', '--image', 'mine:2');
    expect(chosen.out).toContain('image: mine:2');
  });

  test('install writes a chart that renders what it would apply, and keeps what its owner wrote', async () => {
    await using project = await outside();
    const write = ['install', '--operator', './buoys', '--write-chart', 'chart'];
    const all = ['Chart.yaml', 'values.yaml', 'templates/definitions.yaml', 'templates/operator.yaml'];
    expect((await project.slipway(...write)).out).toBe(all.map((file) => `chart/${file}\n`).join(''));
    const render = async (...argv: string[]) => {
      const { out, err } = await project.slipway('chart', 'template', 'buoys', './chart', '-n', 'afloat', ...argv);
      expect(err).toBe('');
      return parseManifests(out, { source: 'chart' });
    };
    const plain = (objects: readonly KubeObject[]) =>
      objects
        .filter(({ kind }) => kind !== 'Namespace')
        .map(({ kind, metadata, ...rest }) => ({ kind, name: metadata.name, namespace: metadata.namespace, ...rest }))
        .sort((a, b) => `${a.kind}/${a.name}`.localeCompare(`${b.kind}/${b.name}`));
    const print = ['install', '--operator', './buoys', '--print', '--namespace', 'afloat'];
    const installed = async (...argv: string[]) =>
      parseManifests((await project.slipway(...print, ...argv)).out, { source: 'print' });
    expect(plain(await render())).toEqual(plain(await installed()));
    await writeFile(join(project.path, 'chart', 'values.yaml'), 'image: mine:2\nreplicas: 3\n');
    expect((await project.slipway(...write)).out).toBe(
      all
        .slice(2)
        .map((file) => `chart/${file}\n`)
        .join(''),
    );
    expect(plain(await render())).toEqual(plain(await installed('--image', 'mine:2', '--replicas', '3')));
  });

  test('what to try next names its package, so that it can be tried', async () => {
    await using project = await outside();
    await using bare = await servedCluster({ controllers: 'none' });
    const on = (cluster: { kubeconfig: string }, command: string, ...argv: string[]) =>
      project.slipway(command, ...argv, '--operator', './buoys', '--kubeconfig', cluster.kubeconfig);
    const buoy = 'buoy --operator ./buoys';
    expect((await on(bare, 'status', 'buoys')).err).toContain(`  slipway install ${buoy} puts it there\n`);
    expect((await on(bare, 'status')).err).toBe(
      'not installed here: buoy (slipway run --install-crds --operator ./buoys)\n',
    );
    expect((await on(bare, 'run')).err).toContain('or apply the output of `slipway crds --operator ./buoys`\n');
    expect((await on(bare, 'check')).out).toContain(` slipway install ${buoy} puts it there\n`);

    const crds = [(await project.slipway('crds', '--operator', './buoys')).out];
    await using installed = await servedCluster({ controllers: 'none', crds });
    expect((await on(installed, 'status', 'buoy/none')).err).toContain(
      '  slipway status buoys -A --operator ./buoys lists those there are\n',
    );
    await using strict = await servedCluster({ controllers: 'none', crds, ...strangersOnly });
    expect((await on({ kubeconfig: await stranger(strict) }, 'run')).err).toContain(
      `slipway rbac ${buoy} | kubectl apply -f -\n`,
    );
  });

  test('install --remove takes it off alone, and has to be told its package', async () => {
    await using project = await outside();
    await using cluster = await servedCluster();
    const at = ['--no-wait', '--kubeconfig', cluster.kubeconfig];
    await project.slipway('install', 'operand', '--operator', './buoys', ...at);
    const both = await project.slipway('install', 'buoy', '--operator', './buoys', '--remove', 'buoy', ...at);
    expect(both).toMatchObject({ code: 2, err: expect.stringMatching(/cannot be installed and removed/) as unknown });
    const unknown = await project.slipway('install', '--remove', 'buoy', ...at);
    expect(unknown).toMatchObject({ code: 2, err: expect.stringMatching(/there is no operator 'buoy'/) as unknown });
    const removed = await project.slipway('install', '--operator', './buoys', '--remove', 'buoy', ...at);
    expect(removed).toMatchObject({ code: 0, err: '' });
    expect(removed.out).toMatch(/removed buoy\n$/);
    const left = [];
    for await (const { metadata } of cluster.client.list(Deployment)) left.push(metadata.name);
    expect(left).toEqual(['slipway-operand']);
  });

  test('uninstall refuses to take off an operator it does not know: nobody would look after its objects', async () => {
    await using project = await outside();
    await using cluster = await servedCluster();
    const at = ['--kubeconfig', cluster.kubeconfig];
    expect(await project.slipway('install', '--operator', './buoys', '--no-wait', ...at)).toMatchObject({
      code: 0,
      out: expect.stringMatching(/installed; slipway status --operator \.\/buoys shows/) as unknown,
    });
    expect(await project.slipway('uninstall', ...at)).toMatchObject({
      code: 2,
      err: expect.stringMatching(/the operator buoy is installed.*\n {2}name its package with --operator/) as unknown,
    });
    expect(await project.slipway('uninstall', '--operator', './buoys', ...at)).toMatchObject({ code: 0, err: '' });
  });
});

describe('what is no operator is refused with what to do', () => {
  const refused = async (files: PackageFiles, given = './buoys') => {
    await using project = await outside(files);
    const { code, err } = await project.slipway('crds', '--operator', given);
    expect(code).toBe(2);
    return err.replaceAll(project.path, 'HERE');
  };

  test.each([
    ['a folder without package.json', {}, '.', /\.: there is no HERE\/package\.json\n {2}name the folder/],
    ['a folder that is not there', {}, './none', /there is no HERE\/none\/package\.json\n {2}name the folder/],
    ['a package that is not installed', {}, 'fishes', /no package 'fishes'.*\n {2}install it with npm install fishes/],
    [
      'a folder without the dot',
      {},
      'buoys',
      /no package 'buoys'.*\n {2}a folder begins with a dot: --operator \.\/buoys/,
    ],
    ['a package.json that is no JSON', { manifest: '{' }, './buoys', /package\.json is not JSON: .*\n {2}correct it/],
    [
      'a package without an operator',
      { manifest: { name: 'x' } },
      './buoys',
      /does not say which.*\n {2}add "slipway"/,
    ],
    [
      'a main module that is not there',
      { manifest: { ...manifest, exports: { '.': { types: './x.d.ts', import: './dist/index.js' } } } },
      './buoys',
      /main module HERE\/buoys\/dist\/index\.js does not exist\n {2}build the package/,
    ],
    [
      'a name that is not exported',
      { source: 'export const other = 1;' },
      './buoys',
      /names buoyOperator, which .* does not export\n {2}it exports other; export the OperatorDescription/,
    ],
    [
      'an export that is no description',
      { source: "export const buoyOperator = { name: 'buoy' };" },
      './buoys',
      /is no OperatorDescription: it has no title\n {2}docs\/operator-description\.md/,
    ],
    [
      'a kind that is only a kind',
      {
        source: source.replace(
          'kinds: [Buoy]',
          "kinds: [{ group: 'a.example.org', version: 'v1', kind: 'A', plural: 'as' }]",
        ),
      },
      './buoys',
      /kinds\[0\] must come from defineKind/,
    ],
    [
      'a module that throws',
      { source: "throw new Error('no wind');" },
      './buoys',
      /cannot be loaded: no wind\n {2}mend the module/,
    ],
    [
      'a name that is taken',
      { source: source.replace("name: 'buoy'", "name: 'operand'").replace("name: 'buoy'", "name: 'operand'") },
      './buoys',
      /there is an operator 'operand' already\n {2}give the operator/,
    ],
  ])('%s', async (_what, files: PackageFiles, given, wanted) => {
    expect(await refused(files, given)).toMatch(wanted);
  });
});
