import type { Client, Clock, DeepReadonly, DefinedKind, Kind, KubeObject, PolicyRule, Random } from '@slipway/kube';

import type { Controller } from './controller/controller.ts';
import type { WebhookDefinition } from './webhooks/webhook.ts';

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
  /** Objects of kinds it does not define that tell how it does. `slipway status` shows them with those of its kinds. Default: none. */
  readonly shows?: readonly ShownObjects[];
  /** Exactly what it needs on the cluster, beyond what every manager needs (leases, events). */
  readonly permissions: readonly PolicyRule[];
  /** Other sets of permissions it can work with; `slipway rbac` has a flag for each. Default: none. */
  readonly permissionVariants?: readonly PermissionVariant[];
  /** What it needs besides under certain settings. Chart and `slipway install` give it with the setting. Default: nothing. */
  readonly permissionsUnder?: readonly ConditionalPermissions[];
  /** Admission and conversion webhooks. The manager serves and registers them wherever the operator runs. Default: none. */
  readonly webhooks?: readonly WebhookDefinition[];
  /** ValidatingAdmissionPolicies and their bindings, applied together with its CRDs. Default: none. */
  readonly policies?: readonly KubeObject[];
  /** Its settings. Default: none. */
  readonly flags?: readonly OperatorFlag[];
  /** Objects that show it at work. `slipway up` applies them in order. */
  readonly examples: readonly OperatorExample[];
  /** Settings the examples cannot do without, by flag name; `slipway up` uses them where the user says nothing. */
  readonly exampleFlags?: Readonly<Record<string, string>>;
  /** Starts what its examples need besides the cluster, such as a server. `slipway up` does so before the controllers. */
  startExample?(context: ExampleContext): Promise<RunningExample>;
  /** Every condition reason it can give, with what to do about it. */
  readonly reasons: readonly ReasonExplanation[];
  /** Folder with files it reads at run time, which an image has to hold. Default: none. */
  readonly manifestsDir?: string;
  /**
   * What keeps it from its work under these settings, as one sentence that says what to do, where others may still work beside it:
   * a process with no other operator ends, one with others logs it. Default: nothing ever does.
   */
  obstacle?(settings: OperatorSettings): string | undefined;
  /** Its controllers under the given settings. */
  controllers(settings: OperatorSettings): readonly Controller[];
}

/** Objects of a kind that somebody else defines, such as the ConfigMap an operator keeps its state in. */
export interface ShownObjects {
  readonly kind: Kind;
  readonly namespace: string;
  /** Absent: all of the kind in the namespace. */
  readonly name?: string;
  /** What one of them tells. `undefined`: nothing yet. */
  stateOf(object: DeepReadonly<KubeObject>): ShownState | undefined;
}

export interface ShownState {
  /** A word, such as `succeeded`. */
  readonly state: string;
  /** Whether all is well. Absent: it is on its way. */
  readonly good?: boolean;
  /** What it waits for or what is wrong. Default: nothing. */
  readonly message?: string;
  /** RFC 3339 time since when. Default: when the object was created. */
  readonly since?: string;
}

/** A setting. It is typed `--<operator>-<name>`, or `--<name>` where nothing else is called so. */
export interface OperatorFlag {
  /** Without dashes, such as `chart-namespace`. The environment variable is `SLIPWAY_<NAME>` in capitals unless `env` says otherwise. */
  readonly name: string;
  readonly env?: string;
  readonly description: string;
  /** As text; durations in Go's form. Absent: no value. */
  readonly default?: string;
  readonly type: 'string' | 'boolean' | 'duration' | 'integer';
}

/** Permissions in place of the usual ones, such as the small role of an operator that impersonates others. */
export interface PermissionVariant {
  /** Without dashes, such as `impersonate`. Typed as the operator's flags are. */
  readonly name: string;
  readonly description: string;
  /** How the help calls its value, such as `dir`. Absent: it takes none. */
  readonly value?: string;
  /** The rules. `value` is as typed, empty when it takes none. */
  permissions(value: string): readonly PolicyRule[] | Promise<readonly PolicyRule[]>;
}

/** Permissions an operator needs while one of its flags has a certain value. */
export interface ConditionalPermissions {
  readonly flag: string;
  readonly value: string;
  /** A flag with which it needs them elsewhere, whatever its value. */
  readonly unless?: string;
  readonly permissions: readonly PolicyRule[];
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

/** What an example may use. */
export interface ExampleContext {
  readonly clock: Clock;
  readonly random: Random;
  /** Tells the person who looks on. */
  readonly say: (line: string) => void;
  /** A folder of its own that is kept as long as the cluster. Absent: the cluster is gone at the end, and so should the rest be. */
  readonly folder?: string;
}

/** What an example needs, at work. It is disposed of after the controllers have ended. */
export interface RunningExample extends AsyncDisposable {
  /** Settings that lead to it, by flag name; they take the place of all others. */
  readonly flags: Readonly<Record<string, string>>;
  /** Tells what happens on the cluster until `signal` aborts. Default: nothing is told. */
  follow?(client: Client, signal: AbortSignal): Promise<void>;
}

export interface ReasonExplanation {
  readonly reason: string;
  /** The kind whose condition carries it. */
  readonly kind: string;
  readonly meaning: string;
  /** What a person does about it; empty when there is nothing to do. */
  readonly action: string;
}
