import { controllerReference, type DeepReadonly, type KubeObject } from '@slipway/kube';

import { componentTypes, type ComponentType, kindOf } from '../component/component-type.ts';
import { type CreatedFrom, createdFromLabels } from '../component/created-from-generation.ts';
import { names, operations } from '../names.ts';
import { disabledAnnotations } from './ignored-components.ts';
import type { FieldError, ProjectionInput } from './projection.ts';
import { projections } from './projections.ts';
import type { Architectures } from '../config/architectures.ts';
import { architectureOf } from './architecture.ts';

export interface DesiredInput extends ProjectionInput {
  readonly createdFrom: CreatedFrom;
  /** Somebody asked for a reconciliation; the components are to look again too. */
  readonly forced: boolean;
  readonly architectures: Architectures;
  /** Types whose controllers run. The others are neither made nor deleted. */
  readonly active: readonly ComponentType[];
}

export type Desired = ReadonlyMap<ComponentType, KubeObject>;

/**
 * The component resources a ManagedControlPlane asks for. All or nothing: one wrong component means that none is touched.
 */
export function desiredComponents(input: DesiredInput): Desired {
  const desired = new Map<ComponentType, KubeObject>();
  for (const type of componentTypes) {
    if (!input.active.includes(type) || !projections[type].isConfigured(input)) continue;
    desired.set(type, desiredComponent(type, input));
  }
  return desired;
}

function desiredComponent(type: ComponentType, input: DesiredInput): KubeObject {
  const { mcp, createdFrom, forced } = input;
  const projection = projections[type];
  const spec = projection.spec(input);
  refuse(type, projection.validate?.(spec) ?? []);
  const disabled = mcp.spec?.disabledComponents?.includes(type) ?? false;
  const kind = kindOf(type);
  return {
    apiVersion: kind.apiVersion,
    kind: kind.kind,
    metadata: {
      name: mcp.metadata.name,
      namespace: mcp.metadata.namespace,
      labels: withoutUndefined({
        [names.mcpNameLabel]: mcp.metadata.name,
        [names.mcpNamespaceLabel]: mcp.metadata.namespace,
        [names.mcpProjectLabel]: mcp.metadata.labels?.[names.mcpProjectLabel],
        [names.mcpWorkspaceLabel]: mcp.metadata.labels?.[names.mcpWorkspaceLabel],
        ...createdFromLabels(createdFrom),
        [names.architectureLabel]: architectureOf(type, mcp as DeepReadonly<KubeObject>, input.architectures),
      }),
      annotations: disabled ? disabledAnnotations : forced ? { [names.operationAnnotation]: operations.reconcile } : {},
      ownerReferences: [controllerReference(mcp as DeepReadonly<KubeObject>)],
    },
    spec,
  };
}

function refuse(type: ComponentType, problems: readonly FieldError[]): void {
  if (problems.length === 0) return;
  const texts = problems.map(({ field, message }) => `spec.${type.toLowerCase()}.${field}: ${message}`);
  throw new ConversionError(
    `unable to convert ManagedControlPlane to internal resources: error converting configuration for component '${type}' into spec for that component's resource: invalid ${type} configuration: ${texts.join(', ')}`,
  );
}

/** The ManagedControlPlane cannot be turned into components. Only its user can mend that. */
export class ConversionError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'ConversionError';
  }
}

function withoutUndefined(entries: Readonly<Record<string, string | undefined>>): Record<string, string> {
  return Object.fromEntries(Object.entries(entries).filter(([, value]) => value !== undefined)) as Record<
    string,
    string
  >;
}
