import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { startCluster } from '@slipway/apiserver';
import { expect, test } from 'vitest';

interface Block {
  /** Set when later blocks import it under this name. */
  file: string | undefined;
  line: number;
  code: string;
}

function blocksOf(markdown: string): Block[] {
  return [...markdown.matchAll(/^```ts ?(\S*)\n(.*?)^```$/gms)].map((match) => ({
    file: match[1] || undefined,
    line: markdown.slice(0, match.index).split('\n').length,
    code: match[2]!,
  }));
}

/** What a block says it prints: the text after each `// →`. */
function promised(code: string): string[] {
  return [...code.matchAll(/\/\/ → (.*)$/gm)].map((match) => match[1]!);
}

/** Inside the package, so that the programs find it by its name; hidden from the checks of the repository. */
const home = join(import.meta.dirname, '..');
const root = join(home, '..', '..');
const run = promisify(execFile);

test('every code block of the README compiles', { timeout: 300_000 }, async () => {
  const directory = await mkdtemp(join(home, '.readme-'));
  try {
    const blocks = blocksOf(await readFile(join(home, 'README.md'), 'utf8'));
    const files = blocks.map(({ file, line }) => join(directory, file ?? `line-${line}.ts`));
    for (const [index, { code }] of blocks.entries()) await writeFile(files[index]!, code);
    const config = { extends: join(root, 'tsconfig.json'), files, include: [] };
    await writeFile(join(directory, 'tsconfig.json'), JSON.stringify(config));
    const { stdout } = await run(join(root, 'node_modules', '.bin', 'tsc'), ['-p', directory], { cwd: root }).catch(
      (error: { stdout: string }) => error,
    );
    expect(stdout).toBe('');
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
});

test('every code block of the README runs and prints what it says', { timeout: 300_000 }, async () => {
  const blocks = blocksOf(await readFile(join(home, 'README.md'), 'utf8'));
  expect(blocks.length).toBeGreaterThanOrEqual(10);
  const directory = await mkdtemp(join(home, '.readme-'));
  try {
    await using cluster = await startCluster({ port: 0 });
    const kubeconfig = join(directory, 'config');
    await cluster.writeKubeconfig(kubeconfig);
    for (const [index, block] of blocks.entries()) {
      const file = join(directory, block.file ?? `block-${index}.ts`);
      await writeFile(file, block.code);
      if (block.file) continue;
      const { stdout, stderr } = await run(process.execPath, [file], {
        cwd: directory,
        env: { KUBECONFIG: kubeconfig, PATH: process.env['PATH'] },
        timeout: 15_000,
      });
      expect({ line: block.line, printed: stdout.trimEnd().split('\n').filter(Boolean), stderr }).toEqual({
        line: block.line,
        printed: promised(block.code),
        stderr: '',
      });
    }
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
});
