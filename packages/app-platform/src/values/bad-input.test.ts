import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';

import { writeFiles } from '../../test/git-kit.ts';
import { loadValues } from './load.ts';
import { PlatformRoot } from './platform-root.ts';
import { validateValues } from './validate.ts';
import type { ValuesError } from './values-error.ts';

async function inFolder<T>(files: Record<string, string>, work: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'slipway-bad-'));
  try {
    await writeFiles(folder, files);
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true });
  }
}

function aliasBomb(): string {
  const all = (level: number): string => Array.from({ length: 9 }, () => `*l${level - 1}`).join(', ');
  const levels = Array.from(
    { length: 12 },
    (_, level) => `  l${level}: &l${level} [${level === 0 ? '1' : all(level)}]`,
  );
  return `spec:\n${levels.join('\n')}\n`;
}

const file = 'env/apps/odd.yaml';

test.each<[what: string, text: string, line: string]>([
  ['malformed YAML', 'kind: AplApp\nspec:\n  a: [\n', `${file}:4: `],
  ['a key that is there twice', 'spec:\n  a: 1\n  a: 2\n', `${file}:3: duplicate key`],
  ['a file that is no map', '- a\n', `${file}:1: must be a map`],
  ['a spec that is no map', 'kind: AplApp\nspec: text\n', `${file}:2: spec: must be a map`],
  ['aliases of aliases', aliasBomb(), `${file}: has too many aliases`],
  ['a huge file', `spec: {a: "${'x'.repeat(1_100_000)}"}\n`, `${file}: is larger than 1024 KiB`],
  ['a document a thousand levels deep', `spec: ${'['.repeat(20_000)}\n`, `${file}`],
  [
    'a key that reaches a prototype',
    'spec:\n  __proto__: {a: 1}\n',
    `${file}:2: spec: a key cannot be called __proto__`,
  ],
])('%s is refused with file and line, and never quoted', async (_what, text, line) => {
  const error = await inFolder({ [file]: text }, loadValues).catch((caught: unknown) => caught as ValuesError);
  expect(error).toMatchObject({ name: 'ValuesError', code: 'Malformed' });
  expect((error as ValuesError).message).toContain(line);
});

test.each<[what: string, schema: string, words: string]>([
  ['empty', '', 'values-schema.yaml of the platform is empty'],
  ['a list', '- type: object\n', 'values-schema.yaml:1: must be a map'],
  ['no YAML', 'type: [\n', 'values-schema.yaml:2'],
  ['a map that is no schema', 'type: strin\n', 'Schema is invalid: values-schema.yaml'],
  [
    'one that refers to what is not there',
    'properties: {a: {$ref: "#/definitions/b"}}\n',
    'Schema is invalid: values-schema.yaml',
  ],
])('a schema that is %s lets nothing through, and the error names it', async (_what, schema, words) => {
  const checked = inFolder({ 'values-schema.yaml': schema }, async (folder) => {
    validateValues({ tree: { cluster: {} }, files: [] }, await new PlatformRoot(folder).schema());
  });
  await expect(checked).rejects.toThrow(words);
});

test('a secret on a line that is no YAML is not in the error', async () => {
  const error = await inFolder({ [file]: 'spec:\n  password: hunter2: [x\n' }, loadValues).catch(String);
  expect(error).toContain(`${file}:2`);
  expect(error).not.toContain('hunter2');
});
