import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { startCluster } from '@slipway/apiserver';
import { expect, test } from 'vitest';

const home = join(import.meta.dirname, '..');
const run = promisify(execFile);
/** Printed after each block. */
const over = '(end of the block)';

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
    await using cluster = await startCluster({ port: 0 });
    const kubeconfig = join(directory, 'kubeconfig');
    await cluster.writeKubeconfig(kubeconfig);
    const files = blocks.map(([, name], index) => name || `block-${index}.ts`);
    for (const [index, file] of files.entries()) await writeFile(join(directory, file), blocks[index]![2]!);
    const runs = [...files.entries()].filter(([index]) => !blocks[index]![1]);
    // One process for all: most of the time of one goes into loading the package.
    const program = runs.map(([, file]) => `await import('./${file}');\nconsole.log('${over}');\n`).join('');
    await writeFile(join(directory, 'all.ts'), program);
    const { stdout } = await run(process.execPath, ['all.ts'], {
      cwd: directory,
      env: { ...process.env, KUBECONFIG: kubeconfig },
      timeout: 120_000,
    });
    const printed = stdout.split(`${over}\n`);
    for (const [position, [index]] of runs.entries()) {
      const code = blocks[index]![2]!;
      expect({ code, printed: printed[position]!.trimEnd().split('\n').filter(Boolean) }).toEqual({
        code,
        printed: promised(code),
      });
    }
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
});
