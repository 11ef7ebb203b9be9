import type { DeepReadonly, KubeObject } from '@slipway/kube';
import { compareRefs, refKey, refOf, type ObjectRef } from '@slipway/manifests';
import { createHash } from 'node:crypto';

/**
 * One member of a set as ActiveOperands store it. All six keys are always there, in this order; `version` and `resource` are
 * empty in what we write and honoured in what others wrote.
 */
export interface LiveRef {
  group: string;
  version: string;
  resource: string;
  kind: string;
  namespace: string;
  name: string;
}

/** The whole manifest: `postInstall` objects replace `steadyState` objects of the same identity; a later duplicate wins. */
export function mergedManifest<T extends DeepReadonly<KubeObject>>(
  steadyState: readonly T[],
  postInstall: readonly T[],
): T[] {
  const merged = new Map<string, T>();
  for (const object of [...steadyState, ...postInstall]) merged.set(refKey(refOf(object)), object);
  return [...merged.values()];
}

/** The members of a manifest, sorted: its identity, whatever their content. */
export function liveRefs(manifest: readonly DeepReadonly<KubeObject>[]): LiveRef[] {
  const refs = new Map(manifest.map((object) => [refKey(refOf(object)), refOf(object)]));
  return [...refs.values()].sort(compareRefs).map(toLiveRef);
}

export function toLiveRef(ref: ObjectRef): LiveRef {
  return { group: ref.group, version: '', resource: '', kind: ref.kind, namespace: ref.namespace, name: ref.name };
}

export function toObjectRef(ref: DeepReadonly<LiveRef>): ObjectRef {
  return { group: ref.group, kind: ref.kind, namespace: ref.namespace, name: ref.name };
}

/** The name of the ActiveOperand for a set: the same set has the same name, on every machine and in every implementation. */
export function activeOperandName(refs: readonly LiveRef[]): string {
  return `sha256-${createHash('sha256').update(goJson(refs)).digest('hex').slice(0, 10)}`;
}

/** The name used when another Operand holds the plain one: nobody else can compute the same. */
export function saltedName(plain: string, operandUid: string): string {
  return `${plain}-${operandUid.replaceAll('-', '').slice(0, 8)}`;
}

/** JSON as Go's encoder writes it, which escapes a few characters JSON does not ask for. RBAC names may contain three of them. */
function goJson(refs: readonly LiveRef[]): string {
  const plain = refs.map(({ group, version, resource, kind, namespace, name }) => ({
    group,
    version,
    resource,
    kind,
    namespace,
    name,
  }));
  return JSON.stringify(plain).replace(
    /[<>&\u2028\u2029]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
