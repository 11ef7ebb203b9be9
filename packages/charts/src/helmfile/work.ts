import { checkInstallable } from '../chart/installable.ts';
import type { Value } from '../go/values.ts';
import type { ReleaseContext } from '../release/operation.ts';
import { ReleaseError } from '../release/release-error.ts';
import { uninstallRelease } from '../release/uninstall.ts';
import { upgradeRelease, type UpgradeOptions } from '../release/upgrade.ts';
import { HelmfileError } from './helmfile-error.ts';
import type { Helmfile } from './helmfile.ts';
import type { NeedsPolicy } from './plan.ts';
import type { HelmfileRelease } from './release.ts';
import { groupOf, textOf } from './state.ts';

/** What work on the releases of a helmfile can be told. Default: what each release and `helmDefaults` say. */
export interface HelmfileWorkOptions {
  /** What becomes of releases that others need and no selector takes. Default `require`: they are an error. */
  readonly needs?: NeedsPolicy;
  /** The context the client talks to; a release that asks for another one is refused. */
  readonly kubeContext?: string;
  /** For releases without one. Default `default`. */
  readonly namespace?: string;
  /** Releases to work on at the same time, where none needs another. Default 1. */
  readonly concurrency?: number;
  readonly reuseValues?: boolean;
  readonly wait?: boolean;
  /** In milliseconds. */
  readonly timeoutMs?: number;
  readonly skipHooks?: boolean;
  readonly skipCrds?: boolean;
}

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

  constructor(helmfile: Helmfile, context: ReleaseContext, options: HelmfileWorkOptions) {
    this.helmfile = helmfile;
    this.context = context;
    this.options = options;
    const concerned = options.needs === 'include' ? helmfile.plan('include') : helmfile.releases;
    for (const release of concerned) this.#checkContext(release);
  }

  namespaceOf({ namespace }: HelmfileRelease): string {
    return namespace || (this.options.namespace ?? 'default');
  }

  /** Does something with every release of every batch; a batch begins when the one before is done. */
  async each(
    batches: readonly (readonly HelmfileRelease[])[],
    work: (release: HelmfileRelease) => Promise<ReleaseOutcome | undefined>,
  ): Promise<ReleaseOutcome[]> {
    const outcomes: ReleaseOutcome[] = [];
    for (const batch of batches) {
      const left = [...batch];
      const worker = async (): Promise<void> => {
        for (let release = left.shift(); release; release = left.shift()) {
          const outcome = await this.#named(release, work);
          if (outcome) outcomes.push(outcome);
        }
      };
      await allSettled(Array.from({ length: Math.max(1, this.options.concurrency ?? 1) }, worker));
    }
    return outcomes;
  }

  /** Installs a release, or upgrades it. */
  async upgrade(release: HelmfileRelease): Promise<ReleaseOutcome> {
    const chart = await this.helmfile.chartOf(release);
    checkInstallable(chart);
    const { revision } = await upgradeRelease(this.context, chart, this.upgradeOptions(release));
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

  #checkContext({ name, spec, state }: HelmfileRelease): void {
    const wanted = textOf(state.spec, 'kubeContext') || textOf(spec, 'kubeContext');
    if (wanted === '' || wanted === this.options.kubeContext) return;
    throw new HelmfileError(
      'Unsupported',
      `${state.file}: release "${name}" belongs to the cluster of kubeContext "${wanted}"`,
      { hint: 'connect to that cluster and say that it is the one, or select other releases' },
    );
  }

  async #named(
    release: HelmfileRelease,
    work: (release: HelmfileRelease) => Promise<ReleaseOutcome | undefined>,
  ): Promise<ReleaseOutcome | undefined> {
    try {
      return await work(release);
    } catch (error) {
      if (!(error instanceof ReleaseError)) throw error;
      throw new ReleaseError(error.code, `release ${release.name} in ${this.namespaceOf(release)}: ${error.message}`, {
        cause: error,
        hint: error.hint,
      });
    }
  }
}

function seconds(value: Value): number | undefined {
  return typeof value === 'bigint' && value > 0n ? Number(value) * 1000 : undefined;
}

/** Waits for all of them, also when one fails: nothing goes on behind the caller's back. */
async function allSettled(workers: readonly Promise<void>[]): Promise<void> {
  for (const result of await Promise.allSettled(workers)) if (result.status === 'rejected') throw result.reason;
}
