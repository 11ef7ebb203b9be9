import type { Cache, Client, Kind, KubeObject } from '@slipway/kube';

import { ManagedControlPlane } from '../api/managed-control-plane.ts';
import { names } from '../names.ts';
import { ContractViolation } from './component-error.ts';
import { componentTypes, kindOf } from './component-type.ts';

/** What a component may do on the onboarding cluster. Its own status and all finalizers are the contract's to write. */
export type ComponentClient = Pick<
  Client,
  'get' | 'list' | 'listPage' | 'create' | 'update' | 'patch' | 'apply' | 'delete'
>;
export type ComponentCache = Pick<Cache, 'get' | 'list'>;

/**
 * A client with which the contract cannot be broken: it does not write component resources, whose specs come from the ManagedControlPlane, and
 * does not touch the ManagedControlPlane at all.
 */
export function guardedClient(client: Client): ComponentClient {
  return {
    get: (kind, key, options) => client.get(readable(kind), key, options),
    list: (kind, options) => client.list(readable(kind), options),
    listPage: (kind, options) => client.listPage(readable(kind), options),
    create: (object, options) => client.create(writable(object), options),
    update: (object, options) => client.update(writable(object), options),
    patch: (kind, key, patch, options) => client.patch(writableKind(kind), key, patch, options),
    apply: (object, options) => client.apply(writable(object), options),
    delete: (kind, key, options) => client.delete(writableKind(kind), key, options),
  };
}

/** The same for cached reads. */
export function guardedCache(cache: Cache): ComponentCache {
  return {
    get: (kind, key) => cache.get(readable(kind), key),
    list: (kind, options) => cache.list(readable(kind), options),
  };
}

function readable<K extends Kind>(kind: K): K {
  if (isKind(kind, ManagedControlPlane)) {
    throw new ContractViolation(
      'a component must not read the owning ManagedControlPlane: its own resource says all it needs',
    );
  }
  return kind;
}

function writable<T extends KubeObject>(object: T): T {
  refuseWrite({ group: object.apiVersion.split('/')[0]!, kind: object.kind });
  return object;
}

function writableKind<K extends Kind>(kind: K): K {
  refuseWrite(kind);
  return kind;
}

type Named = Pick<Kind, 'group' | 'kind'> & Partial<Pick<Kind, 'plural'>>;

function refuseWrite(kind: Named): void {
  if (isKind(kind, ManagedControlPlane))
    throw new ContractViolation('a component must not modify the owning ManagedControlPlane');
  const component = componentTypes.find((type) => isKind(kind, kindOf(type)));
  if (component !== undefined) {
    throw new ContractViolation(
      `a component must not write the ${component} resource: its spec comes from the ManagedControlPlane`,
    );
  }
}

/** By kind or by resource: requests go by the latter, and somebody may have made up the former. */
function isKind(asked: Named, kind: Kind): boolean {
  return asked.group === names.group && (asked.kind === kind.kind || asked.plural === kind.plural);
}
