import { KubeError, type KubeObject, type TransportRequest } from '@slipway/kube';
import type { Controller, LogEntry } from '@slipway/runtime';

import { KillableTransport, type OtherCalls } from '../killable-transport.ts';
import { logText } from '../log-text.ts';
import { apartFromWork } from '../outside-work.ts';
import { watchOwnerReferences } from '../owner-watch.ts';
import { SeededRandom } from '../seeded-random.ts';
import type { TestCluster, TestManager } from '../test-cluster.ts';
import { WriteCount, type WriteBound } from '../write-count.ts';
import { inLanes } from './lanes.ts';
import { StormTransport, type Sky } from './storm-transport.ts';
import { fateOf, realClimate, virtualClimate, type Climate, type Moment, type WriteFate } from './weather.ts';

/** A life that is led in a storm. It may be different for each seed. */
export interface StormStory {
  readonly name: string;
  /** A fresh cluster. */
  cluster(): Promise<TestCluster>;
  /** Fresh controllers, as after a restart of the process, whose calls to others than the API server go through `calls`. */
  controllers(calls: OtherCalls): readonly Controller[];
  /** What users do, in this order. The seed decides between which two writes of the operator. */
  readonly steps: readonly StormAct[];
  /** What others do to the operator's objects, at any moment and any number of times. What the server refuses them is no matter. */
  readonly edits?: readonly StormAct[];
  /** Whether the operator has come to rest where the last step wants it. */
  settled(cluster: TestCluster): Promise<boolean>;
  /** Called once for each run; may hook observers into the embedded cluster and throw from `verify`. */
  watch?(cluster: TestCluster): { verify(): void };
  /** Objects that are nothing without their owner: only they may get one that is gone. Default: none. */
  isRecord?(object: KubeObject): boolean;
  /** How often the operator may write an object while nothing changes. */
  readonly writes?: WriteBound;
  /** How many processes there are. Default: one or two, as the seed has it. */
  readonly replicas?: number;
  /** Several processes act at once, instead of the one that has the lease. Default false. */
  readonly withoutLease?: boolean;
  /** It rages for at least so many writes, also when users have nothing left to do. Default 0: as long as there are steps. */
  readonly rages?: number;
}

export interface StormAct {
  readonly name: string;
  run(cluster: TestCluster): Promise<unknown>;
  /** A step after which processes are replaced one after another, as in an upgrade: those of before meet those of after. Default false. */
  readonly replacesProcesses?: boolean;
}

export interface StormOptions {
  /** The command that plays one seed again; `SEED` in it stands for the seed. */
  readonly replay: string;
}

/** What a storm was like. */
export interface StormResult {
  readonly seed: string;
  /** Writes the operator made while it raged. */
  readonly writes: number;
  readonly happened: Readonly<Partial<Record<Moment, number>>>;
  readonly replicas: number;
  /** Each write and each event, in order, without uids. The same seed gives the same on virtual time. */
  readonly journal: readonly string[];
}

/** After so many events it calms down, whatever the story has left. */
const eventLimit = 24;
const convergeMs = 1_800_000;
/** Writes of one object without time passing. */
const instantLimit = 200;
const shownLines = 25;

/**
 * Plays a story in a storm: every write of every controller is held for a while of its own, so that controllers of one
 * operator overtake each other; between any two writes users change their minds, others edit objects, processes die and start
 * again (one or two replicas), the API server refuses, forgets to answer or goes away, watches break. Then it is calm, and
 * the operator must come to rest where the story wants it, stay there, and have broken no invariant on the way. Everything
 * follows from the seed; the error of a failing run says how to play it again.
 */
export async function playStorm(
  story: (random: SeededRandom) => StormStory,
  seed: string | number,
  options: StormOptions,
): Promise<StormResult> {
  const random = new SeededRandom(seed);
  const told = story(random.fork('story'));
  await using cluster = await told.cluster();
  const storm = new Storm(cluster, told, random);
  try {
    await storm.rage();
    await storm.calmDown();
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const tail = storm.journal.slice(-shownLines).join('\n  ');
    throw new Error(
      `${told.name}, storm ${seed}: ${message}\nto play it again: ${options.replay.replace('SEED', String(seed))}\nits last ${shownLines} lines:\n  ${tail}${logText(storm.logs)}`,
      { cause: error },
    );
  } finally {
    await storm.end();
  }
  return storm.result(String(seed));
}

