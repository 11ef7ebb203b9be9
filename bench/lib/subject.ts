import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

/** A program under measurement. It says what happens to it in JSON lines on standard output. */
export class Subject implements AsyncDisposable {
  readonly pid: number;
  readonly startedAt: number;
  readonly #child: ChildProcess;
  readonly #seen = new Map<string, SubjectEvent>();
  readonly #waiting = new Map<string, (event: SubjectEvent) => void>();
  readonly #failed: Promise<never>;
  #stopping = false;

  constructor(command: string, args: readonly string[], env: NodeJS.ProcessEnv = process.env) {
    this.startedAt = performance.now();
    this.#child = spawn(command, args, { stdio: ['ignore', 'pipe', 'inherit'], env });
    this.pid = this.#child.pid!;
    this.#failed = new Promise((_, reject) => {
      this.#child.once('error', reject);
      this.#child.once('exit', (code, signal) => {
        if (!this.#stopping) reject(new Error(`${command} ended with ${code ?? signal}`));
      });
    });
    this.#failed.catch(() => undefined);
    createInterface({ input: this.#child.stdout! }).on('line', (line) => {
      const event: SubjectEvent = {
        ...(JSON.parse(line) as { event: string }),
        afterMs: performance.now() - this.startedAt,
      };
      this.#seen.set(event.event, event);
      this.#waiting.get(event.event)?.(event);
    });
  }

  /** The event of that name, when it comes or if it has come already. */
  said(name: string): Promise<SubjectEvent> {
    const seen = this.#seen.get(name);
    if (seen) return Promise.resolve(seen);
    return Promise.race([
      new Promise<SubjectEvent>((resolve) => {
        this.#waiting.set(name, resolve);
      }),
      this.#failed,
    ]);
  }

  /** Asks it to end and returns its last words. */
  async stop(): Promise<SubjectEvent | undefined> {
    if (this.#stopping) return this.#seen.get('end');
    this.#stopping = true;
    if (this.#child.exitCode === null && this.#child.signalCode === null) {
      this.#child.kill('SIGTERM');
      const killer = setTimeout(() => this.#child.kill('SIGKILL'), 5_000);
      await once(this.#child, 'close');
      clearTimeout(killer);
    }
    return this.#seen.get('end');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }
}

export interface SubjectEvent {
  readonly event: string;
  /** Since the process was started. */
  readonly afterMs: number;
  readonly [field: string]: unknown;
}
