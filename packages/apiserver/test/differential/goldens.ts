import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Exchange } from './normalise.ts';

/** What a real server answered, by case. */
export type Golden = Readonly<Record<string, readonly Exchange[]>>;

const folder = join(import.meta.dirname, '..', 'goldens');

export async function readGolden(group: string): Promise<Golden> {
  return JSON.parse(await readFile(join(folder, `${group}.json`), 'utf8')) as Golden;
}

/** One line for each answer: a re-recording shows what changed, and nothing is spent on indentation. */
export async function writeGolden(group: string, golden: Golden): Promise<void> {
  const cases = Object.entries(golden).map(
    ([name, exchanges]) =>
      `${JSON.stringify(name)}: [\n${exchanges.map((exchange) => JSON.stringify(exchange)).join(',\n')}\n]`,
  );
  await writeFile(join(folder, `${group}.json`), `{\n${cases.join(',\n')}\n}\n`);
}
