import type { Client, DeepReadonly } from '@slipway/kube';
import { ManifestError, type ManifestProblem } from '@slipway/manifests';

import type { Operand } from './api.ts';

/** A ServiceAccount the operator acts as. */
export interface Account {
  readonly namespace: string;
  readonly name: string;
}

/** As whom the operator works for Operands. */
export interface AccountSettings {
  /** For Operands that name no account. Default: the operator itself. */
  readonly defaultAccount?: Account | undefined;
  /** Refuse Operands without an account: nothing is done with the operator's own rights. Default false. */
  readonly requireAccount?: boolean;
  /** Sources must be in the namespace of the account. Default false. */
  readonly noCrossNamespaceRefs?: boolean;
}

/** The account an Operand is worked for; `undefined` for the operator itself. */
export function accountOf({ spec }: DeepReadonly<Operand>, settings: AccountSettings): Account | undefined {
  const { serviceAccountName: name, serviceAccountNamespace: namespace } = spec;
  if (name === undefined) return settings.defaultAccount;
  // Without its namespace it is nobody; `checkAccount` says so before anything is done.
  return { namespace: namespace ?? '', name };
}

/** Throws a {@link ManifestError} that names the field when the Operand's account, or what it refers to, is not as asked for. */
export function checkAccount(operand: DeepReadonly<Operand>, settings: AccountSettings): void {
  const problems = [...accountProblems(operand, settings), ...referenceProblems(operand, settings)];
  if (problems.length > 0) throw new ManifestError(problems);
}

/** What is wrong with the account of an Operand itself: nothing may be done for it then, not even be taken off the cluster. */
export function accountProblems(operand: DeepReadonly<Operand>, settings: AccountSettings): ManifestProblem[] {
  const { serviceAccountName, serviceAccountNamespace } = operand.spec;
  const problems: ManifestProblem[] = [];
  if (serviceAccountName !== undefined && serviceAccountNamespace === undefined)
    problems.push({ source: 'spec.serviceAccountNamespace', message: 'is required with serviceAccountName' });
  if (serviceAccountName === undefined && serviceAccountNamespace !== undefined)
    problems.push({ source: 'spec.serviceAccountName', message: 'is required with serviceAccountNamespace' });
  if (!accountOf(operand, settings) && settings.requireAccount)
    problems.push({
      source: 'spec.serviceAccountName',
      message: 'is required by this operator: name an account that may do what the manifest asks for',
    });
  return problems;
}

function referenceProblems(operand: DeepReadonly<Operand>, settings: AccountSettings): ManifestProblem[] {
  if (!settings.noCrossNamespaceRefs) return [];
  const account = accountOf(operand, settings);
  const problems: ManifestProblem[] = [];
  const { steadyStateFrom = [] } = operand.spec;
  for (const [index, source] of steadyStateFrom.entries())
    if (source.namespace !== account?.namespace)
      problems.push({
        source: `spec.steadyStateFrom[${index}].namespace`,
        message: account
          ? `must be ${account.namespace}, the namespace of the account: this operator follows no references into other namespaces`
          : 'is refused without serviceAccountName: this operator follows no references into other namespaces',
      });
  return problems;
}

/** The client for everything that is done for an Operand, as distinct from what the operator does for itself. */
export function clientFor(client: Client, account: Account | undefined): Client {
  return account ? client.actingAs(`system:serviceaccount:${account.namespace}:${account.name}`) : client;
}

/** `namespace/name`, as the flag has it. */
export function parseAccount(text: string): Account {
  const [namespace, name, ...more] = text.split('/');
  if (!namespace || !name || more.length > 0)
    throw new Error(`--default-service-account must be NAMESPACE/NAME, not "${text}"`);
  return { namespace, name };
}
