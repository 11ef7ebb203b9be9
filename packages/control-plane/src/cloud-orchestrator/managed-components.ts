import { AnyFields, defineKind, isUnknownKind, jsonEqual, type KubeObject, minutes, Type } from '@slipway/kube';
import { type Controller, controller, type ReconcileContext, type Requeue, requeueAfter } from '@slipway/runtime';

import { ManagedComponent } from '../api/managed-component.ts';
import type { CoreCluster } from '../core-cluster.ts';
import type { Catalogue } from './catalogue.ts';
import { parts } from './parts.ts';

/** What can be installed, as the operator of ControlPlanes found it in a registry. */
export const ReleaseChannel = defineKind({
  group: 'core.orchestrate.cloud.sap',
  version: 'v1beta1',
  kind: 'ReleaseChannel',
  scope: 'Cluster',
  plural: 'releasechannels',
  spec: AnyFields(),
  status: Type.Object({
    components: Type.Optional(
      Type.Array(Type.Object({ name: Type.String(), versions: Type.Array(AnyFields<{ version: string }>()) })),
    ),
  }),
});

/** Names of components, with their versions. */
type Available = ReadonlyMap<string, readonly string[]>;

export type Availability = { readonly core: CoreCluster } | { readonly catalogue: Catalogue };

const everyMs = minutes(15);
const all = { name: 'all' };

/** Tells customers what can be had: a ManagedComponent for each, with its versions. It looks at the start and every 15 minutes. */
export function managedComponentController(source: Availability): Controller {
  return controller({
    name: 'managedcomponent',
    for: ManagedComponent,
    // It follows the clock, not the objects.
    predicates: [() => false],
    sources: [{ name: 'clock', start: (emit) => emit(all) }],
    reconcile: async (context) => await syncManagedComponents(context, source),
  });
}

async function syncManagedComponents(context: ReconcileContext, source: Availability): Promise<Requeue> {
  const available = 'catalogue' in source ? fromCatalogue(source.catalogue) : await fromChannels(context, source.core);
  if (available === undefined) return requeueAfter(everyMs);
  const present = new Map<string, ManagedComponent>();
  for await (const each of context.client.list(ManagedComponent)) present.set(each.metadata.name!, each);

  const failures: unknown[] = [];
  for (const [name, versions] of available) {
    try {
      await ensure(context, name, versions, present.get(name));
    } catch (error) {
      // One with an impossible name must not hide the others.
      failures.push(error);
    }
  }
  for (const [name, { metadata }] of present) {
    if (!available.has(name))
      await context.client.delete(ManagedComponent, { name }, { preconditions: { uid: metadata.uid } });
  }
  if (failures.length > 0) throw failures[0];
  return requeueAfter(everyMs);
}

async function ensure(
  { client }: ReconcileContext,
  name: string,
  versions: readonly string[],
  present: ManagedComponent | undefined,
): Promise<void> {
  if (present === undefined) {
    const { apiVersion, kind } = ManagedComponent;
    await client.create({ apiVersion, kind, metadata: { name }, spec: {} } as KubeObject);
  }
  if (jsonEqual(present?.status?.versions, versions)) return;
  const body = { status: { versions: [...versions] } };
  await client.patch(ManagedComponent, { name }, { type: 'merge', body }, { subresource: 'status' });
}

/** What all channels have together; undefined where nobody knows channels. */
async function fromChannels(context: ReconcileContext, core: CoreCluster): Promise<Available | undefined> {
  const client = await core(context);
  const available = new Map<string, Set<string>>();
  try {
    for await (const { status } of client.list(ReleaseChannel)) {
      for (const { name, versions } of status?.components ?? []) {
        const known = available.get(name) ?? new Set();
        for (const { version } of versions) known.add(version);
        available.set(name, known);
      }
    }
  } catch (error) {
    if (isUnknownKind(error)) return undefined;
    throw error;
  }
  return new Map([...available].map(([name, versions]) => [name, [...versions]]));
}

function fromCatalogue(catalogue: Catalogue): Available {
  return new Map(
    parts.flatMap((part) => {
      const versions = catalogue.versionsOf(part);
      return versions.length === 0 ? [] : [[objectName(part), versions] as const];
    }),
  );
}

/** `btpServiceOperator` as the name of an object. */
function objectName(part: string): string {
  return part.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}
