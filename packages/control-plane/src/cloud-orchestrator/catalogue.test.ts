import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';

import { SettingsError } from '../config/settings-error.ts';
import { readCatalogue } from './catalogue.ts';

const folder = mkdtempSync(join(tmpdir(), 'slipway-catalogue-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function write(path: string, text: string): string {
  const whole = join(folder, path);
  mkdirSync(join(whole, '..'), { recursive: true });
  writeFileSync(whole, text);
  return whole;
}

const configMap = (name: string) => `apiVersion: v1\nkind: ConfigMap\nmetadata: { name: ${name} }\n`;

test('a version is a file, a folder or a chart, beside the catalogue', async () => {
  write('one.yaml', `${configMap('a')}---\n${configMap('b')}`);
  write('many/2.yaml', configMap('second'));
  write('many/1.yml', configMap('first'));
  write('many/README.md', 'no manifest');
  write('web/Chart.yaml', 'apiVersion: v2\nname: web\nversion: 3.0.0\n');
  const text =
    'flux: {"1": one.yaml, "2": many}\nkyverno: {"3": {chart: web, namespace: kyverno, values: {replicas: 2}}}\n';
  const catalogue = readCatalogue(write('catalogue.yaml', text));
  const names = async (version: string) => {
    const content = await catalogue.contentOf('flux', version);
    return 'objects' in content ? content.objects.map(({ metadata }) => metadata.name) : [];
  };
  expect(await names('1')).toEqual(['a', 'b']);
  expect(await names('2')).toEqual(['first', 'second']);
  expect(await catalogue.contentOf('kyverno', '3')).toMatchObject({
    chart: { metadata: { name: 'web', version: '3.0.0' } },
    namespace: 'kyverno',
    values: { replicas: 2 },
  });
  expect(catalogue.versionsOf('flux')).toEqual(['1', '2']);
  expect(catalogue.versionsOf('crossplane')).toEqual([]);
});

test('a version that is not there is an error that says which are', async () => {
  const catalogue = readCatalogue(write('small.yaml', 'flux: {"1": one.yaml, "2": many}\n'));
  await expect(catalogue.contentOf('flux', '9')).rejects.toMatchObject({
    reason: 'ConfigurationProblem',
    message: 'flux 9 is not in the catalogue; it has 1, 2',
  });
  await expect(catalogue.contentOf('kyverno', '1')).rejects.toThrow('it has no kyverno at all');
  // What every object has is no version.
  await expect(catalogue.contentOf('flux', 'constructor')).rejects.toThrow('flux constructor is not in the catalogue');
});

test.each([
  ['something else', '[1]', 'must be a mapping of components'],
  ['an unknown component', 'kettle: {}', 'kettle: unknown; known: crossplane, '],
  ['no versions', 'flux: later', 'flux: must be a mapping of versions'],
  ['a number for a path', 'flux: {"1": 7}', 'flux.1: must be a path of manifests, or a mapping with chart'],
  ['a chart without a namespace', 'flux: {"1": {chart: web}}', 'flux.1.namespace'],
  ['no YAML', 'flux: [', 'the file is not YAML'],
])('a catalogue with %s is refused, with the field by name', (_what, text, says) => {
  const file = write('refused.yaml', text);
  expect(() => readCatalogue(file)).toThrow(SettingsError);
  expect(() => readCatalogue(file)).toThrow(says);
});

test('a catalogue that is not there is said to be missing', () => {
  expect(() => readCatalogue(join(folder, 'nowhere.yaml'))).toThrow(/nowhere\.yaml.*the file does not exist/s);
});
