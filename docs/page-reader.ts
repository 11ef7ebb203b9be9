import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { ensureReferenceBinaries } from '@slipway/reference-cluster';
import { onReference, skipped } from '@slipway/testing';
import { expect } from 'vitest';

const run = promisify(execFile);
const repository = resolve(import.meta.dirname, '..');

interface Block {
  readonly language: string;
  readonly text: string;
}

/** The fenced blocks of a page, in order. */
export function blocks(markdown: string): Block[] {
  return [...markdown.matchAll(/^```(\w*)\n(.*?)^```$/gms)].map(([, language, text]) => ({
    language: language!,
    text: text!,
  }));
}

/** A command that runs until somebody ends it, and the word it says when it is ready. */
interface Terminal {
  readonly command: RegExp;
  readonly ready: string;
}

const slipwayUp: Terminal = { command: /^npx slipway up /m, ready: 'KUBECONFIG' };

/** The kubectl that types the commands of a page, in the lane that has one. Elsewhere nothing, and a line that says so. */
export async function kubectlInLane(page: string): Promise<string | undefined> {
  if (skipped(!onReference, `the commands of ${page}: npm run test:reference types them`)) return undefined;
  const binaries = await ensureReferenceBinaries({ tools: ['kubectl'], build: false });
  if (binaries.available) return binaries.kubectl;
  skipped(true, `the commands of ${page}: ${binaries.reason}`);
  return undefined;
}

/**
 * Somebody who follows a page in a folder of their own: files (a first line such as `# shop.yaml` or `// main.ts` names one) are written, commands are run, and
 * what the page shows after them must be in what they say.
 */
export class PageReader implements AsyncDisposable {
  readonly #folder: string;
  readonly #env: NodeJS.ProcessEnv;
  readonly #terminals: readonly Terminal[];
  readonly #background = new Map<Terminal, ChildProcess>();
  #exports = '';

  static async start(kubectl: string, terminals: readonly Terminal[] = []): Promise<PageReader> {
    const folder = await mkdtemp(join(tmpdir(), 'slipway-docs-'));
    const tools = join(folder, '.tools');
    await mkdir(tools);
    await symlink(kubectl, join(tools, 'kubectl'));
    await symlink(process.execPath, join(tools, 'node'));
    await symlink(join(repository, 'node_modules'), join(folder, 'node_modules'));
    // What `npx slipway` is for somebody who has it installed.
    const npx = `#!/bin/sh\nshift\nexec "${process.execPath}" "${join(repository, 'packages/cli/src/main.ts')}" "$@"\n`;
    await writeFile(join(tools, 'npx'), npx);
    await chmod(join(tools, 'npx'), 0o755);
    const env: NodeJS.ProcessEnv = {
      ...process.env,
      HOME: folder,
      KUBECONFIG: '',
      PATH: `${tools}:${process.env['PATH']}`,
    };
    // A reader has the embedded cluster, whatever these tests run on.
    delete env['SLIPWAY_CLUSTER'];
    return new PageReader(folder, env, [slipwayUp, ...terminals]);
  }

  constructor(folder: string, env: NodeJS.ProcessEnv, terminals: readonly Terminal[]) {
    this.#folder = folder;
    this.#env = env;
    this.#terminals = terminals;
  }

  /** Follows the whole page; answers how many commands that were. */
  async follow(page: string): Promise<number> {
    const all = blocks(page);
    let commands = 0;
    for (const [index, block] of all.entries()) {
      const file = /^(?:#|\/\/) (\S+\.(?:yaml|ts))\n/.exec(block.text)?.[1];
      if (file) await writeFile(join(this.#folder, file), block.text);
      if (block.language !== 'sh') continue;
      const output = await this.#does(block.text);
      commands += block.text.trim().split('\n').length;
      const shown = all[index + 1];
      if (shown?.language === '') expect(inColumns(output)).toContain(inColumns(shown.text));
    }
    return commands;
  }

  async #does(commands: string): Promise<string> {
    const terminal = this.#terminals.find(({ command }) => command.test(commands));
    if (terminal) {
      await this.#opens(terminal, commands);
      return '';
    }
    this.#exports += commands
      .split('\n')
      .filter((line) => line.startsWith('export '))
      .map((line) => `${line}\n`)
      .join('');
    const { stdout } = await run('sh', ['-euc', `${this.#exports}${commands}`], {
      cwd: this.#folder,
      env: this.#env,
    }).catch((error: { stdout?: string; stderr?: string }) => {
      throw new Error(`the page says\n${commands}\nwhich fails with\n${error.stdout}${error.stderr}`, { cause: error });
    });
    return stdout;
  }

  /** In a terminal of its own, in place of what ran there before. */
  async #opens(terminal: Terminal, command: string): Promise<void> {
    await this.#ends(this.#background.get(terminal));
    const child = spawn('sh', ['-c', `${this.#exports}exec ${command.trim()}`], {
      cwd: this.#folder,
      env: this.#env,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#background.set(terminal, child);
    let text = '';
    await new Promise<void>((ready, fail) => {
      const hear = (chunk: Buffer) => {
        text += chunk.toString();
        if (text.includes(terminal.ready)) ready();
      };
      child.stdout.on('data', hear);
      child.stderr.on('data', hear);
      child.once('exit', (code) => fail(new Error(`${command.trim()} ended with ${code}:\n${text}`)));
    });
  }

  async #ends(child: ChildProcess | undefined): Promise<void> {
    if (child === undefined || child.exitCode !== null) return;
    const ended = once(child, 'exit');
    if (child.kill('SIGTERM')) await ended;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const child of this.#background.values()) await this.#ends(child);
    await rm(this.#folder, { recursive: true, force: true });
  }
}

/** Ages and the width of columns differ from reader to reader. */
function inColumns(text: string): string {
  return text
    .trim()
    .split('\n')
    .map((line) =>
      line
        .trim()
        .replace(/\s+/g, ' ')
        .replace(/ \d+m?s$/, ' AGE'),
    )
    .join('\n');
}
