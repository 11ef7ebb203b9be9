import { parseManifests } from '@slipway/manifests';
import { expect, test } from 'vitest';

import { ReadManifests } from './read-manifests.ts';

const configMap = (name: string, text = 'x') =>
  `---\n# Source: a.yaml\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: ${name}\ndata:\n  text: ${text}\n`;

test('the objects of a text are those of its documents, twice the same one included', () => {
  const text = [
    configMap('a'),
    configMap('b', '|\n    ---\n    not the end'),
    configMap('a'),
    '---\n\n--- # nothing\n',
  ].join('');
  expect(new ReadManifests().read(text, 'text')).toEqual(parseManifests(text));
});

test('a document that stays is not read again, one that left is forgotten', () => {
  const manifests = new ReadManifests();
  const [a] = manifests.read(configMap('a') + configMap('b'), 'text');
  const [same, changed] = manifests.read(configMap('a') + configMap('b', 'other'), 'text');
  expect(same).toBe(a);
  expect(changed).toMatchObject({ data: { text: 'other' } });
  manifests.read(configMap('b'), 'text');
  expect(manifests.read(configMap('a'), 'text')[0]).not.toBe(a);
});

test('a mistake is named with its place in the whole text', () => {
  const read = () => new ReadManifests().read(`${configMap('a')}---\nkind: ConfigMap\n`, 'init.yaml');
  expect(read).toThrow(/init\.yaml/);
  expect(read).toThrow(/document 2, line 10/);
});
