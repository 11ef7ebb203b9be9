import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';
import { describe, expect, test } from 'vitest';

const module = pathToFileURL(join(import.meta.dirname, 'standard-output.ts')).href;
/** Many times what a pipe holds. */
const size = 2_000_000;

/** A program that writes to a pipe; it has `out`, made with what `isAlone` says. */
function program(isAlone: boolean, code: string): ChildProcess {
  const source = `import { makeOutput } from ${JSON.stringify(module)};
import { writeSync } from 'node:fs';
const out = makeOutput({ isAlone: () => ${isAlone}, onClosed: () => writeSync(2, 'closed') });
${code}`;
  return spawn(process.execPath, ['--input-type=module', '-e', source], { stdio: ['ignore', 'pipe', 'pipe'] });
}

describe('standard output', () => {
  test('alone, a text has gone out when the program goes on, however large it is', async () => {
    const child = program(true, `out('a'.repeat(${size}) + 'ö'); out('!'); process.reallyExit(0);`);
    const written = await text(child.stdout!);
    expect([written.length, written.slice(-2)]).toEqual([size + 2, 'ö!']);
  });

  test('beside something else it does not wait for the reader', async () => {
    const child = program(false, `out('a'.repeat(${size})); writeSync(2, 'goes on');`);
    const [said] = (await once(child.stderr!, 'data')) as [Buffer];
    expect(String(said)).toBe('goes on');
    expect(await text(child.stdout!)).toHaveLength(size);
  });

  test('a pipe whose writers must not wait takes all of it in order', async () => {
    // Node's own stream makes it such a pipe.
    const child = program(true, `void process.stdout; out('a'.repeat(${size})); out('!');`);
    const written = await text(child.stdout!);
    expect([written.length, written.at(-1)]).toEqual([size + 1, '!']);
  });

  test.each([true, false])('a reader that goes away early is not an error (alone: %s)', async (isAlone) => {
    const child = program(isAlone, `out('a'.repeat(${size})); out('b');`);
    child.stdout!.once('data', () => child.stdout!.destroy());
    const [said, [code]] = await Promise.all([text(child.stderr!), once(child, 'exit') as Promise<[number]>]);
    expect([said.slice(0, 'closed'.length), code]).toEqual(['closed', 0]);
  });
});

test('nobody who reads standard error any more ends the work', async () => {
  const source = `import { makeErrorOutput } from ${JSON.stringify(module)};
const err = makeErrorOutput();
process.stdin.once('end', () => { err('progress'); setImmediate(() => { err('more'); process.stdout.write('done'); }); }).resume();`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', source], { stdio: 'pipe' });
  child.stderr.destroy();
  await once(child.stderr, 'close');
  child.stdin.end();
  const [said, [code]] = await Promise.all([text(child.stdout), once(child, 'exit') as Promise<[number]>]);
  expect([said, code]).toEqual(['done', 0]);
});
