import {
  controllerReference,
  createMergePatch,
  type DeepReadonly,
  hasFinalizer,
  isNotFound,
  isOwnedBy,
  isTerminating,
  type KubeObject,
  Namespace,
  type ObjectKey,
} from '@slipway/kube';
import type { ReconcileContext } from '@slipway/runtime';

import { InternalConfiguration } from '../api/internal-configuration.ts';
import { ManagedControlPlane } from '../api/managed-control-plane.ts';
import type { ReadonlyComponent } from '../component/component-resource.ts';
import { type ComponentType, externalStatusOf, kindOf } from '../component/component-type.ts';
import type { CreatedFrom } from '../component/created-from-generation.ts';
import { AnnotationAlreadyExists, patchAnnotation } from '../component/patch-annotation.ts';
import type { Architectures } from '../config/architectures.ts';
import { names, operations } from '../names.ts';
import { aggregateConditions, type AggregateInput, type McpCondition } from './aggregate-conditions.ts';
import { desiredComponents } from './desired-components.ts';
import { isIgnoredByOthers } from './ignored-components.ts';
import { projections } from './projections.ts';
import { alignGenerations, enableLeaving, type Existing, syncComponents } from './sync-components.ts';

export interface ManagedControlPlaneOptions {
  /** Component types whose controllers run. */
  readonly active: readonly ComponentType[];
  /** Default: the first architecture for all. */
  readonly architectures?: Architectures;
}

type Mcp = DeepReadonly<ManagedControlPlane>;

/** What a pass found out, for the status. */
interface Findings {
  conditions?: McpCondition[];
  components?: Record<string, unknown>;
  failure?: unknown;
  gone?: boolean;
}

/** Keeps the components of a ManagedControlPlane as it says, and its status as they say. */
export async function reconcileManagedControlPlane(
  context: ReconcileContext,
  key: ObjectKey,
  options: ManagedControlPlaneOptions,
): Promise<void> {
  const { client } = context;

  // 1. Fetch the ManagedControlPlane.
  let mcp = await client.get(ManagedControlPlane, key);
  if (mcp === undefined) return;

  // 2. Act on the operation annotation.
  const operation = mcp.metadata.annotations?.[names.operationAnnotation];
  if (operation === operations.ignore) return;
  const forced = operation === operations.reconcile;
  if (forced) await patchAnnotation(client, ManagedControlPlane, mcp, names.operationAnnotation, '', 'delete');

  // 3. Fetch the namespace, whose labels name project and workspace, and the InternalConfiguration of the same name.
  const namespace = await context.cache.get(Namespace, { name: key.namespace! });
  const internalConfiguration = await adoptInternalConfiguration(context, mcp, key);
  const createdFrom: CreatedFrom = {
    managedControlPlane: mcp.metadata.generation ?? 0,
    internalConfiguration: internalConfiguration?.metadata.generation ?? -1,
  };

  // 4. Create, update or delete the components.
  const findings: Findings = {};
  try {
    const { existing, ignored } = await existingComponents(context, mcp, key, options.active);
    if (isTerminating(mcp)) {
      await deleteComponents(context, mcp, existing, { ignored, createdFrom, forced, findings });
    } else {
      mcp = await ensureMetadata(context, mcp, namespace);
      const input = {
        mcp,
        internalConfiguration,
        createdFrom,
        forced,
        architectures: options.architectures ?? {},
        active: options.active,
      };
      const desired = desiredComponents(input);
      const failures = await syncComponents({
        client,
        key,
        existing,
        desired,
        ignored,
        createdFrom,
        forced,
        disabled: disabledIn(mcp),
      });
      failures.push(...collect(context, mcp, { existing, ignored, expected: new Set(desired.keys()) }, findings));
      if (failures.length > 0)
        throw failures.length === 1 ? failures[0] : new AggregateError(failures, joined(failures));
    }
  } catch (failure) {
    findings.failure = failure;
  }

  // 5. Write the status, also in case of an error.
  if (!findings.gone) await writeStatus(context, mcp, findings);
  if (findings.failure !== undefined) throw findings.failure;
}

async function adoptInternalConfiguration(
  { client, cache }: ReconcileContext,
  mcp: Mcp,
  key: ObjectKey,
): Promise<DeepReadonly<InternalConfiguration> | undefined> {
  const found = await cache.get(InternalConfiguration, key);
  if (found === undefined || isTerminating(mcp) || isOwnedBy(found, mcp)) return found;
  const others = found.metadata.ownerReferences ?? [];
  const body = {
    metadata: {
      uid: found.metadata.uid,
      ownerReferences: [...others, controllerReference(mcp as DeepReadonly<KubeObject>)],
    },
  };
  return await client.patch(InternalConfiguration, key, { type: 'merge', body });
}

/**
 * What is cached is enough to see what is to be done: whoever writes looks again, and a change wakes us. In a deletion it has to be seen on the server that
 * there is none: the cache may not have heard of one yet, and it would be left behind.
 */
