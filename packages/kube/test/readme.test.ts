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
/** Printed after each block. */
const over = '(end of the block)';

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
    const fileOf = ({ file, line }: Block) => file ?? `line-${line}.ts`;
    for (const block of blocks) await writeFile(join(directory, fileOf(block)), block.code);
    const runs = blocks.filter(({ file }) => file === undefined);
    // One process for all: most of the time of one goes into loading the package.
    const program = runs.map((block) => `await import('./${fileOf(block)}');\nconsole.log('${over}');\n`).join('');
    await writeFile(join(directory, 'all.ts'), program);
    const { stdout, stderr } = await run(process.execPath, ['all.ts'], {
      cwd: directory,
      env: { KUBECONFIG: kubeconfig, PATH: process.env['PATH'] },
      timeout: 120_000,
    });
    const printed = stdout.split(`${over}\n`);
    for (const [index, { line, code }] of runs.entries()) {
      expect({ line, printed: printed[index]!.trimEnd().split('\n').filter(Boolean) }).toEqual({
        line,
        printed: promised(code),
      });
    }
    expect(stderr).toBe('');
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
});
