import {
  type AuthorityPolicy,
  type AuthorityState,
  type AuthorityStep,
  liveCas,
  nextAuthorityStep,
} from './authority-plan.ts';
import { splitBundle } from './inspect.ts';
import { type LeafPolicy, leafProblem, leafRenewal } from './leaf-plan.ts';

/** Serving certificates as they are kept in a Secret, all PEM. */
export interface ServingState extends AuthorityState {
  readonly certificate: string;
  readonly key: string;
}

export interface ServingPolicy extends AuthorityPolicy, LeafPolicy {}

export type ServingStep = AuthorityStep | { step: 'issue-leaf'; reason: string };

/**
 * The one next step for serving certificates. Order is what makes rotation seamless: a new CA is published first, leaves
 * of it are served after `propagationMs`, and the old CA goes `overlapMs` after that.
 */
export function nextServingStep(state: Partial<ServingState>, policy: ServingPolicy, now: number): ServingStep {
  const cas = liveCas(state.caBundle ?? '', now);
  const [leaf] = splitBundle(state.certificate ?? '');
  const broken = leafProblem(leaf, state.key ?? '', cas, policy, now);
  const authority = nextAuthorityStep(state, broken === undefined && leaf ? [leaf] : [], policy, now);
  if (authority.step === 'start-over') return authority;
  if (broken !== undefined || !leaf) return { step: 'issue-leaf', reason: broken ?? 'there is no certificate' };
  if (authority.step === 'add-ca') return authority;
  const renewal = leafRenewal(leaf, cas[0]!, policy, now);
  return renewal === undefined ? authority : { step: 'issue-leaf', reason: renewal };
}
