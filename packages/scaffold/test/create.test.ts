import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';

import { addKind, addVersion, addWebhook } from '../src/index.ts';
import { operatorOf, workshop } from './kit.ts';

async function filesOf(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile() && !entry.parentPath.includes('node_modules'));
  return files.map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1)).sort();
}

describe('npm create slipway', () => {
  test('writes a whole project and says what comes next', async () => {
    await using place = await workshop();
    const { code, out, err } = await place.create('my-operator');
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(out).toContain('cd my-operator\n  npm install\n  npm test\n  npx slipway up --operator .\n');
    expect(out).toContain('begin again with --tarballs DIR');
    expect(await filesOf(join(place.path, 'my-operator'))).toEqual([
      '.dockerignore',
      '.github/workflows/ci.yml',
      '.gitignore',
      'Dockerfile',
      'README.md',
      'chart/Chart.yaml',
      'chart/values.yaml',
      'examples/website.yaml',
      'package.json',
      'src/index.ts',
      'src/operator.ts',
      'src/website/api.ts',
      'src/website/controller.ts',
      'src/website/deployment.ts',
      'src/website/index.ts',
      'src/website/readiness.ts',
      'test/website.test.ts',
      'tsconfig.json',
    ]);
  });

  test('no word of the templates is left', async () => {
    await using place = await workshop();
    const folder = await place.project(
      'harbour',
      '--kind',
      'BackupPlan',
      '--group',
      'a.test',
      '--webhook',
      '--second-version',
    );
    const files = await filesOf(folder);
    const texts = await Promise.all(files.map((file) => readFile(join(folder, file), 'utf8')));
    const everything = files.join('\n') + texts.join('\n');
    expect(everything).not.toMatch(/berth|my-operator|example\.org|0\.0\.0-/i);
    expect(everything).not.toContain('OLD');
  });

  test('depends on the release that wrote it', async () => {
    await using place = await workshop();
    const folder = await place.project('my-operator');
    const { version } = JSON.parse(await readFile(join(import.meta.dirname, '..', 'package.json'), 'utf8')) as {
      version: string;
    };
    expect(JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'))).toMatchObject({
      name: 'my-operator',
      dependencies: { '@slipway/kube': version, '@slipway/runtime': version, slipway: version },
      devDependencies: { '@slipway/testing': version, typescript: expect.stringMatching(/^\d/) as unknown },
    });
  });

  test('--tarballs takes everything of ours from files, what packages need of each other included', async () => {
    await using place = await workshop();
    const folder = join(place.path, 'tarballs');
    await mkdir(folder);
    for (const name of ['slipway-0.1.0', 'slipway-kube-0.1.0', 'slipway-app-platform-0.1.0', 'create-slipway-0.1.0'])
      await writeFile(join(folder, `${name}.tgz`), '');
    expect((await place.create('my-operator', '--tarballs', 'tarballs')).code).toBe(0);
    const manifest = JSON.parse(await readFile(join(place.path, 'my-operator', 'package.json'), 'utf8')) as {
      dependencies: object;
      devDependencies: object;
    };
    expect(manifest.dependencies).toMatchObject({
      slipway: `file:${folder}/slipway-0.1.0.tgz`,
      '@slipway/kube': `file:${folder}/slipway-kube-0.1.0.tgz`,
    });
    expect(manifest.devDependencies).toMatchObject({
      '@slipway/app-platform': `file:${folder}/slipway-app-platform-0.1.0.tgz`,
    });
    expect((await place.create('other', '--tarballs', 'none')).err).toMatch(
      /no tarballs of Slipway in .*\n {2}npm run pack/,
    );
  });

  test('takes a folder with nothing but a new repository in it', async () => {
    await using place = await workshop();
    await mkdir(join(place.path, 'boats', '.git'), { recursive: true });
    expect((await place.create('./boats')).code).toBe(0);
  });

  test('--help lists what there is to choose', async () => {
    await using place = await workshop();
    const { code, out } = await place.create('--help');
    expect(code).toBe(0);
    for (const flag of ['--kind <Kind>', '--group <domain>', '--webhook', '--second-version'])
      expect(out).toContain(flag);
  });

  test.each([
    ['no folder', [], /say the one folder.*\n {2}npm create slipway my-operator/],
    ['two folders', ['a', 'b'], /say the one folder/],
    ['a folder that is not empty', ['full'], /full is not empty\n {2}name a folder that is empty/],
    ['a file in its place', ['full/file'], /full\/file cannot be used: ENOTDIR/],
    [
      'a name npm would refuse',
      ['My_Operator'],
      /'My_Operator' cannot be the name of an operator\n {2}it has lower-case/,
    ],
    [
      'a kind that is none',
      ['a', '--kind', 'boat'],
      /'boat' cannot be the name of a kind\n {2}a kind is one CamelCase/,
    ],
    ['a kind that is there twice', ['a', '--kind', 'Boat', '--kind', 'Boat'], /the kind boat is there twice/],
    ['a group that is none', ['a', '--group', 'boats'], /'boats' cannot be the group of kinds/],
    ['an unknown flag', ['a', '--frob'], /Unknown option '--frob'\n {2}npm create slipway -- --help/],
  ])('refuses %s and writes nothing', async (_what, argv, wanted) => {
    await using place = await workshop();
    await mkdir(join(place.path, 'full'));
    await writeFile(join(place.path, 'full', 'file'), 'mine');
    const { code, err } = await place.create(...argv);
    expect(code).toBe(2);
    expect(err).toMatch(wanted);
    expect(await filesOf(place.path)).toEqual(['full/file']);
  });
});

