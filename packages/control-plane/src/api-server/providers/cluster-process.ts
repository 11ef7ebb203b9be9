import { spawn } from 'node:child_process';
import { mkdir, open, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { type Clock, sleep } from '@slipway/kube';

import { authenticationFile, trustsNobody } from './authentication-configuration.ts';

/** How an embedded API server is started. */
export interface ClusterCommand {
  /** Program and first arguments, such as Node and the main file of `slipway`. */
  readonly command: readonly [string, ...string[]];
}

/** A folder with everything of one embedded API server: its data, its kubeconfig, its output and the number of its process. */
export class ClusterProcess {
  readonly folder: string;
  readonly #command: ClusterCommand;

  constructor(folder: string, command: ClusterCommand) {
    this.folder = folder;
    this.#command = command;
  }

  /** The administrator's kubeconfig; undefined until the server has written it. */
  async kubeconfig(): Promise<string | undefined> {
    return await readFile(join(this.folder, 'kubeconfig'), 'utf8').catch(missing);
  }

  /** Whether its process runs. A number that now belongs to another program does not count. */
  async isRunning(): Promise<boolean> {
    const pid = await this.#pid();
    return pid !== undefined && (await belongsTo(pid, this.folder));
  }

  /** Starts it on this port (0: any free one). It outlives us: a control plane must not die with its operator. */
  async start(port: number): Promise<void> {
    await mkdir(this.folder, { recursive: true, mode: 0o700 });
    if ((await readFile(join(this.folder, authenticationFile), 'utf8').catch(missing)) === undefined)
      await this.trust(trustsNobody);
    const output = await open(join(this.folder, 'output.log'), 'a', 0o600);
    try {
      const [program, ...first] = this.#command.command;
      const trusted = ['--authentication-config', join(this.folder, authenticationFile)];
      const args = [...first, 'cluster', '--rbac', '--data', this.folder, '--port', String(port), ...trusted];
      const child = spawn(program, args, {
        detached: true,
        stdio: ['ignore', output.fd, output.fd],
        cwd: this.folder,
        env: withoutLauncher(),
      });
      await new Promise<void>((done, fail) => child.once('spawn', done).once('error', fail));
      child.unref();
      const file = await open(join(this.folder, 'pid'), 'w', 0o600);
      await file.writeFile(String(child.pid));
      await file.close();
    } finally {
      await output.close();
    }
  }

  /** Says whose tokens it accepts from now on. */
  async trust(configuration: string): Promise<void> {
    const file = join(this.folder, authenticationFile);
    if ((await readFile(file, 'utf8').catch(missing)) === configuration) return;
    // It is read whenever somebody logs in: never half of it.
    await writeFile(`${file}.new`, configuration, { mode: 0o600 });
    await rename(`${file}.new`, file);
  }

  /** The last lines it wrote, for whoever has to find out why it does not start. */
  async lastOutput(): Promise<string> {
    const text = (await readFile(join(this.folder, 'output.log'), 'utf8').catch(missing)) ?? '';
    return text.trim().split('\n').slice(-3).join('\n');
  }

  /** Asks it to end; answers whether it is still there. */
  async stop(): Promise<boolean> {
    const pid = await this.#pid();
    if (pid === undefined || !(await belongsTo(pid, this.folder))) return false;
    process.kill(pid, 'SIGTERM');
    return true;
  }

  /** Everything of it, for good. */
  async erase(): Promise<void> {
    await rm(this.folder, { recursive: true, force: true });
  }

  async #pid(): Promise<number | undefined> {
    const text = await readFile(join(this.folder, 'pid'), 'utf8').catch(missing);
    const pid = Number(text);
    return Number.isInteger(pid) && pid > 1 ? pid : undefined;
  }
}

/** A command that npm started ends when its parent does, and we are its parent, whoever started us. */
function withoutLauncher(): NodeJS.ProcessEnv {
  return { ...process.env, npm_lifecycle_event: undefined };
}

function missing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error;
  return undefined;
}

/** The operating system gives numbers away again, so the command line has to name the folder. */
async function belongsTo(pid: number, folder: string): Promise<boolean> {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') return false;
  }
  const line = await commandLine(pid);
  return line === undefined || line.includes(folder);
}

async function commandLine(pid: number): Promise<string | undefined> {
  const fromProc = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => undefined);
  if (fromProc !== undefined || process.platform === 'linux') return fromProc ?? '';
  return await new Promise((done) => {
    const child = spawn('ps', ['-p', String(pid), '-o', 'args='], { stdio: ['ignore', 'pipe', 'ignore'] });
    let text = '';
    child.stdout.on('data', (chunk) => (text += String(chunk)));
    child.once('error', () => done(undefined)).once('close', () => done(text));
  });
}

/**
 * Ends every embedded API server below a folder, and waits for it: ten seconds, in which each can let its requests end.
 * What they kept stays, and the next to need one starts it again.
 */
export async function stopAll(folder: string, clock: Clock): Promise<void> {
  const entries = await readdir(folder, { recursive: true }).catch(() => []);
  const servers = entries
    .filter((entry) => basename(entry) === 'pid')
    .map((entry) => new ClusterProcess(join(folder, dirname(entry)), { command: [''] }));
  for (const server of servers) await server.stop();
  const runs = async () => (await Promise.all(servers.map((server) => server.isRunning()))).includes(true);
  for (let waitedMs = 0; waitedMs < 10_000 && (await runs()); waitedMs += 50) await sleep(clock, 50);
}

/** The same, and removes what they kept. */
export async function eraseAll(folder: string, clock: Clock): Promise<void> {
  await stopAll(folder, clock);
  await rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
}
