import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Answers } from './probes.ts';

const file = join(import.meta.dirname, '..', 'goldens', 'validation.json');

export async function readRecorded(): Promise<Answers> {
  return JSON.parse(await readFile(file, 'utf8')) as Answers;
}

/** A line for each place, so that a re-recording shows where something changed. */
export async function writeRecorded(answers: Answers): Promise<void> {
  const lines = Object.entries(answers).map(([place, given]) => `${JSON.stringify(place)}: ${JSON.stringify(given)}`);
  await writeFile(file, `{\n${lines.join(',\n')}\n}\n`);
}