describe('slipway add', () => {
  test('a project that grew is the one that was created so', async () => {
    await using place = await workshop();
    const created = await place.project('one', '--kind', 'Boat', '--kind', 'Pier', '--webhook', '--second-version');
    const grown = await place.project('two', '--kind', 'Boat');
    await addWebhook(grown, 'Boat');
    await addVersion(grown, 'Boat');
    await addKind(grown, 'Pier');
    await addWebhook(grown, 'Pier');
    await addVersion(grown, 'Pier');
    expect(await filesOf(grown)).toEqual(await filesOf(created));
    for (const file of (await filesOf(created)).filter((path) => /^(src|test|examples)\//.test(path))) {
      const text = await readFile(join(created, file), 'utf8');
      expect(await readFile(join(grown, file), 'utf8')).toBe(
        text.replaceAll("'one'", "'two'").replaceAll("'One'", "'Two'"),
      );
    }
    const operator = await operatorOf(grown);
    expect(operator.kinds.map(({ kind, version }) => `${kind} ${version}`)).toEqual(['Boat v2', 'Pier v2']);
    expect(operator.webhooks?.map(({ type }) => type)).toEqual([
      'validating',
      'conversion',
      'validating',
      'conversion',
    ]);
    expect(operator.kinds[0]?.definition.versions?.map(({ version }) => version)).toEqual(['v1']);
  });

  test('version after version: each older one keeps its file, the newest is stored, one webhook converts them all', async () => {
    await using place = await workshop();
    const folder = await place.project('my-operator', '--second-version');
    const api = join(folder, 'src', 'website', 'api.ts');
    const conversion = join(folder, 'src', 'website', 'conversion.ts');
    await writeFile(conversion, `${await readFile(conversion, 'utf8')}// mine\n`);
    expect(await addVersion(folder, 'Website')).toEqual([
      'test/website-v2-conversion.test.ts',
      'src/website/api-v2.ts',
      'src/website/api.ts',
    ]);
    // As a formatter would leave a longer list.
    const text = await readFile(api, 'utf8');
    await writeFile(api, text.replace(/versions: \[(.*), (.*)\],/, 'versions: [\n    $1,\n    $2,\n  ],'));
    await addVersion(folder, 'Website');
    expect(await readFile(conversion, 'utf8')).toMatch(/\/\/ mine\n$/);
    expect(await readFile(join(folder, 'examples', 'website.yaml'), 'utf8')).toContain('apiVersion: example.org/v4\n');
    const older = await readFile(join(folder, 'src', 'website', 'api-v3.ts'), 'utf8');
    expect(older).toMatch(
      /^import \{ Conditions, defineKind, Type \} from '@slipway\/kube';\n\n\/\*\* An older version/,
    );
    expect(older).not.toMatch(/versions|V1|V2/);
    const operator = await operatorOf(folder);
    const [website] = operator.kinds;
    expect(website!.version).toBe('v4');
    expect(website!.definition.versions?.map(({ version }) => version)).toEqual(['v3', 'v2', 'v1']);
    expect(operator.webhooks).toHaveLength(1);
  });

  test('a webhook that is there is somebody’s work', async () => {
    await using place = await workshop();
    const folder = await place.project('my-operator', '--webhook');
    await expect(addWebhook(folder, 'Website')).rejects.toThrow(/webhook\S* is there already/);
    expect((await operatorOf(folder)).webhooks).toHaveLength(1);
  });

  test.each([
    ['a kind that is there', addKind, 'Website', /website\S* is there already/],
    ['a webhook of a kind that is not there', addWebhook, 'Boat', /there is no kind Boat in this project/],
    ['a version of a kind that is not there', addVersion, 'Boat', /there is no kind Boat in this project/],
    ['a kind that is none', addKind, 'boat', /'boat' cannot be the name of a kind/],
  ])('refuses %s and changes nothing', async (_what, add, kind, wanted) => {
    await using place = await workshop();
    const folder = await place.project('my-operator');
    const before = await readFile(join(folder, 'src', 'operator.ts'), 'utf8');
    await expect(add(folder, kind)).rejects.toThrow(wanted);
    expect(await readFile(join(folder, 'src', 'operator.ts'), 'utf8')).toBe(before);
    expect(await filesOf(folder)).not.toContain('src/boat/webhook.ts');
  });

  test('does not touch what it does not recognise', async () => {
    await using place = await workshop();
    const folder = await place.project('my-operator');
    await writeFile(join(folder, 'src', 'operator.ts'), '// all mine\n');
    await expect(addKind(folder, 'Boat')).rejects.toThrow('src/operator.ts is not as slipway has written it');
    expect(await filesOf(folder)).not.toContain('src/boat/api.ts');
    const api = join(folder, 'src', 'website', 'api.ts');
    await writeFile(api, (await readFile(api, 'utf8')).replace(/^ {2}spec: /m, '  versions: older(),\n$&'));
    const before = await filesOf(folder);
    await expect(addVersion(folder, 'Website')).rejects.toThrow('src/website/api.ts is not as slipway has written it');
    expect(await filesOf(folder)).toEqual(before);
  });

  test('outside a project it says where to be', async () => {
    await using place = await workshop();
    await expect(addKind(place.path, 'Boat')).rejects.toMatchObject({
      hint: 'run this in the folder of a project from npm create slipway',
    });
  });
});
