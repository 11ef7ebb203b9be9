import { type Client, isTerminating, Namespace } from '@slipway/kube';

import type { ProtectedNamespace } from './config.ts';

/** The namespaces of a control plane in which its users have rights, in order. */
export async function userNamespaces(client: Client, guarded: readonly ProtectedNamespace[]): Promise<string[]> {
  const found: string[] = [];
  for await (const namespace of client.list(Namespace)) {
    const name = namespace.metadata.name!;
    if (!isTerminating(namespace) && !guarded.some((rule) => isProtected(name, rule))) found.push(name);
  }
  return found.sort();
}

export function isProtected(name: string, rule: ProtectedNamespace): boolean {
  if ('exact' in rule) return name === rule.exact;
  if ('prefix' in rule) return name.startsWith(rule.prefix);
  if ('postfix' in rule) return name.endsWith(rule.postfix);
  return new RegExp(rule.pattern).test(name);
}
