import { execFile } from 'node:child_process';
import { join } from 'node:path';

import { expect, test } from 'vitest';

interface Line {
  msg: string;
  error?: { stack?: string };
  data?: unknown;
}

/** Runs the program and gives back how it ended and what it logged. */
function run(how: string): Promise<{ code: unknown; lines: Line[] }> {
  const program = join(import.meta.dirname, 'programs', 'uncaught.ts');
  return new Promise((resolve) => {
    execFile(process.execPath, ['--no-warnings', program, how], (error, stdout) => {
      const lines = stdout
        .split('\n')
        .filter((line) => line.startsWith('{'))
        .map((line) => JSON.parse(line) as Line);
      resolve({ code: error ? error.code : 0, lines });
    });
  });
}

test.each([
  ['throw', 1],
  ['reject', 1],
  ['twice', 2],
])(
  'an error nobody catches (%s) is logged with its stack, what runs is finished, and the exit code is 1',
  async (how, times) => {
    const { code, lines } = await run(how);
    expect(code).toBe(1);
    const uncaught = lines.filter(({ msg }) => msg === 'an error nobody caught');
    expect(uncaught).toHaveLength(times);
    expect(uncaught[0]!.error?.stack).toMatch(/on purpose[^]*uncaught\.ts/);
    expect(lines.map(({ msg }) => msg)).toEqual(expect.arrayContaining(['gave the lease up', 'stopped']));
    expect(lines.find(({ msg }) => msg === 'afterwards')?.data).toEqual({ done: 'yes' });
  },
);
