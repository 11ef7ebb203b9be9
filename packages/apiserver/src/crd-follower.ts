import { kubeTime, type Clock } from './clock.ts';
import { resourcesOfCrd, type CustomResourceOptions } from './crd/custom-resources.ts';
import { sameValue } from './kinds/json-access.ts';
import type { LocalClient } from './local-client.ts';
import type { ApiObject, JsonObject } from './object.ts';
import type { Registry } from './registry.ts';
import type { Store } from './store/store.ts';

const crdStorage = 'customresourcedefinitions.apiextensions.k8s.io';

export interface CrdFollowerOptions extends CustomResourceOptions {
  readonly store: Store;
  readonly registry: Registry;
  /** Writes the conditions. */
  readonly client: LocalClient;
  readonly clock: Clock;
}

/** Serves the kinds of stored CRDs, from the very write that stores one to the one that removes it, and says so in their status. */
export function followCrds(options: CrdFollowerOptions): void {
  const { store, registry } = options;
  const serve = (crd: ApiObject) => registry.replace(crd.metadata.name!, resourcesOfCrd(crd, options));
  for (const { object } of store.list(crdStorage)) {
    serve(object);
    void establish(options, object);
  }
  store.subscribe(crdStorage, ({ type, entry, previous }) => {
    const { object } = entry;
    if (type === 'DELETED') {
      registry.remove(object.metadata.name!);
      return;
    }
    // Rebuilding after a status write would throw away every cached encoding for nothing.
    if (previous && sameValue(previous.object['spec'], object['spec'])) return;
    serve(object);
    void establish(options, object);
  });
}

interface Condition extends JsonObject {
  type: string;
  status: string;
  lastTransitionTime: string;
  reason: string;
  message: string;
}

async function establish({ client, clock }: CrdFollowerOptions, crd: ApiObject): Promise<void> {
  if (crd.metadata.deletionTimestamp) return;
  const status = (crd['status'] ?? {}) as {
    conditions?: Condition[] | null;
    acceptedNames?: JsonObject;
    storedVersions?: string[];
  };
  const { names, versions } = crd['spec'] as { names: JsonObject; versions: { name: string; storage: boolean }[] };
  const stored = versions.find(({ storage }) => storage)?.name;
  const conditions = [...(status.conditions ?? [])];
  const now = kubeTime(clock.now());
  const fulfil = (type: string, reason: string, message: string) => {
    if (!conditions.some((condition) => condition.type === type)) {
      conditions.push({ type, status: 'True', lastTransitionTime: now, reason, message });
    }
  };
  fulfil('NamesAccepted', 'NoConflicts', 'no conflicts found');
  fulfil('Established', 'InitialNamesAccepted', 'the initial names have been accepted');
  const storedVersions = [...new Set([...(status.storedVersions ?? []), ...(stored ? [stored] : [])])];
  const next = { ...status, conditions, acceptedNames: names, storedVersions };
  if (sameValue(next, status)) return;
  const address = { group: 'apiextensions.k8s.io', version: 'v1', plural: 'customresourcedefinitions' };
  try {
    await client.update({ ...address, name: crd.metadata.name!, subresource: 'status' }, { ...crd, status: next });
  } catch {
    // Someone wrote first; that write brings us here again.
  }
}
