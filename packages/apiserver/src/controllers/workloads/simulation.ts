import { matchesLabels, type LabelSelector } from '../../label-selector.ts';
import type { Pod } from './kinds.ts';
import { controllerOf } from './ownership.ts';

/**
 * What becomes of a pod:
 * `run` – becomes ready and stays; `succeed` – runs, then ends with exit code 0; `fail` – runs, then ends with a failure (a
 * container that must be restarted goes into back-off); `crash-loop` – fails again and again right after each start;
 * `never-ready` – runs without becoming ready; `hang` – bound, but its containers never start; `unschedulable` – no node
 * takes it; `image-pull-error` – its image cannot be pulled.
 */
export type Outcome =
  | 'run'
  | 'succeed'
  | 'fail'
  | 'crash-loop'
  | 'never-ready'
  | 'hang'
  | 'unschedulable'
  | 'image-pull-error';

const OUTCOMES: readonly string[] = [
  'run',
  'succeed',
  'fail',
  'crash-loop',
  'never-ready',
  'hang',
  'unschedulable',
  'image-pull-error',
];

/** How a simulated pod behaves. Whatever is left out comes from weaker rules and finally from the defaults. */
export interface Stage {
  /** Default: `succeed` for pods of Jobs, else `run`. */
  readonly outcome?: Outcome;
  /** Milliseconds from binding to running. Default 0. */
  readonly startDelayMs?: number;
  /** Milliseconds from running to ready. Default 0. */
  readonly readyDelayMs?: number;
  /** Milliseconds from running to the end, for `succeed` and `fail`. Default 0. */
  readonly runMs?: number;
  /** Of a failing container. Default 1. */
  readonly exitCode?: number;
  /** Shown as the message of a failure. Default none. */
  readonly message?: string;
  /** Milliseconds from the deletion request to the end, at most the grace period. Default 0. */
  readonly terminationDelayMs?: number;
}

/** Which pods a rule is for: all conditions given must hold. */
export interface PodSelector {
  readonly namespace?: string;
  /** The name, or a pattern for it. */
  readonly name?: string | RegExp;
  readonly labels?: LabelSelector | Readonly<Record<string, string>>;
  /** The controlling owner, such as `{ kind: 'Job', name: 'migrate' }`. */
  readonly owner?: { readonly kind?: string; readonly name?: string | RegExp };
  /** The image of any container. */
  readonly image?: string | RegExp;
}

export interface StageOptions {
  /** For how many pods the rule holds, in the order they are seen. Default: all. */
  readonly times?: number;
}

/** Decides how simulated pods behave; tests change it while the cluster runs. */
export interface Simulation {
  /** From now on pods that match go through `stage`; of several rules the latest wins, field by field. Also changes pods that run already. */
  when(selector: PodSelector | ((pod: Pod) => boolean), stage: Stage, options?: StageOptions): { remove(): void };
}

interface Rule {
  readonly matches: (pod: Pod) => boolean;
  readonly stage: Stage;
  readonly times: number;
  readonly taken: Set<string>;
}

export const ANNOTATION_PREFIX = 'sim.slipway.dev/';

/** The behaviour of pods from rules and annotations. */
export class SimulationRules implements Simulation {
  readonly #defaults: Stage;
  readonly #rules: Rule[] = [];
  readonly #listeners = new Set<() => void>();

  constructor(defaults: Stage = {}) {
    this.#defaults = defaults;
  }

