import type { Client, DeepReadonly, KubeObject } from '@slipway/kube';
import type { AppliedMemo, HealthRules, Membership } from '@slipway/manifests';
import type { ReconcileContext } from '@slipway/runtime';

import type { AccountSettings } from '../account.ts';
import type { Operand } from '../api.ts';
import type { OperandCondition } from '../reasons.ts';
import type { MemberKnowledge } from './member-changes.ts';
import type { OperandMetrics } from './metrics.ts';
import type { Obstacle } from './obstacles.ts';

/** An Operand and who looks at it: enough to say what it wants and what it has, inside the operator and outside. */
export interface OperandReading {
  /** For Operands and their sets. */
  readonly context: Pick<ReconcileContext, 'client' | 'signal'>;
  /** For everything that is done on behalf of the Operand: acts as its account, if it has one. */
  readonly client: Client;
  /** The account of the Operand and what it refers to were asked for like this. */
  readonly accounts: AccountSettings;
  readonly operand: Operand;
  readonly fieldManager: string;
  readonly membership: Membership;
}

/** One reconciliation of one Operand: the object as last read or written, and what the steps share. */
export interface OperandRun extends OperandReading {
  /** Its client is the operator's own. */
  readonly context: ReconcileContext;
  /** Replaced by every status write, so that the next one is checked against it. */
  operand: Operand;
  readonly memo: AppliedMemo;
  readonly members: MemberKnowledge;
  /** Everything was in force when the run began. */
  readonly steady: boolean;
  /** This run has found or made the whole manifest as it should be: what fails from here on is the end of the roll. */
  isInstalled?: boolean;
  /** This run has looked at all members, not only at those that changed. */
  sawAll?: boolean;
  /** The Operand's own health rules, once its manifest is calculated. */
  health?: HealthRules;
  /** What kept members from being applied in this run and may move by itself. */
  obstacle?: Obstacle | undefined;
  readonly metrics?: OperandMetrics;
}

/** The whole manifest an Operand asks for at this moment. */
export interface Manifest {
  readonly steadyState: readonly DeepReadonly<KubeObject>[];
  readonly postInstall: readonly DeepReadonly<KubeObject>[];
  /** `steadyState` with `postInstall` laid over it. */
  readonly merged: readonly DeepReadonly<KubeObject>[];
  /** Changes when content from outside the Operand changes; `''` when there is none. */
  readonly sourcesHash: string;
  /** Which objects (by `refKey`) came from a source, and in which namespace it is: who may not read there may not read them. */
  readonly sourceNamespaces: ReadonlyMap<string, string>;
  /** The manifest is the last ready one, because the wanted one failed. */
  readonly rolledBack: boolean;
}

export type StatusWrite = Partial<Omit<NonNullable<Operand['status']>, 'conditions'>> & {
  conditions?: OperandCondition[];
};
