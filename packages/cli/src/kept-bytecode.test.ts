import { spawnSync } from 'node:child_process';
import { chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'slipway-bytecode-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const module = join(import.meta.dirname, 'kept-bytecode.ts');
const source = '// digest-1\n(()=>{function late(n){return n<2?n:late(n-1)+late(n-2)}return late})()';

/** Runs the script in a process of its own, calls its function and keeps what it compiled. Answers the function's answer. */
function run(text: string, { calls = 10, flags = [] as string[] } = {}): string {
  const script = `const { KeptBytecode } = await import(${JSON.stringify(module)});
    const kept = new KeptBytecode(${JSON.stringify(join(folder, 'late.cjs'))}, ${JSON.stringify(text)}, ${JSON.stringify(folder)});
    const answer = kept.run()(${calls});
    kept.keep();
    process.stdout.write(String(answer));`;
  const { status, stdout, stderr } = spawnSync(process.execPath, [...flags, '--input-type=module', '--eval', script], {
    encoding: 'utf8',
  });
  expect(stderr).toBe('');
  expect(status).toBe(0);
  return stdout;
}

const keptFiles = async () => (await readdir(folder)).filter((name) => name.endsWith('.bytecode'));

test('what ran is kept once, and is run from there', async () => {
  expect(run(source)).toBe('55');
  const [name] = await keptFiles();
  const file = join(folder, name!);
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  const content = await readFile(file);
  // Of a run so large that no other is larger.
  content.writeUInt32LE(0xff_ff_ff_ff, content.length - 4);
  await writeFile(file, content);
  expect(run(source)).toBe('55');
  expect(await keptFiles()).toEqual([name]);
  expect(await readFile(file)).toEqual(content);
});

test('a run of more work is kept in its place: it came to functions the other did not', async () => {
  run(source);
  const [file] = await keptFiles();
  const before = await readFile(join(folder, file!));
  before.writeUInt32LE(1, before.length - 4);
  await writeFile(join(folder, file!), before);
  expect(run(source)).toBe('55');
  const after = await readFile(join(folder, file!));
  expect(after.readUInt32LE(after.length - 4)).toBeGreaterThan(1);
});

test('another text of the same length is another script, and other flags of V8 have a file of their own', async () => {
  run(source);
  expect(run(source.replace('digest-1', 'digest-2').replace('n<2?n', 'n<2?1'))).toBe('89');
  expect(run(source, { flags: ['--no-maglev'] })).toBe('55');
  expect(await keptFiles()).toHaveLength(3);
});

test.each([
  ['cut short', (content: Buffer) => content.subarray(0, content.length / 2)],
  ['empty', () => Buffer.alloc(0)],
  ['something else', () => Buffer.from('not bytecode')],
])('bytecode that is %s is not run, and made again', async (_, spoil) => {
  run(source);
  const file = join(folder, (await keptFiles())[0]!);
  const whole = await readFile(file);
  await writeFile(file, spoil(whole));
  expect(run(source)).toBe('55');
  expect((await readFile(file)).length).toBeGreaterThan(whole.length / 2);
});

test('a folder that cannot be written keeps nothing and stops nobody', async () => {
  await chmod(folder, 0o500);
  expect(run(source)).toBe('55');
  await chmod(folder, 0o700);
  // Who may do anything may write there, too.
  expect((await keptFiles()).length).toBe(process.getuid?.() === 0 ? 1 : 0);
});