  when(selector: PodSelector | ((pod: Pod) => boolean), stage: Stage, options: StageOptions = {}): { remove(): void } {
    const matches = typeof selector === 'function' ? selector : (pod: Pod) => selects(selector, pod);
    const rule: Rule = { matches, stage, times: options.times ?? Number.POSITIVE_INFINITY, taken: new Set() };
    this.#rules.push(rule);
    this.#tell();
    return {
      remove: () => {
        const index = this.#rules.indexOf(rule);
        if (index >= 0) {
          this.#rules.splice(index, 1);
          this.#tell();
        }
      },
    };
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Annotations on the pod win over rules, rules over the defaults. */
  stageOf(pod: Pod): Required<Omit<Stage, 'message'>> & Pick<Stage, 'message'> {
    const isJobPod = controllerOf(pod)?.kind === 'Job';
    const merged: Stage = { outcome: isJobPod ? 'succeed' : 'run', ...this.#defaults };
    for (const rule of this.#rules) {
      if (rule.taken.has(pod.metadata.uid!) || (rule.taken.size < rule.times && rule.matches(pod))) {
        rule.taken.add(pod.metadata.uid!);
        Object.assign(merged, rule.stage);
      }
    }
    Object.assign(merged, stageFromAnnotations(pod.metadata.annotations ?? {}));
    return {
      outcome: merged.outcome!,
      startDelayMs: merged.startDelayMs ?? 0,
      readyDelayMs: merged.readyDelayMs ?? 0,
      runMs: merged.runMs ?? 0,
      exitCode: merged.exitCode ?? 1,
      message: merged.message,
      terminationDelayMs: merged.terminationDelayMs ?? 0,
    };
  }

  #tell(): void {
    for (const listener of this.#listeners) {
      listener();
    }
  }
}

function selects(selector: PodSelector, pod: Pod): boolean {
  const controller = controllerOf(pod);
  const { labels, owner, image } = selector;
  return (
    (selector.namespace === undefined || selector.namespace === pod.metadata.namespace) &&
    (selector.name === undefined || fits(selector.name, pod.metadata.name!)) &&
    (labels === undefined || matchesLabels(asLabelSelector(labels), pod.metadata.labels)) &&
    (owner?.kind === undefined || owner.kind === controller?.kind) &&
    (owner?.name === undefined || (controller !== undefined && fits(owner.name, controller.name))) &&
    (image === undefined || pod.spec.containers.some((container) => fits(image, container.image ?? '')))
  );
}

function asLabelSelector(labels: LabelSelector | Readonly<Record<string, string>>): LabelSelector {
  const isSelector = 'matchExpressions' in labels || typeof labels.matchLabels === 'object';
  return isSelector ? (labels as LabelSelector) : { matchLabels: labels as Record<string, string> };
}

function fits(pattern: string | RegExp, text: string): boolean {
  return typeof pattern === 'string' ? pattern === text : pattern.test(text);
}

const DURATION_UNITS: Record<string, number> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

/** `1500` (milliseconds), `10s`, `2m`, `500ms`. */
function durationMs(text: string): number | undefined {
  const match = /^(\d+)(ms|s|m|h)?$/.exec(text);
  return match ? Number(match[1]) * DURATION_UNITS[match[2] ?? 'ms']! : undefined;
}

function stageFromAnnotations(annotations: Readonly<Record<string, string>>): Stage {
  const stage: { -readonly [field in keyof Stage]: Stage[field] } = {};
  const outcome = annotations[`${ANNOTATION_PREFIX}outcome`];
  if (outcome !== undefined && OUTCOMES.includes(outcome)) {
    stage.outcome = outcome as Outcome;
  }
  const exitCode = Number(annotations[`${ANNOTATION_PREFIX}exit-code`] ?? Number.NaN);
  if (Number.isInteger(exitCode)) {
    stage.exitCode = exitCode;
  }
  const message = annotations[`${ANNOTATION_PREFIX}message`];
  if (message !== undefined) {
    stage.message = message;
  }
  const delays = {
    startDelayMs: 'start-delay',
    readyDelayMs: 'ready-delay',
    runMs: 'run-duration',
    terminationDelayMs: 'termination-delay',
  } as const;
  for (const [field, name] of Object.entries(delays) as [keyof typeof delays, string][]) {
    const value = durationMs(annotations[ANNOTATION_PREFIX + name] ?? '');
    if (value !== undefined) {
      stage[field] = value;
    }
  }
  return stage;
}
