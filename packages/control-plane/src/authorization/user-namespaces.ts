import { type DeepReadonly, isTerminating, type Namespace } from '@slipway/kube';

import type { ProtectedNamespace } from './config.ts';

/** Those of the namespaces of a control plane in which its users have rights, in order. */
export function userNamespaces(
  all: readonly DeepReadonly<Namespace>[],
  guarded: readonly ProtectedNamespace[],
): string[] {
  const own = all.filter((namespace) => !isTerminating(namespace));
  const names = own.map(({ metadata }) => metadata.name!);
  return names.filter((name) => !guarded.some((rule) => isProtected(name, rule))).toSorted();
}

export function isProtected(name: string, rule: ProtectedNamespace): boolean {
  if ('exact' in rule) return name === rule.exact;
  if ('prefix' in rule) return name.startsWith(rule.prefix);
  if ('postfix' in rule) return name.endsWith(rule.postfix);
  return new RegExp(rule.pattern).test(name);
}
