import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { access } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';

import { temporaryFolder } from './kit.ts';

const main = resolve(import.meta.dirname, '..', 'src', 'main.ts');
/** Loaded before the command: on this signal a listener throws, where nobody can catch it. */
const saboteur = `process.on('SIGUSR2', () => { throw new Error('thrown on purpose') })`;

test.each([
  ['cluster', /kubectl get namespaces/, /use it with/],
  ['up', /is up/, /stopped; the cluster was in memory and is gone/],
])(
  'slipway %s ends in order after an error nobody caught: logged with its stack, cleaned up, code 1',
  async (command, begun, said) => {
    await using folder = await temporaryFolder();
    const preload = `data:text/javascript,${encodeURIComponent(saboteur)}`;
    const operators = command === 'up' ? ['operand'] : [];
    const child = spawn(process.execPath, ['--import', preload, main, command, ...operators, '--port', '0'], {
      env: { ...process.env, XDG_STATE_HOME: folder.path },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let out = '';
    let err = '';
    child.stderr.on('data', (chunk: Buffer) => (err += String(chunk)));
    const closed = once(child, 'close') as Promise<[number | null]>;
    let struck = false;
    child.stdout.on('data', (chunk: Buffer) => {
      out += String(chunk);
      if (struck || !begun.test(out)) return;
      struck = true;
      child.kill('SIGUSR2');
    });
    const [code] = await closed;
    expect(err).toMatch(/an error nobody caught[^]*thrown on purpose/);
    expect(err).toMatch(/^slipway: an error was thrown and nobody caught it: thrown on purpose$/m);
    expect(out).toMatch(said);
    expect(code).toBe(1);
    const kubeconfig = /KUBECONFIG=(\S+)/.exec(out)![1]!;
    expect(kubeconfig).toContain(join(folder.path, 'slipway'));
    await expect(access(kubeconfig)).rejects.toMatchObject({ code: 'ENOENT' });
  },
);
