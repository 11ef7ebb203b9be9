import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';

import { exitCodes } from '../src/cli-error.ts';
import { call } from './kit.ts';

const page = await readFile(join(resolve(import.meta.dirname, '..', '..', '..'), 'docs', 'cli.md'), 'utf8');

test('docs/cli.md documents every exit code and no other', () => {
  const codes = [...page.matchAll(/^\| (\d+) \|/gm)].map(([, code]) => Number(code));
  expect(codes).toEqual(Object.values(exitCodes));
});

test('docs/cli.md documents every command and no other', async () => {
  const { out } = await call(['--help']);
  const commands = [...out.matchAll(/^ {2}([a-z]+) .*\S {2,}\S/gm)]
    .map(([, name]) => name)
    .filter((name) => name !== 'help');
  const documented = [...page.matchAll(/^\| `([a-z]+)[^|]*(?:\\\|[^|]*)*\|/gm)].map(([, name]) => name);
  expect(commands.length).toBeGreaterThan(10);
  expect(new Set(documented)).toEqual(new Set(commands));
});
