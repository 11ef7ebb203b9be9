import type { ReadonlyComponent } from './component-resource.ts';
import { type CreatedFrom, createdFromOrNone } from './created-from-generation.ts';

/**
 * Whether a component has seen its newest spec and all is well: what it observed is what its labels and its generation say, and the
 * named conditions (default: all it has) are True.
 */
export function isComponentReady(component: ReadonlyComponent, ...types: readonly string[]): boolean {
  const { status, metadata } = component;
  const observed = status?.observedGenerations;
  const createdFrom = createdFromOrNone(component);
  if (observed === undefined || createdFrom.managedControlPlane < 0) return false;
  const current =
    observed.resource === metadata.generation &&
    observed.managedControlPlane === createdFrom.managedControlPlane &&
    observed.internalConfiguration === createdFrom.internalConfiguration;
  const conditions = status?.conditions ?? [];
  const judged = types.length > 0 ? types : conditions.map((condition) => condition.type);
  return current && judged.every((type) => conditions.some((held) => held.type === type && held.status === 'True'));
}

/** Whether a component is ready for one that was made from these generations: an older state of it does not count. */
export function isDependencyReady(
  dependency: ReadonlyComponent,
  own: CreatedFrom,
  ...types: readonly string[]
): boolean {
  const observed = dependency.status?.observedGenerations;
  return (
    isComponentReady(dependency, ...types) &&
    observed?.managedControlPlane === own.managedControlPlane &&
    observed.internalConfiguration === own.internalConfiguration
  );
}
