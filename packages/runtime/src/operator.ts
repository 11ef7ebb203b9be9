import type { DefinedKind, PolicyRule } from '@slipway/kube';

import type { Controller } from './controller/controller.ts';

/**
 * What an operator package says about itself. The command line, the CRD and RBAC generators, the chart and the documentation
 * are derived from this value; adding an operator touches none of them.
 */
export interface OperatorDescription {
  /** As typed on the command line, such as `operand`. */
  readonly name: string;
  /** For headings, such as `BTP Manager`. */
  readonly title: string;
  /** One sentence: what its user gets. */
  readonly summary: string;
  /** The kinds it defines; each becomes a CRD. */
  readonly kinds: readonly DefinedKind[];
  /** Exactly what it needs on the cluster, beyond what every manager needs (leases, events). */
  readonly permissions: readonly PolicyRule[];
  /** Its settings. Default: none. */
  readonly flags?: readonly OperatorFlag[];
  /** Objects that show it at work. `slipway up` applies them in order. */
  readonly examples: readonly OperatorExample[];
  /** Settings the examples cannot do without, by flag name; `slipway up` uses them where the user says nothing. */
  readonly exampleFlags?: Readonly<Record<string, string>>;
  /** Every condition reason it can give, with what to do about it. */
  readonly reasons: readonly ReasonExplanation[];
  /** Folder with files it reads at run time, which an image has to hold. Default: none. */
  readonly manifestsDir?: string;
  /** Its controllers under the given settings. */
  controllers(settings: OperatorSettings): readonly Controller[];
}

export interface OperatorFlag {
  /** Without dashes, such as `chart-namespace`. The environment variable is `SLIPWAY_<NAME>` in capitals unless `env` says otherwise. */
  readonly name: string;
  readonly env?: string;
  readonly description: string;
  /** As text; durations in Go's form. Absent: no value. */
  readonly default?: string;
  readonly type: 'string' | 'boolean' | 'duration' | 'integer';
}

/** Values of an operator's flags by name, as text. */
export interface OperatorSettings {
  readonly flags: Readonly<Record<string, string | undefined>>;
  readonly env: Readonly<Record<string, string | undefined>>;
}

export interface OperatorExample {
  readonly name: string;
  /** One line: what it shows. */
  readonly description: string;
  /** YAML stream. */
  readonly manifest: string;
}

export interface ReasonExplanation {
  readonly reason: string;
  /** The kind whose condition carries it. */
  readonly kind: string;
  readonly meaning: string;
  /** What a person does about it; empty when there is nothing to do. */
  readonly action: string;
}
