import { setTimeout as sleep } from 'node:timers/promises';
import { type BackOffLimits, RestartBackOff } from './back-off.ts';
import { ContainerProcess, type ContainerProcessOptions } from './container-process.ts';
import { MissingReference } from './pod-objects.ts';
import { type ContainerRecord, newRecord, timestamp } from './pod-status.ts';
import { ProbeVerdict } from './probe-verdict.ts';
import { runProbe } from './run-probe.ts';
import type { Container, Probe } from './running-pod.ts';

/** When a container that ended is started again. */
export type RestartPolicy = 'Always' | 'OnFailure' | 'Never';

export interface ContainerRunnerOptions {
  container: Container;
  restartPolicy: RestartPolicy;
  podAddress: string;
  graceMs: number;
  backOff: BackOffLimits;
  /** Everything to start it the `attempt`th time; throws `MissingReference` or `UnknownImage` when something is not there. */
  prepare(attempt: number): Promise<ContainerProcessOptions>;
  /** Called after every change of `record`. */
  onChange(): void;
  /** Called with the process ids that come and go. */
  onProcess(pid: number, alive: boolean): void;
}

export class UnknownImage extends Error {
  constructor(image: string) {
    super(`this node has no program for the image "${image}"`);
    this.name = 'UnknownImage';
  }
}

/** How long a container that lacks something waits before it looks again. */
const missingRetryMs = 1_000;

/** Runs one container as its restart policy says, with its probes, until it is done or stopped. */
export class ContainerRunner {
  readonly #options: ContainerRunnerOptions;
  readonly #stopping = new AbortController();
  readonly #backOff: RestartBackOff;
  #process: ContainerProcess | undefined;
  record: ContainerRecord = newRecord();

  constructor(options: ContainerRunnerOptions) {
    this.#options = options;
    this.#backOff = new RestartBackOff(options.backOff);
  }

  /** Resolves when nobody will start it again. */
  async run(): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      const prepared = await this.#prepare();
      if (!prepared) {
        await this.#pause(missingRetryMs);
        continue;
      }
      if (signal.aborted) break;
      const ranForMs = await this.#runOnce(prepared);
      if (signal.aborted || !this.#startsAgain()) break;
      const waitMs = this.#backOff.nextMs(ranForMs);
      const message = `back-off ${Math.round(waitMs / 1000)}s restarting failed container=${this.#options.container.name}`;
      const lastState = this.record.state;
      this.#change({ state: { waiting: { reason: 'CrashLoopBackOff', message } }, lastState });
      await this.#pause(waitMs);
      if (!signal.aborted) this.record.restartCount += 1;
    }
    this.#change({ done: true, ready: false, started: false });
  }

  /** Ends the container: it is asked first, and killed after its grace period. */
  async stop(graceMs = this.#options.graceMs): Promise<void> {
    this.#stopping.abort();
    await this.#process?.stop(graceMs);
  }

  async #prepare(): Promise<ContainerProcessOptions | undefined> {
    try {
      return await this.#options.prepare(this.record.restartCount);
    } catch (error) {
      const reason =
        error instanceof UnknownImage
          ? 'ErrImagePull'
          : error instanceof MissingReference
            ? 'CreateContainerConfigError'
            : 'CreateContainerError';
      this.#change({ state: { waiting: { reason, message: (error as Error).message } } });
      return undefined;
    }
  }

  async #runOnce(prepared: ContainerProcessOptions): Promise<number> {
    const { container } = this.#options;
    const startedAt = new Date();
    const running = await ContainerProcess.start(prepared, (pid) => this.#options.onProcess(pid, true));
    this.#process = running;
    this.#change({
      state: { running: { startedAt: timestamp(startedAt) } },
      started: !container.startupProbe,
      ready: !container.startupProbe && !container.readinessProbe,
    });
    const ended = new AbortController();
    const probing = this.#probe(running, ended.signal);
    if (this.#stopping.signal.aborted) void running.stop(this.#options.graceMs);
    const { exitCode, signal } = await running.exited;
    ended.abort();
    await probing;
    this.#process = undefined;
    this.#options.onProcess(running.pid, false);
    const finishedAt = new Date();
    const terminated = {
      exitCode,
      ...(signal === undefined ? {} : { signal }),
      reason: exitCode === 0 ? 'Completed' : 'Error',
      startedAt: timestamp(startedAt),
      finishedAt: timestamp(finishedAt),
    };
    const last = !this.#startsAgain(exitCode) || this.#stopping.signal.aborted;
    this.#change({ state: { terminated }, ready: false, started: false, done: last });
    return finishedAt.getTime() - startedAt.getTime();
  }

  #startsAgain(exitCode = 'terminated' in this.record.state ? this.record.state.terminated.exitCode : 0): boolean {
    const { restartPolicy } = this.#options;
    return restartPolicy === 'Always' || (restartPolicy === 'OnFailure' && exitCode !== 0);
  }

  /** Startup first; only when it has passed, liveness and readiness. */
  async #probe(running: ContainerProcess, ended: AbortSignal): Promise<void> {
    const { startupProbe, livenessProbe, readinessProbe } = this.#options.container;
    if (startupProbe) {
      const passed = await this.#untilVerdict(startupProbe, running, ended);
      if (ended.aborted) return;
      if (!passed) return void running.stop(this.#options.graceMs);
      this.#change({ started: true, ready: !readinessProbe });
    }
    await Promise.all([
      livenessProbe && this.#keepAlive(livenessProbe, running, ended),
      readinessProbe && this.#followReadiness(readinessProbe, running, ended),
    ]);
  }

  async #untilVerdict(probe: Probe, running: ContainerProcess, ended: AbortSignal): Promise<boolean> {
    const verdict = new ProbeVerdict(probe, false);
    for await (const success of this.#results(probe, running, ended)) {
      verdict.take(success);
      if (verdict.passes) return true;
      if (verdict.hasFailed) return false;
    }
    return false;
  }

  async #keepAlive(probe: Probe, running: ContainerProcess, ended: AbortSignal): Promise<void> {
    const verdict = new ProbeVerdict(probe, true);
    for await (const success of this.#results(probe, running, ended)) {
      verdict.take(success);
      if (!verdict.passes) return void running.stop(this.#options.graceMs);
    }
  }

  async #followReadiness(probe: Probe, running: ContainerProcess, ended: AbortSignal): Promise<void> {
    const verdict = new ProbeVerdict(probe, false);
    for await (const success of this.#results(probe, running, ended)) {
      verdict.take(success);
      if (this.record.ready !== verdict.passes) this.#change({ ready: verdict.passes });
    }
  }

  async *#results(probe: Probe, running: ContainerProcess, ended: AbortSignal): AsyncGenerator<boolean> {
    const { container, podAddress } = this.#options;
    await sleep((probe.initialDelaySeconds ?? 0) * 1000, undefined, { signal: ended }).catch(() => {});
    while (!ended.aborted) {
      const success = await runProbe(probe, container, { podAddress, pid: running.pid });
      if (ended.aborted) return;
      yield success;
      await sleep((probe.periodSeconds ?? 10) * 1000, undefined, { signal: ended }).catch(() => {});
    }
  }

  async #pause(ms: number): Promise<void> {
    await sleep(ms, undefined, { signal: this.#stopping.signal }).catch(() => {});
  }

  #change(change: Partial<ContainerRecord>): void {
    this.record = { ...this.record, ...change };
    this.#options.onChange();
  }
}
