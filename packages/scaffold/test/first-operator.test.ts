import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { delimiter, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { startCluster } from '@slipway/apiserver';
import { onReference, skipped } from '@slipway/testing';
import { expect, test } from 'vitest';

import { workshop } from './kit.ts';

const repository = resolve(import.meta.dirname, '..', '..', '..');
const page = await readFile(join(repository, 'docs', 'your-first-operator.md'), 'utf8');

interface Block {
  readonly language: string;
  readonly text: string;
}

const blocks: readonly Block[] = [...page.matchAll(/^```(\w*)\n(.*?)^```$/gms)].map(([, language = '', text = '']) => ({
  language,
  text,
}));

/** The lines a reader types. */
const lines = blocks.filter(({ language }) => language === 'sh').flatMap(({ text }) => text.trim().split('\n'));

test('the page goes from nothing to an installed operator, takes it off and lets it grow', () => {
  expect(lines).toEqual([
    'npm create slipway my-operator',
    'cd my-operator',
    'npm install',
    'npm test',
    'npm run check',
    'npm test',
    'npx slipway up --operator .',
    'npx slipway rbac --operator .',
    'npx slipway crds --operator .',
    'npx slipway check --operator .',
    'npx slipway install --operator . --image registry.example.com/my-operator:0.1.0',
    'npx slipway status --operator . -A',
    'npm run chart',
    'npx slipway uninstall --operator .',
    'npx slipway add kind Boat',
    'npx slipway add webhook Boat',
    'npx slipway add version Boat',
    'npm run check',
    'npm test',
  ]);
});

const lane = skipped(
  onReference || !process.env['SLIPWAY_SCAFFOLD'],
  'without SLIPWAY_SCAFFOLD=1 (npm run test:scaffold): every step of docs/your-first-operator.md, which takes a minute',
);

test.skipIf(lane)('every step of the page works', { timeout: 600_000 }, async () => {
  await using place = await workshop();
  const cluster = await startCluster({ port: 0, controllers: 'workloads' });
  try {
    // Its first lines, with the packages of this workspace in the place of those of the registry.
    const folder = await place.project('my-operator');
    const kubeconfig = join(place.path, 'kubeconfig');
    await cluster.writeKubeconfig(kubeconfig);
    const reader = new Reader(folder, kubeconfig, place.path);
    for (const { language, text } of blocks.slice(1)) {
      const file = /^\/\/ (\S+)\n/.exec(text);
      if (language === 'ts') await writeFile(join(folder, file![1]!), text.slice(file![0].length));
      if (language !== 'sh') continue;
      for (const line of text.trim().split('\n')) await (line.includes(' up ') ? reader.sees(line) : reader.does(line));
    }
    const said = (beginning: string) => [...reader.said].find(([line]) => line.startsWith(beginning))?.[1];
    expect(said('npm test')).toContain('✔ a Website greets with hello unless told otherwise');
    expect(said('npm test')).toContain('✔ a Boat of version v1 is read in the newest one');
    expect(said('npx slipway crds')).toContain('greeting:');
    expect(said('npx slipway check')).toContain('nothing stands in the way\n');
    expect(said('npx slipway install')).toContain('installed; ');
    expect(said('npx slipway status')).toBe('nothing is managed yet\n');
    expect(said('npx slipway uninstall')).toContain('nothing of slipway is left\n');
  } finally {
    await cluster.stop();
  }
});

/** Somebody who follows the page, in a shell of his own. */
class Reader {
  readonly #place: { readonly cwd: string; readonly env: NodeJS.ProcessEnv };
  /** What each line said, the last time it was typed. */
  readonly said = new Map<string, string>();

  constructor(cwd: string, kubeconfig: string, home: string) {
    const { SLIPWAY_CLUSTER: _cluster, NODE_OPTIONS: _options, ...inherited } = process.env;
    const path = [join(repository, 'node_modules', '.bin'), inherited['PATH']].join(delimiter);
    this.#place = { cwd, env: { ...inherited, PATH: path, KUBECONFIG: kubeconfig, HOME: home } };
  }

  async does(line: string): Promise<void> {
    const [file = '', ...argv] = line.split(' ');
    try {
      const { stdout } = await promisify(execFile)(file, argv, this.#place);
      this.said.set(line, stdout);
    } catch (error) {
      const { stdout, stderr } = error as { stdout: string; stderr: string };
      throw new Error(`${line}\n${stdout}${stderr}`, { cause: error });
    }
  }

  /** A line that goes on until Ctrl-C, which is pressed when the example is ready. */
  async sees(line: string): Promise<void> {
    const argv = [...line.split(' ').slice(2), '--port', '0'];
    const program = spawn('slipway', argv, { ...this.#place, stdio: ['ignore', 'pipe', 'pipe'] });
    const ready = 'Website default/first → Ready';
    let said = '';
    const take = (chunk: Buffer) => {
      const before = said.includes(ready);
      said += String(chunk);
      if (!before && said.includes(ready)) program.kill('SIGINT');
    };
    program.stdout.on('data', take);
    program.stderr.on('data', take);
    await once(program, 'close');
    expect(said).toContain(ready);
    expect(program.exitCode).toBe(0);
  }
}
