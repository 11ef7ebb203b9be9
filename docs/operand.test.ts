import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { Operand } from '@slipway/operand';
import { toCustomResourceDefinition } from '@slipway/kube';
import { ensureReferenceBinaries } from '@slipway/reference-cluster';
import { describe, expect, test } from 'vitest';

const run = promisify(execFile);
const repository = resolve(import.meta.dirname, '..');
const page = await readFile(join(import.meta.dirname, 'operand.md'), 'utf8');

interface Block {
  readonly language: string;
  readonly text: string;
}

/** The fenced blocks of the page, in order. */
function blocks(markdown: string): Block[] {
  return [...markdown.matchAll(/^```(\w*)\n(.*?)^```$/gms)].map(([, language, text]) => ({
    language: language!,
    text: text!,
  }));
}

const binaries = await ensureReferenceBinaries({ tools: ['kubectl'], build: false });
const kubectl = binaries.available ? binaries.kubectl : undefined;
// oxlint-disable-next-line no-console -- a test that did not run must say so
if (!binaries.available) console.log(`docs/operand.md: commands SKIPPED, no kubectl: ${binaries.reason}`);

describe('docs/operand.md', () => {
  test.skipIf(kubectl === undefined)(
    'every command on the page works, and says what the page says',
    { timeout: 180_000 },
    async () => {
      await using reader = await Reader.start(kubectl!);
      const all = blocks(page);
      let commands = 0;
      for (const [index, block] of all.entries()) {
        const file = /^# (\S+\.yaml)\n/.exec(block.text)?.[1];
        if (block.language === 'yaml' && file) await reader.write(file, block.text);
        if (block.language !== 'sh') continue;
        const output = await reader.does(block.text);
        commands += block.text.trim().split('\n').length;
        const shown = all[index + 1];
        if (shown?.language === '') expect(inColumns(output)).toContain(inColumns(shown.text));
      }
      expect(commands).toBeGreaterThan(15);
    },
  );

  test('lists every field of the spec and no other', () => {
    const crd = toCustomResourceDefinition(Operand) as unknown as {
      spec: { versions: { schema: { openAPIV3Schema: { properties: { spec: { properties: object } } } } }[] };
    };
    const fields = Object.keys(crd.spec.versions[0]!.schema.openAPIV3Schema.properties.spec.properties);
    const table = page.slice(page.indexOf('## The spec'), page.indexOf('## Health of your own kinds'));
    const documented = [...table.matchAll(/^\| `(\w+)` \|/gm)].map(([, field]) => field!);
    expect(documented.sort()).toEqual(fields.sort());
  });
});

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

/** Somebody who follows the page in a folder of their own, with two terminals. */
class Reader implements AsyncDisposable {
  readonly #folder: string;
  readonly #env: NodeJS.ProcessEnv;
  readonly #background: ChildProcess[] = [];
  #exports = '';

  static async start(kubectl: string): Promise<Reader> {
    const folder = await mkdtemp(join(tmpdir(), 'slipway-docs-'));
    const tools = join(folder, '.tools');
    await run('mkdir', [tools]);
    await symlink(kubectl, join(tools, 'kubectl'));
    // What `npx slipway` is for somebody who has it installed.
    const npx = `#!/bin/sh\nshift\nexec "${process.execPath}" "${join(repository, 'packages/cli/src/main.ts')}" "$@"\n`;
    await writeFile(join(tools, 'npx'), npx);
    await chmod(join(tools, 'npx'), 0o755);
    return new Reader(folder, {
      ...process.env,
      HOME: folder,
      KUBECONFIG: '',
      PATH: `${tools}:${process.env['PATH']}`,
    });
  }

  constructor(folder: string, env: NodeJS.ProcessEnv) {
    this.#folder = folder;
    this.#env = env;
  }

  async write(file: string, text: string): Promise<void> {
    await writeFile(join(this.#folder, file), text);
  }

  async does(commands: string): Promise<string> {
    if (/^npx slipway up /m.test(commands)) {
      await this.#firstTerminal(commands);
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

  /** Runs until the end; ready when it says how to reach the cluster. */
  async #firstTerminal(command: string): Promise<void> {
    const child = spawn('sh', ['-c', `exec ${command.trim()}`], {
      cwd: this.#folder,
      env: this.#env,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#background.push(child);
    let text = '';
    await new Promise<void>((ready, fail) => {
      const hear = (chunk: Buffer) => {
        text += chunk.toString();
        if (text.includes('KUBECONFIG')) ready();
      };
      child.stdout.on('data', hear);
      child.stderr.on('data', hear);
      child.once('exit', (code) => fail(new Error(`${command.trim()} ended with ${code}:\n${text}`)));
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const child of this.#background) {
      const ended = once(child, 'exit');
      if (child.kill('SIGTERM')) await ended;
    }
    await rm(this.#folder, { recursive: true, force: true });
  }
}