async function existingComponents(
  { client, cache }: ReconcileContext,
  mcp: Mcp,
  key: ObjectKey,
  active: readonly ComponentType[],
): Promise<{ existing: Existing; ignored: ReadonlySet<ComponentType> }> {
  const existing = new Map<ComponentType, ReadonlyComponent>();
  const ignored = new Set<ComponentType>();
  const read = async (type: ComponentType): Promise<DeepReadonly<KubeObject> | undefined> =>
    await (isTerminating(mcp) ? client : cache).get(kindOf(type), key);
  const found = await Promise.all(active.map(async (type) => [type, await read(type)] as const));
  for (const [type, component] of found) {
    if (component === undefined) continue;
    if (isIgnoredByOthers(component)) ignored.add(type);
    else existing.set(type, component as ReadonlyComponent);
  }
  return { existing, ignored };
}

/** The finalizer, and the labels that say to which project and workspace it belongs: added, changed and removed with those of the namespace. */
async function ensureMetadata(
  { client }: ReconcileContext,
  mcp: ManagedControlPlane,
  namespace: DeepReadonly<KubeObject> | undefined,
): Promise<ManagedControlPlane> {
  const present = hasFinalizer(mcp, names.mcpFinalizer) ? mcp : await client.addFinalizer(mcp, names.mcpFinalizer);
  const labels: Record<string, string | null> = {};
  for (const [own, source] of [
    [names.mcpProjectLabel, names.projectLabel],
    [names.mcpWorkspaceLabel, names.workspaceLabel],
  ] as const) {
    const wanted = namespace?.metadata.labels?.[source];
    if (present.metadata.labels?.[own] !== wanted) labels[own] = wanted ?? null;
  }
  if (Object.keys(labels).length === 0) return present as ManagedControlPlane;
  const { name, namespace: where, uid } = present.metadata;
  return await client.patch(
    ManagedControlPlane,
    { name: name!, namespace: where },
    { type: 'merge', body: { metadata: { uid, labels } } },
  );
}

const disabledIn = (mcp: Mcp): readonly string[] => mcp.spec?.disabledComponents ?? [];

interface DeletionInput {
  readonly ignored: ReadonlySet<ComponentType>;
  readonly createdFrom: CreatedFrom;
  readonly forced: boolean;
  readonly findings: Findings;
}

/** All components are told to go at once; their finalizers make the order. When none is left, the ManagedControlPlane goes. */
async function deleteComponents(
  context: ReconcileContext,
  mcp: Mcp,
  existing: Existing,
  { ignored, createdFrom, forced, findings }: DeletionInput,
): Promise<void> {
  const { client } = context;
  const key = { name: mcp.metadata.name!, namespace: mcp.metadata.namespace };
  if (existing.size === 0 && ignored.size === 0) {
    await client.removeFinalizer(mcp as DeepReadonly<KubeObject>, names.mcpFinalizer);
    findings.gone = true;
    return;
  }
  await alignGenerations(client, existing, createdFrom);
  for (const [type, component] of existing) {
    if (!isTerminating(component))
      await client.delete(kindOf(type), key, { preconditions: { uid: component.metadata.uid } });
    await enableLeaving(client, type, component, disabledIn(mcp));
    if (forced) await askToReconcile(context, type, component);
  }
  const [clash] = collect(context, mcp, { existing, ignored, expected: new Set() }, findings);
  if (clash) throw clash;
}

async function askToReconcile(
  { client }: ReconcileContext,
  type: ComponentType,
  component: ReadonlyComponent,
): Promise<void> {
  try {
    await patchAnnotation(client, kindOf(type), component, names.operationAnnotation, operations.reconcile);
  } catch (error) {
    // Whoever put another value there meant it.
    if (!(error instanceof AnnotationAlreadyExists) && !isNotFound(error)) throw error;
  }
}

/** What the components have to say, for the status. Answers what they should not have said. */
function collect(
  { clock }: ReconcileContext,
  mcp: Mcp,
  components: Pick<AggregateInput, 'existing' | 'ignored' | 'expected'>,
  findings: Findings,
): readonly Error[] {
  findings.components = { ...mcp.status?.components };
  for (const [type, component] of components.existing) {
    if (component.status === undefined) continue;
    findings.components[projections[type].statusField] = Object.fromEntries(
      externalStatusOf(type).flatMap((field) => {
        const value = component.status![field];
        return value === undefined ? [] : [[field, value]];
      }),
    );
  }
  const old = (mcp.status?.conditions ?? []) as McpCondition[];
  const { conditions, clashes } = aggregateConditions({ ...components, old, nowMs: clock.now() });
  findings.conditions = conditions;
  return clashes;
}

async function writeStatus({ client }: ReconcileContext, mcp: Mcp, findings: Findings): Promise<void> {
  const conditions = findings.conditions ?? [...(mcp.status?.conditions ?? [])];
  const failed = findings.failure !== undefined;
  const well = !failed && conditions.every((condition) => condition.status === 'True');
  const status = {
    observedGeneration: mcp.metadata.generation ?? 0,
    status: isTerminating(mcp) ? 'Deleting' : well ? 'Ready' : 'Not Ready',
    message: failed ? `reconcile error: ${textOf(findings.failure)}` : undefined,
    conditions,
    components: findings.components ?? mcp.status?.components,
  };
  const change = createMergePatch(mcp.status ?? {}, status);
  if (change === undefined) return;
  const { name, namespace, uid } = mcp.metadata;
  const body = { metadata: { uid }, status: change };
  try {
    await client.patch(
      ManagedControlPlane,
      { name: name!, namespace },
      { type: 'merge', body },
      { subresource: 'status' },
    );
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}

function joined(failures: readonly unknown[]): string {
  return `multiple errors occurred:\n${failures.map(textOf).join('\n')}`;
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
