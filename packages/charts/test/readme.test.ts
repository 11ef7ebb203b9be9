import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const home = join(import.meta.dirname, '..');
const run = promisify(execFile);

/** What a block says it prints: the text after each `// →`. */
function promised(code: string): string[] {
  return [...code.matchAll(/\/\/ → (.*)$/gm)].map((match) => match[1]!);
}

test('every code block of the README runs and prints what it says', { timeout: 300_000 }, async () => {
  const markdown = await readFile(join(home, 'README.md'), 'utf8');
  const blocks = [...markdown.matchAll(/^```ts ?(\S*)\n(.*?)^```$/gms)];
  expect(blocks.length).toBeGreaterThanOrEqual(10);
  // Inside the package, so that the programs find it by its name; hidden from the checks of the repository.
  const directory = await mkdtemp(join(home, '.readme-'));
  try {
    for (const [index, [, name, code]] of blocks.entries()) {
      const file = join(directory, name || `block-${index}.ts`);
      await writeFile(file, code!);
      if (name) continue;
      const { stdout } = await run(process.execPath, [file], { cwd: directory, timeout: 60_000 });
      expect({ code, printed: stdout.trimEnd().split('\n').filter(Boolean) }).toEqual({
        code,
        printed: promised(code!),
      });
    }
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
});
