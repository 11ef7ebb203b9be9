import { execFile } from 'node:child_process';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const packages = resolve(import.meta.dirname, '..', '..');

/** Runs a program on this Node, which says that it is another one. */
async function runOn(version: string, program: string, ...argv: string[]) {
  const before = [
    `Object.defineProperty(process.versions, 'node', { value: '${version}' });`,
    `process.argv.splice(1, 0, ${JSON.stringify(program)});`,
    `require(${JSON.stringify(program)});`,
  ];
  const { SLIPWAY_CLUSTER: _cluster, ...env } = process.env;
  return await promisify(execFile)(process.execPath, ['-e', before.join(''), '--', ...argv], { env }).then(
    ({ stdout, stderr }) => ({ code: 0, out: stdout, err: stderr }),
    ({ code, stdout, stderr }: { code: number; stdout: string; stderr: string }) => ({
      code,
      out: stdout,
      err: stderr,
    }),
  );
}

test.each(['slipway/slipway.cjs', 'create-slipway/create-slipway.cjs'])(
  '%s tells an old Node in one line which one it is and which one is needed, and loads nothing else',
  async (program) => {
    // That a Node of today gets what it asks for, `npm run test:packages` proves with the programs installed.
    expect(await runOn('20.20.2', join(packages, program), '--help')).toEqual({
      code: 1,
      out: '',
      err: expect.stringMatching(/^slipway needs Node 24 or newer, and this is Node 20\.20\.2: .*\n$/) as string,
    });
  },
);
