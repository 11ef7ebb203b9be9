import type { KubeObject } from '@slipway/kube';
import type { TestCluster } from '@slipway/testing';

import { names } from '../src/names.ts';
import { watchWrites } from './watched-writes.ts';

type Data = Readonly<Record<string, string>>;

/** What may follow what, state by state; the empty one is before the first record. A crash leaves a record where it was. */
const machines: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  [names.installationStatus]: {
    '': ['in-progress'],
    pending: ['in-progress'],
    'in-progress': ['in-progress', 'failed', 'completed'],
    failed: ['in-progress'],
    completed: [],
  },
  [names.operatorState]: {
    '': ['in-progress'],
    'in-progress': ['in-progress', 'succeeded', 'failed'],
    succeeded: ['in-progress'],
    failed: ['in-progress'],
  },
  [names.deploymentStatus]: {
    '': ['deploying'],
    deploying: ['deploying', 'deployed'],
    deployed: ['deploying'],
  },
};

/** Which field says what went wrong, and in which state it is there. */
const failures: Readonly<Record<string, readonly [state: string, field: string]>> = {
  [names.installationStatus]: ['failed', 'error'],
  [names.operatorState]: ['failed', 'errorMessage'],
};

/** What the installation makes once: whatever crashes, it never becomes another. */
const forEver = new Set<string>([
  names.passwords,
  names.sopsSecrets,
  names.gitCredentials,
  names.adminCredentials,
  'platform-ca',
]);

/** A write as whoever looks at the cluster sees it. */
export interface StoredWrite {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly object: KubeObject;
  readonly previous: KubeObject | undefined;
}

/** The three state machines, as far as they were seen. */
interface StateMachines {
  readonly seen: readonly string[];
  readonly look: (write: StoredWrite) => void;
  /** Throws when one of them made a step it does not have. */
  readonly verify: () => void;
}

/** How each of them has to end in the life of a platform. */
const ends = [
  `${names.installationStatus}: in-progress → completed`,
  `${names.operatorState}: in-progress → succeeded`,
  `${names.deploymentStatus}: deploying → deployed`,
];

/** Looks at every write of a whole life: the embedded server shows them as it stores them, the real one by a watch. */
export async function observeLife(cluster: TestCluster): Promise<{ verify(): void | Promise<void> }> {
  if (cluster.embedded) return watchStateMachines(cluster);
  const machines = stateMachines();
  const watched = await watchWrites(cluster, machines.look);
  return {
    async verify() {
      await watched.finish();
      machines.verify();
      const missing = ends.filter((end) => !machines.seen.includes(end));
      if (missing.length > 0) throw new Error(`the watch did not see ${missing.join(', ')}`);
    },
  };
}

export function watchStateMachines({ embedded }: TestCluster): StateMachines {
  const machines = stateMachines();
  embedded?.observe(({ type, object, previous }) =>
    machines.look({ type, object: object as KubeObject, previous: previous as KubeObject | undefined }),
  );
  return machines;
}

/**
 * The three state machines make only the steps they have, secrets, authority and keys never change once they are stored, and nothing
 * is applied before the installation is complete.
 */
function stateMachines(): StateMachines {
  const broken: string[] = [];
  const seen: string[] = [];
  let installed = false;
  const look = ({ type, object, previous }: StoredWrite): void => {
    const name = object.metadata.name ?? '';
    const [now, before] = [dataOf(object), dataOf(previous)];
    if (forEver.has(name) && (type === 'DELETED' || (previous && JSON.stringify(now) !== JSON.stringify(before))))
      broken.push(`${name} was ${type === 'DELETED' ? 'deleted' : 'changed'} after it had been stored`);
    const machine = machines[name];
    if (!machine || object.kind !== 'ConfigMap') return;
    const [from, to] = [before['status'] ?? '', now['status'] ?? ''];
    const text = `${name}: ${from || 'nothing'} → ${type === 'DELETED' ? 'deleted' : to}`;
    seen.push(text);
    // Somebody else may touch the object; a write that says the same is none of ours.
    if (previous && JSON.stringify(now) === JSON.stringify(before)) return;
    if (type === 'DELETED' || !machine[from]?.includes(to)) broken.push(text);
    const failure = failures[name];
    if (failure && (to === failure[0]) !== (now[failure[1]] !== undefined))
      broken.push(`${text}: ${failure[1]} is ${now[failure[1]] === undefined ? 'missing' : 'there'}`);
    if (name === names.installationStatus) installed = to === 'completed';
    if (name === names.operatorState) broken.push(...brokenApply(text, before, now, installed));
    if (name === names.deploymentStatus && to === 'deployed' && now['version'] !== now['deployingVersion'])
      broken.push(`${text}: version ${now['version']} is not ${now['deployingVersion']}`);
  };
  return {
    seen,
    look,
    verify() {
      if (broken.length > 0) throw new Error(`broken state machines:\n  ${broken.join('\n  ')}`);
    },
  };
}

/** An apply ends as the one that began. */
function brokenApply(text: string, before: Data, now: Data, installed: boolean): string[] {
  if (!installed) return [`${text}: applied before the installation was complete`];
  if (now['status'] === 'in-progress') return [];
  return ['commitHash', 'trigger']
    .filter((field) => before[field] !== now[field])
    .map((field) => `${text}: ${field} was ${before[field]} and is ${now[field]}`);
}

function dataOf(object: unknown): Data {
  return (object as { data?: Data } | undefined)?.data ?? {};
}
