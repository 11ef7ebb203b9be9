import { checkInstallable } from '../chart/installable.ts';
import type { Value } from '../go/values.ts';
import type { ReleaseContext } from '../release/operation.ts';
import { ReleaseError } from '../release/release-error.ts';
import { checkReleaseName } from '../release/release-name.ts';
import { uninstallRelease } from '../release/uninstall.ts';
import { upgradeRelease, type UpgradeOptions } from '../release/upgrade.ts';
import { HelmfileError } from './helmfile-error.ts';
import type { Helmfile } from './helmfile.ts';
import { failureText, naming, withMessage } from './named-failure.ts';
import type { NeedsPolicy } from './plan.ts';
import type { HelmfileRelease } from './release.ts';
import { groupOf, textOf } from './state.ts';

/** What work on the releases of a helmfile can be told. Default: what each release and `helmDefaults` say. */
export interface HelmfileWorkOptions {
  /** What becomes of releases that others need and no selector takes. Default `skip`: they are left as they are. */
  readonly needs?: NeedsPolicy;
  /** The context the client talks to; a release that asks for another one is refused. */
  readonly kubeContext?: string;
  /** For releases without one. Default `default`. */
  readonly namespace?: string;
  /** Releases to work on at the same time, where none needs another. Default 1. */
  readonly concurrency?: number;
  /** The last values of each release count, with those of the helmfile over them. */
  readonly reuseValues?: boolean;
  /** Wait until everything is ready. */
  readonly wait?: boolean;
  /** With `wait`: for Jobs to complete, too. */
  readonly waitForJobs?: boolean;
  /** For each hook and each wait, in milliseconds. */
  readonly timeoutMs?: number;
  /** Run no hooks of the charts. */
  readonly skipHooks?: boolean;
  /** Leave out the files under `crds/`. */
  readonly skipCrds?: boolean;
  /** Told of every release that is done, so that a person knows what was when a later one fails. */
  readonly onOutcome?: (outcome: ReleaseOutcome) => void;
}

/** What was done with a release. */
export interface ReleaseOutcome {
  readonly release: HelmfileRelease;
  readonly action: 'installed' | 'upgraded' | 'uninstalled' | 'unchanged';
  /** Of the release after the work. */
  readonly revision?: number;
}

/** Work on releases one by one, or several at a time, on one cluster. */
export class HelmfileWork {
  readonly helmfile: Helmfile;
  readonly context: ReleaseContext;
  readonly options: HelmfileWorkOptions;
  readonly #prepared = new Map<HelmfileRelease, UpgradeOptions>();
  readonly #outcomes: ReleaseOutcome[] = [];
  readonly #failures: Failure[] = [];
  /** Of what was planned. */
  readonly #left = new Set<HelmfileRelease>();

  constructor(helmfile: Helmfile, context: ReleaseContext, options: HelmfileWorkOptions) {
    this.helmfile = helmfile;
    this.context = context;
    this.options = options;
    for (const release of helmfile.plan(options.needs)) this.#checkContext(release);
  }

  namespaceOf({ namespace }: HelmfileRelease): string {
    return namespace || (this.options.namespace ?? 'default');
  }

  /** Says what will be worked on. */
  plan(releases: readonly HelmfileRelease[]): void {
    for (const release of releases) this.#left.add(release);
  }

  /** Reads the charts and values of what will be installed: nothing is changed when one is wrong. */
  async prepare(releases: readonly HelmfileRelease[]): Promise<void> {
    for (const release of releases) {
      this.unlessInterrupted();
      if (!release.installed) continue;
      await naming(release, async () => {
        checkReleaseName(release.name);
        checkInstallable(await this.helmfile.chartOf(release));
      });
      this.#prepared.set(release, this.upgradeOptions(release));
    }
  }

