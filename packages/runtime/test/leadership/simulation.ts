import { type Client, KubeError, type Lease, type Random, seededRandom, sleep } from '@slipway/kube';
import { VirtualClock } from '@slipway/testing';

import { silentLogger } from '../../src/log/logger.ts';
import { LeaderElector } from '../../src/manager/leader-elector.ts';
import { ProcessClock } from './process-clock.ts';

/** What happens to one request for the lease: how long it is under way in each direction, and what gets lost. */
export interface Weather {
  readonly delayMs: number;
  readonly lost: 'nothing' | 'request' | 'answer';
}

/** What happens to one process: it stands still for a while, and its wall clock is set meanwhile. */
export interface Mishap {
  readonly process: number;
  readonly atMs: number;
  readonly frozenMs: number;
  readonly setMs: number;
}

export interface Plan {
  readonly processes: number;
  readonly seed: number;
  readonly mishaps: readonly Mishap[];
  weather(process: number, request: number): Weather;
}

export const fine: Weather = { delayMs: 20, lost: 'nothing' };

/** The Lease on the server: what is written over a version nobody has any more is refused. */
class LeaseServer {
  #lease: Lease | undefined;
  #version = 0;

  get(): Lease | undefined {
    return this.#lease;
  }

  create(lease: Lease): Lease {
    if (this.#lease) throw new KubeError('it exists', { code: 409, reason: 'AlreadyExists' });
    return this.#store(lease);
  }

  update(lease: Lease): Lease {
    if (!this.#lease) throw new KubeError('it is gone', { code: 404, reason: 'NotFound' });
    if (lease.metadata.resourceVersion !== this.#lease.metadata.resourceVersion)
      throw new KubeError('it has changed', { code: 409, reason: 'Conflict' });
    return this.#store(lease);
  }

  #store(lease: Lease): Lease {
    this.#version += 1;
    this.#lease = { ...lease, metadata: { ...lease.metadata, resourceVersion: String(this.#version) } };
    return this.#lease;
  }
}

/** One machine on which a process runs for the lease; a process that lost it is followed by a new one. */
class Machine {
  readonly clock: ProcessClock;
  readonly #number: number;
  readonly #plan: Plan;
  readonly #random: Random;
  readonly #client: Pick<Client, 'get' | 'create' | 'update'>;
  #life = 0;
  #requests = 0;
  #elector!: LeaderElector;

  constructor(number: number, plan: Plan, world: VirtualClock, server: LeaseServer) {
    this.#number = number;
    this.#plan = plan;
    this.#random = seededRandom(plan.seed + number);
    this.clock = new ProcessClock(world);
    const under = <T>(act: () => T) => this.#underway(act);
    this.#client = {
      get: () => under(() => server.get()),
      create: (lease: unknown) => under(() => server.create(lease as Lease)),
      update: (lease: unknown) => under(() => server.update(lease as Lease)),
    } as unknown as Pick<Client, 'get' | 'create' | 'update'>;
    this.#begin();
  }

  /** Who writes at this moment if a reconciler on this machine tries to; `undefined` when it is refused. */
  tryToWrite(): string | undefined {
    if (this.clock.frozen) return undefined;
    try {
      this.#elector.assertLeading();
    } catch {
      return undefined;
    }
    return `${this.#number}.${this.#life}`;
  }

  stop(): Promise<void> {
    return this.#elector.stop();
  }

  #begin(): void {
    this.#life += 1;
    this.#elector = new LeaderElector({
      name: 'lease',
      namespace: 'default',
      identity: `${this.#number}.${this.#life}`,
      client: this.#client,
      clock: this.clock,
      random: this.#random,
      log: silentLogger,
    });
    this.#elector.start({
      onElected: () => undefined,
      onLost: () => void this.clock.schedule(1000, () => this.#begin()),
    });
  }

  async #underway<T>(act: () => T): Promise<T> {
    const { delayMs, lost } = this.#plan.weather(this.#number, this.#requests++);
    // An answer waits, too, while the process stands still: both ways go by its clock.
    await sleep(this.clock, delayMs);
    if (lost === 'request') throw new Error('the request was lost');
    const answer = act();
    await sleep(this.clock, delayMs);
    if (lost === 'answer') throw new Error('the answer was lost');
    return answer;
  }
}

export interface Outcome {
  /** Whoever could write, in the order of their first writes. */
  readonly terms: readonly string[];
  /** What must never be: two at a time, or one again after another. */
  readonly violations: readonly string[];
  /** Whether somebody could write at the end, well after the last mishap. */
  readonly led: boolean;
}

const stepMs = 250;

/** Lets the plan happen on virtual time. Every machine tries to write at every step, and at once when it wakes. */
export async function simulate(plan: Plan, durationMs: number): Promise<Outcome> {
  const world = new VirtualClock();
  const server = new LeaseServer();
  const machines = Array.from({ length: plan.processes }, (_, number) => new Machine(number, plan, world, server));
  const terms: string[] = [];
  const violations: string[] = [];
  let led = false;

  const look = (): void => {
    const writers = machines.flatMap((machine) => machine.tryToWrite() ?? []);
    led = writers.length > 0;
    if (writers.length > 1) violations.push(`${writers.join(' and ')} at ${world.monotonic()}`);
    for (const writer of writers) {
      if (terms.at(-1) === writer) continue;
      if (terms.includes(writer)) violations.push(`${writer} again after ${terms.at(-1)}`);
      terms.push(writer);
    }
  };

  for (const { process, atMs, frozenMs, setMs } of plan.mishaps) {
    const machine = machines[process]!;
    world.schedule(atMs, () => {
      machine.clock.freeze();
      machine.clock.set(setMs);
    });
    world.schedule(atMs + frozenMs, () => {
      machine.clock.thaw();
      look();
    });
  }
  for (let at = stepMs; at <= durationMs; at += stepMs) world.schedule(at, look);
  await world.advance(durationMs);
  const stopping = Promise.all(machines.map((machine) => machine.stop()));
  // Requests under way and the one that gives the lease up have to come to their end.
  await world.advance(120_000);
  await stopping;
  return { terms, violations, led };
}
