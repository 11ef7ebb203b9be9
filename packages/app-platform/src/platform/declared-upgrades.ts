import { isNotFound, type ObjectKey } from '@slipway/kube';

import type { PlatformRoot } from '../values/platform-root.ts';
import { isTree, type Tree } from '../values/tree.ts';
import { ValuesError } from '../values/values-error.ts';
import type { Platform } from './platform.ts';
import type { RuntimeUpgrade, UpgradeOperation } from './runtime-upgrade.ts';

export const upgradesFile = 'runtime-upgrades.yaml';

/** What an operation does with its objects. */
const actions = ['patch', 'delete', 'restart'] as const;
type Action = (typeof actions)[number];

/** Put on the pods of what is restarted: the same upgrade, run again, restarts nothing. */
const upgradedTo = 'apl.io/upgraded-to';

/** An operation of a platform's file: what to do with one object, or with all that have certain labels. */
export interface DeclaredOperation {
  readonly action: Action;
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace?: string;
  readonly name?: string;
  readonly labelSelector?: string;
  /** Of a patch: what is merged into the object. */
  readonly body?: Tree;
}

/** The upgrades a platform brings in its file. */
export async function declaredUpgrades(root: PlatformRoot): Promise<RuntimeUpgrade[]> {
  return (await readUpgrades(root)).map(({ version, applications, ...moments }) => ({
    version,
    ...runnable(moments, version),
    applications: Object.fromEntries(
      Object.entries(applications).map(([name, ofApplication]) => [name, runnable(ofApplication, version)]),
    ),
  }));
}

/** Every operation in the file, whenever it runs. */
export async function declaredOperations(root: PlatformRoot): Promise<DeclaredOperation[]> {
  return (await readUpgrades(root)).flatMap(({ applications, ...moments }) =>
    [moments, ...Object.values(applications)].flatMap(({ pre, post }) => [...pre, ...post]),
  );
}

interface Moments {
  readonly pre: readonly DeclaredOperation[];
  readonly post: readonly DeclaredOperation[];
}

interface ReadUpgrade extends Moments {
  readonly version: string;
  readonly applications: Readonly<Record<string, Moments>>;
}

async function readUpgrades(root: PlatformRoot): Promise<ReadUpgrade[]> {
  const { upgrades = [] } = await root.optional(upgradesFile);
  return list(upgrades, 'upgrades').map((upgrade, index) => {
    const path = `upgrades.${index}`;
    const { version, applications = {}, ...moments } = map(upgrade, path);
    if (typeof version !== 'string') return refuse(`${path}.version`, 'must be a version in quotes');
    return {
      version,
      ...momentsOf(moments, path),
      applications: Object.fromEntries(
        Object.entries(map(applications, `${path}.applications`)).map(([name, ofApplication]) => {
          const below = `${path}.applications.${name}`;
          return [name, momentsOf(map(ofApplication, below), below)];
        }),
      ),
    };
  });
}

function momentsOf({ pre = [], post = [], ...rest }: Tree, path: string): Moments {
  for (const unknown of Object.keys(rest)) refuse(`${path}.${unknown}`, 'there is no such moment; pre and post are');
  const read = (moment: 'pre' | 'post', operations: unknown) =>
    list(operations, `${path}.${moment}`).map((each, index) => operationOf(each, `${path}.${moment}.${index}`));
  return { pre: read('pre', pre), post: read('post', post) };
}

function operationOf(given: unknown, path: string): DeclaredOperation {
  const [[action, target] = [], ...more] = Object.entries(map(given, path));
  const known = actions.find((each) => each === action);
  if (!known || more.length > 0) return refuse(path, `must be one of ${actions.join(', ')}`);
  const { body, ...place } = map(target, `${path}.${action}`);
  for (const [field, value] of Object.entries(place)) {
    if (!fields.has(field)) refuse(`${path}.${action}.${field}`, 'there is no such field');
    if (typeof value !== 'string') refuse(`${path}.${action}.${field}`, 'must be a text');
  }
  const { apiVersion, kind, name, labelSelector } = place;
  if (!apiVersion || !kind) refuse(`${path}.${action}`, 'needs apiVersion and kind');
  if (!name === !labelSelector) refuse(`${path}.${action}`, 'needs either a name or a labelSelector');
  if ((known === 'patch') !== isTree(body)) refuse(`${path}.${action}.body`, 'a patch has one, and nothing else does');
  return { ...place, action: known, ...(isTree(body) ? { body } : {}) } as DeclaredOperation;
}

const fields = new Set(['apiVersion', 'kind', 'namespace', 'name', 'labelSelector']);

/** A moment without operations is none: for one of an Application, its health would be waited for. */
function runnable({ pre, post }: Moments, version: string): { pre?: UpgradeOperation; post?: UpgradeOperation } {
  const inTurn =
    (operations: readonly DeclaredOperation[]): UpgradeOperation =>
    async (platform) => {
      for (const operation of operations) await run(platform, operation, version);
    };
  return {
    ...(pre.length > 0 ? { pre: inTurn(pre) } : {}),
    ...(post.length > 0 ? { post: inTurn(post) } : {}),
  };
}

/** What is not there needs no change. */
async function run({ client, signal }: Platform, operation: DeclaredOperation, version: string): Promise<void> {
  const kind = await client.resolve(operation.apiVersion, operation.kind, { signal });
  const { action, namespace, name, labelSelector } = operation;
  const keys: ObjectKey[] = [];
  if (name !== undefined) keys.push({ namespace, name });
  else {
    const where = { ...(namespace === undefined ? {} : { namespace }), labelSelector: labelSelector! };
    for await (const { metadata } of client.list(kind, { ...where, signal }))
      keys.push({ namespace: metadata.namespace, name: metadata.name! });
  }
  const body = action === 'restart' ? restart(version) : { ...operation.body };
  for (const key of keys) {
    try {
      if (action === 'delete') await client.delete(kind, key, { propagationPolicy: 'Background', signal });
      else await client.patch(kind, key, { type: 'merge', body }, { signal });
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }
}

function restart(version: string): Tree {
  return { spec: { template: { metadata: { annotations: { [upgradedTo]: version } } } } };
}

function list(value: unknown, path: string): readonly unknown[] {
  return Array.isArray(value) ? value : refuse(path, 'must be a list');
}

function map(value: unknown, path: string): Tree {
  return isTree(value) ? value : refuse(path, 'must be a map');
}

function refuse(path: string, message: string): never {
  throw new ValuesError('Malformed', `${upgradesFile} of the platform cannot be read`, [
    { file: upgradesFile, path, message },
  ]);
}