interface Process {
  readonly transport: StormTransport;
  readonly network: KillableTransport;
  readonly manager: TestManager;
}

class Storm implements Sky {
  readonly journal: string[] = [];
  readonly #cluster: TestCluster;
  readonly #story: StormStory;
  readonly #random: SeededRandom;
  readonly #climate: Climate;
  readonly #watches: { verify(): void }[];
  readonly #writeCount = new WriteCount();
  readonly #replicas: number;
  /** By replica; `undefined` while it is down. */
  readonly #processes: (Process | undefined)[] = [];
  readonly #restarts = new Set<Promise<void>>();
  readonly #ordinals = new Map<string, number>();
  readonly #atThisInstant = new Map<string, number>();
  readonly #happened: Partial<Record<Moment, number>> = {};
  readonly #startedAt: number;
  #nextStep = 0;
  #acting: Promise<void> = Promise.resolve();
  #events = 0;
  #writes = 0;
  #lastWriteAt = 0;
  #lastStartAt = 0;
  #raging = true;
  #ended = false;
  #downUntil = 0;
  #restarted = false;
  #failure: unknown;

  constructor(cluster: TestCluster, story: StormStory, random: SeededRandom) {
    this.#cluster = cluster;
    this.#story = story;
    this.#random = random;
    this.#climate = cluster.type === 'embedded' ? virtualClimate : realClimate;
    this.#replicas = story.replicas ?? (random.fork('replicas').chance(0.35) ? 2 : 1);
    this.#startedAt = cluster.clock.now();
    const watch = story.watch?.(cluster);
    this.#watches = [
      watchOwnerReferences(cluster, (object) => story.isRecord?.(object) ?? false),
      ...(watch ? [watch] : []),
    ];
  }

  get clock() {
    return this.#cluster.clock;
  }

  get isDown(): boolean {
    return this.clock.now() < this.#downUntil;
  }

  /** From the first step to the last, and as long as the story wants. */
  async rage(): Promise<void> {
    for (let replica = 0; replica < this.#replicas; replica += 1) await this.#start(replica);
    await this.#act('step');
    const patienceMs = this.#cluster.type === 'embedded' ? 60_000 : 1_500;
    while (this.#nextStep < this.#story.steps.length) {
      const next = this.#nextStep;
      await this.#cluster.eventually(
        'the operator writes, or has nothing to do',
        () => this.#failure !== undefined || this.#nextStep > next || this.#isQuiet(patienceMs),
      );
      if (this.#failure) throw this.#failure;
      // Behind what is under way: a step that a server just started kept waiting took effect after the one that was to undo it.
      if (this.#nextStep === next) await this.happens('step');
    }
    const { rages = 0 } = this.#story;
    if (this.#writes < rages) {
      await this.#cluster.eventually(
        'it has raged long enough, or the operator is up and has nothing to do',
        () => this.#failure !== undefined || this.#writes >= rages || this.#isIdle(patienceMs),
      );
    }
  }

  /** Nothing was written for so long. Before the first write there is no storm: the operator is still starting. */
  #isQuiet(patienceMs: number): boolean {
    return this.#writes > 0 && this.clock.now() - this.#lastWriteAt > patienceMs;
  }

  /** It is quiet, and not because a process is down or has just started again. */
  #isIdle(patienceMs: number): boolean {
    return this.#isQuiet(patienceMs) && this.#restarts.size === 0 && this.clock.now() - this.#lastStartAt > patienceMs;
  }

  /** No more disturbances: what was broken heals, and stays whole. */
  async calmDown(): Promise<void> {
    this.#raging = false;
    await this.#acting;
    this.#note('calm');
    try {
      await this.#comeToRest();
    } finally {
      // A broken invariant says more than where it led to.
      for (const watch of this.#watches) watch.verify();
    }
  }

  async #comeToRest(): Promise<void> {
    const story = this.#story;
    const cluster = this.#cluster;
    await cluster.eventually(
      'the operator comes to rest where the last step wants it',
      async () => this.#failure !== undefined || (this.#restarts.size === 0 && (await story.settled(cluster))),
      { withinMs: convergeMs },
    );
    if (this.#failure) throw this.#failure;
    // Real time is too dear to let it pass.
    if (cluster.type !== 'embedded') return;
    await this.#writeCount.quiet(cluster, 'at the end', story.writes);
    if (!(await story.settled(cluster))) throw new Error('the operator came to rest, and left it again');
  }

  async end(): Promise<void> {
    this.#raging = false;
    this.#ended = true;
    let done = false;
    const stopping = Promise.allSettled([
      ...this.#restarts,
      ...this.#processes.map((process) => process?.manager.stop()),
    ]).then(() => (done = true));
    await this.#cluster.eventually('the processes end', () => done);
    await stopping;
  }

  /** What the processes that are up have logged. */
  get logs(): LogEntry[] {
    return this.#processes.flatMap((process) => [...(process?.manager.logs ?? [])]);
  }

  result(seed: string): StormResult {
    return {
      seed,
      writes: this.#writes,
      happened: this.#happened,
      replicas: this.#replicas,
      journal: this.journal,
    };
  }

  fateOf(lane: string, request: TransportRequest): WriteFate {
    const ordinal = this.#ordinals.get(lane) ?? 0;
    this.#ordinals.set(lane, ordinal + 1);
    this.#watchLoops(request);
    const calm: WriteFate = { holdMs: 0, answerMs: 0 };
    const fate = this.#raging ? fateOf(this.#random, lane, ordinal, this.#climate) : calm;
    if (this.#raging) this.#writes += 1;
    const { holdMs, answerMs, ...rest } = fate;
    const how = [holdMs && `held ${holdMs}`, answerMs && `answer held ${answerMs}`, ...Object.values(rest)];
    this.#note(
      `${lane || 'runtime'}: ${request.method} ${request.path.replace(/\?.*/, '')} ${how.filter(Boolean).join(', ')}`,
    );
    return fate;
  }

  /** A loop that feeds itself lets no time pass, and would never end. */
  #watchLoops({ method, path }: TransportRequest): void {
    const now = this.clock.now();
    if (now !== this.#lastWriteAt) this.#atThisInstant.clear();
    this.#lastWriteAt = now;
    const object = `${method} ${path.replace(/\?.*/, '')}`;
    const count = (this.#atThisInstant.get(object) ?? 0) + 1;
    this.#atThisInstant.set(object, count);
    if (count > instantLimit) this.#failure ??= new Error(`${object} was written ${count} times at the same instant`);
  }

  happens(moment: Moment): Promise<void> {
    // One after another: what a user does is over before the next thing happens.
    this.#acting = this.#acting.then(() => (this.#raging ? this.#act(moment) : undefined));
    return this.#acting;
  }

  async #act(moment: Moment): Promise<void> {
    if (this.#events >= eventLimit && moment !== 'step') return;
    const draw = this.#random.fork(`event/${this.#events}`);
    this.#events += 1;
    this.#happened[moment] = (this.#happened[moment] ?? 0) + 1;
    if (moment === 'step') await this.#step();
    else if (moment === 'edit') await this.#edit(draw);
    else if (moment === 'kill') this.#kill(draw);
    else if (moment === 'outage') await this.#outage(draw.pick(this.#climate.outagesMs));
    else this.#breakWatches();
  }

  async #step(): Promise<void> {
    const step = this.#story.steps[this.#nextStep];
    if (!step) return;
    this.#nextStep += 1;
    this.#note(`step: ${step.name}`);
    try {
      await step.run(this.#cluster);
    } catch (error) {
      this.#failure ??= new Error(`step ${step.name} failed`, { cause: error });
    }
    if (step.replacesProcesses) this.#replaceProcesses();
  }

  #replaceProcesses(): void {
    const old = [...this.#processes];
    const downMs = this.#climate.downMs.at(-1)!;
    old.forEach((process, replica) => {
      const replacement = apartFromWork(async () => {
        await this.#passes(replica * downMs);
        // One that died meanwhile has been replaced already.
        if (process && this.#processes[replica] === process && !this.#ended) this.#restart(replica, 0);
      });
      this.#restarts.add(replacement);
      void replacement.then(() => this.#restarts.delete(replacement));
    });
  }

  async #passes(ms: number): Promise<void> {
    await new Promise<void>((resolve) => void this.clock.schedule(ms, resolve));
  }

  async #edit(draw: SeededRandom): Promise<void> {
    const { edits = [] } = this.#story;
    if (edits.length === 0) return;
    const edit = draw.pick(edits);
    this.#note(`edit: ${edit.name}`);
    try {
      await edit.run(this.#cluster);
    } catch (error) {
      if (!(error instanceof KubeError)) this.#failure ??= new Error(`edit ${edit.name} failed`, { cause: error });
    }
  }

  #kill(draw: SeededRandom): void {
    const replica = draw.below(this.#replicas);
    const downMs = draw.pick(this.#climate.downMs);
    if (!this.#processes[replica]) return;
    this.#note(`kill: replica ${replica}, for ${downMs} ms`);
    this.#processes[replica].network.kill();
    this.#restart(replica, downMs);
  }

  /** The API server is away for a while, and starts again. The real one does so once in a storm: it takes seconds. */
  async #outage(ms: number): Promise<void> {
    this.#note(`outage: ${ms} ms`);
    this.#downUntil = this.clock.now() + ms;
    this.#breakWatches();
    if (this.#cluster.type === 'reference' && this.#restarted) return;
    this.#restarted = true;
    await this.#cluster.restartApiServer();
  }

  #breakWatches(): void {
    this.#note('watches break');
    for (const process of this.#processes) process?.transport.breakWatches();
  }

  async #start(replica: number): Promise<void> {
    this.#lastStartAt = this.clock.now();
    const counted = this.#writeCount.counting(this.#cluster.transport());
    const transport = new StormTransport(counted, this);
    const network = new KillableTransport(transport, () => false);
    const random = this.#random.fork(`process/${replica}/${this.#events}`);
    const manager = await this.#cluster.run(inLanes(this.#story.controllers(callsOf(network, transport))), {
      cluster: { transport: network },
      name: 'storm',
      random,
      gracefulStopMs: 0,
      ...(this.#replicas > 1 && !this.#story.withoutLease
        ? { leaderElection: { namespace: 'default', identity: `replica-${replica}-${random.uuid()}` } }
        : {}),
    });
    const process: Process = { transport, network, manager };
    this.#processes[replica] = process;
    // A process that ends by itself, such as for a lost lease, is started again, as a Deployment would.
    manager.manager.stopped.catch(() => {
      if (this.#processes[replica] === process) this.#restart(replica, 0);
    });
  }

  #restart(replica: number, afterMs: number): void {
    const old = this.#processes[replica];
    this.#processes[replica] = undefined;
    // Whoever was writing when this happened may be another replica, which does not wait for this one.
    const restart = apartFromWork(async () => {
      await old?.manager.stop();
      await this.#passes(afterMs);
      if (!this.#ended) await this.#start(replica);
    });
    this.#restarts.add(restart);
    restart.then(
      () => this.#restarts.delete(restart),
      (error: unknown) => {
        this.#restarts.delete(restart);
        this.#failure ??= error;
      },
    );
  }

  #note(line: string): void {
    const uid = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;
    const at = ((this.clock.now() - this.#startedAt) / 1000).toFixed(3);
    this.journal.push(`${at} ${line.replace(uid, '<uid>')}`);
  }
}

/** A call to others in a storm: held like a write, with things happening around it, and never begun by a dead process. */
function callsOf(network: KillableTransport, storm: StormTransport): OtherCalls {
  return { around: (call, work) => network.around(call, () => storm.around(call, work)) };
}
