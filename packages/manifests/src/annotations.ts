/** Annotations on members that change how the set treats them. */
export const annotations = {
  /** Which wave the object is applied in; a whole number, may be negative. Overrides the order by kind. */
  wave: 'manifests.slipway.dev/wave',
  /** Objects that must be healthy first: `group/Kind/namespace/name`, or `group/Kind/name` when cluster-scoped, comma-separated; the core group is `core`. */
  dependsOn: 'manifests.slipway.dev/depends-on',
  /** `Reconcile` (default) or `EnsureExists`: create when missing, never touch afterwards. */
  mode: 'manifests.slipway.dev/mode',
  /** `enabled`: delete and create again when a change hits an immutable field. Default: report the refusal. */
  recreate: 'manifests.slipway.dev/recreate',
  /** `disabled`: the object stays when it leaves the set. `enabled` prunes a kind that is kept by default. */
  prune: 'manifests.slipway.dev/prune',
  /** `Correct` (default), `Warn` or `Ignore`: what happens when somebody else changes the object. */
  drift: 'manifests.slipway.dev/drift',
  /** Written by us on members whose drift is not corrected: which manifest they were made from. */
  appliedDigest: 'manifests.slipway.dev/applied-digest',
} as const;

/** The annotation the original Operand uses for {@link annotations.mode}; understood as an alias. */
export const modeAlias = 'operator.knative.dev/mode';

type Annotated = { readonly metadata: { readonly annotations?: Readonly<Record<string, string>> } };

function read(object: Annotated, key: string): string | undefined {
  return object.metadata.annotations?.[key];
}

export function modeOf(object: Annotated): 'Reconcile' | 'EnsureExists' {
  return (read(object, annotations.mode) ?? read(object, modeAlias)) === 'EnsureExists' ? 'EnsureExists' : 'Reconcile';
}

export function mayRecreate(object: Annotated): boolean {
  return read(object, annotations.recreate) === 'enabled';
}

export function driftPolicyOf(object: Annotated): 'Correct' | 'Warn' | 'Ignore' {
  const value = read(object, annotations.drift);
  return value === 'Warn' || value === 'Ignore' ? value : 'Correct';
}

const keptKinds = new Set([
  'Namespace',
  'CustomResourceDefinition.apiextensions.k8s.io',
  'PersistentVolumeClaim',
  'PersistentVolume',
]);

/** Whether an object may be deleted when it leaves its set. Namespaces, CRDs and volumes only when annotated. */
export function mayPrune(object: Annotated & { readonly apiVersion: string; readonly kind: string }): boolean {
  const value = read(object, annotations.prune);
  if (value === 'disabled') return false;
  if (value === 'enabled') return true;
  const slash = object.apiVersion.indexOf('/');
  const group = slash < 0 ? '' : object.apiVersion.slice(0, slash);
  return !keptKinds.has(group ? `${object.kind}.${group}` : object.kind);
}
