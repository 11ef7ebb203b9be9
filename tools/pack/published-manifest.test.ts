import { expect, test } from 'vitest';

import { entryModules, publishedManifest, type PackageManifest } from './published-manifest.ts';

const release = { version: '1.2.3' };
const source: PackageManifest = {
  name: '@slipway/harbour',
  version: '1.2.3',
  private: true,
  description: 'A harbour.',
  bin: { harbour: './src/main.ts' },
  exports: { '.': './src/index.ts', './testing': './src/testing/index.ts' },
  dependencies: { '@slipway/kube': '1.2.3', yaml: '2.9.1' },
  devDependencies: { '@slipway/oracles': '1.2.3' },
  engines: { node: '>=24' },
  slipway: { commands: { crane: { summary: 'lifts things', module: './src/command/crane.ts' } } },
};
const travelling = { folder: 'packages/harbour', assets: ['manifests'] };

test('points to built files only, and to nothing private', () => {
  const { exports, bin, slipway } = publishedManifest(source, release, travelling);
  expect(exports).toEqual({
    '.': './dist/index.js',
    './testing': './dist/testing/index.js',
    './package.json': './package.json',
  });
  expect(bin).toEqual({ harbour: './dist/main.js' });
  expect(slipway?.commands).toEqual({ crane: { summary: 'lifts things', module: './dist/command/crane.js' } });
});

test('can be published, and asks for nothing that only development needs', () => {
  const published = publishedManifest(source, release, travelling);
  expect(published).not.toHaveProperty('private');
  expect(published).not.toHaveProperty('devDependencies');
  expect(published).toMatchObject({
    description: 'A harbour.',
    dependencies: source.dependencies,
    engines: { node: '>=22.19.0' },
    files: ['dist', 'manifests', 'NOTICE'],
    publishConfig: { access: 'public' },
  });
});

test('says where it lies in the repository, when there is one', () => {
  const repository = { type: 'git', url: 'git+https://git.example.com/slipway.git' };
  expect(publishedManifest(source, { ...release, repository }, travelling)['repository']).toEqual({
    ...repository,
    directory: 'packages/harbour',
  });
  expect(publishedManifest(source, release, travelling)).not.toHaveProperty('repository');
});

test('a package out of step is refused', () => {
  const late = { ...source, dependencies: { '@slipway/kube': '1.2.2' } };
  expect(() => publishedManifest(late, release, travelling)).toThrow(
    '@slipway/harbour: @slipway/kube has version 1.2.2, and this release is 1.2.3',
  );
  expect(() => publishedManifest({ ...source, version: '1.3.0' }, release, travelling)).toThrow('has version 1.3.0');
});

test('is entered by its exports, programs and commands', () => {
  const twice = { ...source, bin: { harbour: './src/index.ts', plain: './plain.cjs' } };
  expect(entryModules(twice)).toEqual(['./src/index.ts', './src/testing/index.ts', './src/command/crane.ts']);
});
