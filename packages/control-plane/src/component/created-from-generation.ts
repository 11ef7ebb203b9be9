import { names, operations } from '../names.ts';
import { ComponentError } from './component-error.ts';
import type { ReadonlyComponent } from './component-resource.ts';

/** The generations of the ManagedControlPlane and the InternalConfiguration a component was made from. */
export interface CreatedFrom {
  readonly managedControlPlane: number;
  /** -1 when there is none. */
  readonly internalConfiguration: number;
}

/** Reads the labels. Throws `InvalidManagedControlPlaneLabels` when the first is missing or either is no number. */
export function getCreatedFromGeneration(component: ReadonlyComponent): CreatedFrom {
  const labels = component.metadata.labels ?? {};
  if (labels[names.mcpGenerationLabel] === undefined) {
    throw new ComponentError(
      'InvalidManagedControlPlaneLabels',
      `object does not have a '${names.mcpGenerationLabel}' label`,
    );
  }
  return {
    managedControlPlane: parsed(labels, names.mcpGenerationLabel),
    internalConfiguration: labels[names.icGenerationLabel] === undefined ? -1 : parsed(labels, names.icGenerationLabel),
  };
}

/** The labels as they should be; an absent one is to be removed. */
export function createdFromLabels(createdFrom: CreatedFrom): Record<string, string | undefined> {
  const { managedControlPlane, internalConfiguration } = createdFrom;
  return {
    [names.mcpGenerationLabel]: String(managedControlPlane),
    [names.icGenerationLabel]: internalConfiguration < 0 ? undefined : String(internalConfiguration),
  };
}

/** A merge patch that sets the labels and, when forced, asks for a reconciliation. */
export function generateCreatedFromGenerationPatch(createdFrom: CreatedFrom, forced: boolean): Record<string, unknown> {
  const labels = Object.fromEntries(
    Object.entries(createdFromLabels(createdFrom)).map(([label, value]) => [label, value ?? null]),
  );
  const annotations = forced ? { annotations: { [names.operationAnnotation]: operations.reconcile } } : {};
  return { metadata: { labels, ...annotations } };
}

/** As {@link getCreatedFromGeneration}, with -1 for whatever cannot be read: for comparing, not for trusting. */
export function createdFromOrNone(component: ReadonlyComponent): CreatedFrom {
  try {
    return getCreatedFromGeneration(component);
  } catch {
    return { managedControlPlane: -1, internalConfiguration: -1 };
  }
}

function parsed(labels: Readonly<Record<string, string>>, label: string): number {
  const text = labels[label]!;
  if (!/^[-+]?\d{1,15}$/.test(text)) {
    throw new ComponentError(
      'InvalidManagedControlPlaneLabels',
      `value '${text}' of label '${label}' cannot be parsed into an int64`,
    );
  }
  return Number(text);
}
