import { glob, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const kube = join(import.meta.dirname, '..', '..');

test('every row of docs/watch-failures.md is held by a test, and every test that cites a row finds it there', async () => {
  const page = await readFile(join(kube, '..', '..', 'docs', 'watch-failures.md'), 'utf8');
  const rows = [...page.matchAll(/^\| (\d+) \|/gm)].map(([, row]) => Number(row));
  const cited = new Set<number>();
  for await (const file of glob(['src/**/*.test.ts', 'test/**/*.test.ts'], { cwd: kube })) {
    const text = await readFile(join(kube, file), 'utf8');
    for (const [, row] of text.matchAll(/\(watch failure (\d+)\)/g)) cited.add(Number(row));
  }
  expect([...cited].toSorted((a, b) => a - b)).toEqual(rows);
});