  /**
   * Does something with every release of every batch; a batch begins when the one before is done. One that fails keeps no
   * other of its batch from being done. What comes after may need it and is left; `finish` says so. Who interrupts it is
   * heard between releases, too.
   */
  async each(
    batches: readonly (readonly HelmfileRelease[])[],
    work: (release: HelmfileRelease) => Promise<ReleaseOutcome | undefined>,
  ): Promise<void> {
    for (const batch of batches) {
      if (this.#isInterrupted) return;
      const before = this.#failures.length;
      const waiting = [...batch];
      const worker = async (): Promise<void> => {
        for (let release = waiting.shift(); release; release = waiting.shift()) await this.#attempt(release, work);
      };
      await allSettled(Array.from({ length: Math.max(1, this.options.concurrency ?? 1) }, worker));
      if (this.#failures.length > before) return;
    }
  }

  /** For what only reads. */
  unlessInterrupted(): void {
    if (this.#isInterrupted) throw new ReleaseError('Interrupted', 'interrupted before anything was changed');
  }

  /** Nothing more is begun. */
  get hasStopped(): boolean {
    return this.#failures.length > 0 || this.#isInterrupted;
  }

  /** What was done; an error when something failed or was left. */
  finish(): readonly ReleaseOutcome[] {
    const [first, ...others] = this.#failures;
    const left = [...this.#left].map(({ id }) => id).join(', ');
    const when = this.#isInterrupted ? '' : ' when that is mended';
    const again = left === '' ? '' : `not begun: ${left}; run it again${when}`;
    if (!first) {
      if (this.#isInterrupted && left !== '')
        throw new ReleaseError('Interrupted', 'interrupted between releases', { hint: again });
      return this.#outcomes;
    }
    const { error, text } = first;
    // Whoever is to act on it decides on the class and the code, which only one error can have.
    if (others.length === 0) throw withMessage(error, text, again);
    const [code, hint] = error instanceof ReleaseError ? [error.code, error.hint] : (['Refused', ''] as const);
    const texts = this.#failures.map((failure) => failure.text).join('\n');
    throw new ReleaseError(code, `${this.#failures.length} releases failed:\n${texts}`, {
      hint: [hint, again].filter(Boolean).join('; '),
      cause: error,
    });
  }

  /** Installs a release, or upgrades it. */
  async upgrade(release: HelmfileRelease): Promise<ReleaseOutcome> {
    const chart = await this.helmfile.chartOf(release);
    const { revision } = await upgradeRelease(this.context, chart, this.#prepared.get(release)!);
    return { release, action: revision === 1 ? 'installed' : 'upgraded', revision };
  }

  /** Removes a release; `undefined` when there was none. */
  async uninstall(release: HelmfileRelease): Promise<ReleaseOutcome | undefined> {
    const timeout = this.#setting(release, 'deleteTimeout');
    const removed = await uninstallRelease(this.context, {
      name: release.name,
      namespace: this.namespaceOf(release),
      wait: this.#setting(release, 'deleteWait') === true,
      timeoutMs: this.options.timeoutMs ?? seconds(timeout),
      skipHooks: this.options.skipHooks ?? false,
      ignoreNotFound: true,
    });
    return removed && { release, action: 'uninstalled' };
  }

  /** The settings of a release, over those of `helmDefaults`. */
  upgradeOptions(release: HelmfileRelease): UpgradeOptions {
    const { options } = this;
    const flag = (key: string): boolean => this.#setting(release, key) === true;
    const reuse = options.reuseValues ?? flag('reuseValues');
    const description = textOf(release.spec, 'description');
    const historyMax = this.#setting(release, 'historyMax');
    return {
      name: release.name,
      namespace: this.namespaceOf(release),
      values: this.helmfile.chartValuesOf(release),
      install: true,
      createNamespace: this.#setting(release, 'createNamespace') !== false,
      valuesFrom: reuse ? 'reuse' : 'reset',
      wait: options.wait ?? flag('wait'),
      waitForJobs: options.waitForJobs ?? flag('waitForJobs'),
      rollbackOnFailure: flag('atomic') || flag('rollbackOnFailure'),
      cleanupOnFail: flag('cleanupOnFail'),
      forceConflicts: flag('forceConflicts'),
      takeOwnership: flag('takeOwnership'),
      skipSchemaValidation: flag('skipSchemaValidation'),
      skipCrds: options.skipCrds ?? flag('skipCRDs'),
      skipHooks: options.skipHooks ?? false,
      timeoutMs: options.timeoutMs ?? seconds(this.#setting(release, 'timeout')),
      historyMax: typeof historyMax === 'bigint' ? Number(historyMax) : 10,
      ...(description === '' ? {} : { description }),
    };
  }

  #setting({ spec, state }: HelmfileRelease, key: string): Value {
    return spec.get(key) ?? groupOf(state.spec, 'helmDefaults').get(key);
  }

  #checkContext({ name, state, kubeContext: wanted }: HelmfileRelease): void {
    if (wanted === '' || wanted === this.options.kubeContext) return;
    throw new HelmfileError(
      'Unsupported',
      `${state.file}: release "${name}" belongs to the cluster of kubeContext "${wanted}"`,
      { hint: `connect to that cluster with --context ${wanted}, or select other releases` },
    );
  }

  get #isInterrupted(): boolean {
    return this.context.signal?.aborted ?? false;
  }

  async #attempt(
    release: HelmfileRelease,
    work: (release: HelmfileRelease) => Promise<ReleaseOutcome | undefined>,
  ): Promise<void> {
    if (this.#isInterrupted) return;
    try {
      this.#left.delete(release);
      const outcome = await work(release);
      if (!outcome) return;
      this.#outcomes.push(outcome);
      this.options.onOutcome?.(outcome);
    } catch (error) {
      const placed = { ...release, namespace: this.namespaceOf(release) };
      this.#failures.push({ error: error as Error, text: failureText(placed, error as Error) });
    }
  }
}

interface Failure {
  readonly error: Error;
  /** With the name of the release. */
  readonly text: string;
}

function seconds(value: Value): number | undefined {
  return typeof value === 'bigint' && value > 0n ? Number(value) * 1000 : undefined;
}

/** Waits for all of them, also when one fails: nothing goes on behind the caller's back. */
async function allSettled(workers: readonly Promise<void>[]): Promise<void> {
  for (const result of await Promise.allSettled(workers)) if (result.status === 'rejected') throw result.reason;
}
