import {
  CommandError,
  exitCodes,
  isForbidden,
  isNotFound,
  isUnknownKind,
  type Client,
  type DeepReadonly,
  type DefinedKind,
  type Kind,
  type KubeObject,
} from '@slipway/kube';
import { groupOf, resourceName } from '@slipway/manifests';
import type { OperatorDescription, ShownObjects } from '@slipway/runtime';

import { definitionName } from './installed-set.ts';
import { summarise, summariseShown, type ManagedObject } from './managed-object.ts';
import type { PackageFlag } from './slipway-command.ts';

/** Objects of a kind that somebody asks for. */
export interface Sought {
  readonly operator: OperatorDescription;
  readonly kind: Kind;
  /** Absent: all of the kind. */
  readonly name?: string;
  /** Absent: wherever the command looks. */
  readonly namespace?: string;
  /** It was asked for by kind or name: that the cluster does not have it is an error. */
  readonly expected: boolean;
  /** How to read objects whose kind the operator does not define. */
  readonly shown?: ShownObjects;
}

/** What words such as `operand`, `operands` and `operands/hello` ask for; without any it is everything. An operator's name comes first. */
export function soughtByWords(operators: readonly OperatorDescription[], words: readonly string[]): Sought[] {
  const all = operators.flatMap(soughtOf);
  if (words.length === 0) return all;
  return words.flatMap((word) => {
    const [called, name, ...rest] = word.split('/');
    const ofOperator = name === undefined ? all.filter(({ operator }) => operator.name === called) : [];
    if (ofOperator.length > 0) return ofOperator;
    const [found] = all.filter(({ kind, name: only }) => !only && namesOf(kind).includes(called!.toLowerCase()));
    if (found === undefined || name === '' || rest.length > 0) throw unknownWord(operators, word);
    return [{ ...found, expected: true, ...(name === undefined ? {} : { name }) }];
  });
}

function soughtOf(operator: OperatorDescription): Sought[] {
  const own = operator.kinds.map((kind) => ({ operator, kind, expected: false }));
  const others = (operator.shows ?? []).map((shown) => {
    const { kind, namespace, name } = shown;
    return { operator, kind, namespace, expected: false, shown, ...(name === undefined ? {} : { name }) };
  });
  return [...own, ...others];
}

/** The objects of the operators among those of some files. */
export function soughtInFiles(operators: readonly OperatorDescription[], objects: readonly KubeObject[]): Sought[] {
  const sought = objects.flatMap(({ apiVersion, kind: word, metadata }) => {
    for (const operator of operators) {
      const kind = operator.kinds.find((each) => each.kind === word && each.group === groupOf(apiVersion));
      const { name = '', namespace } = metadata;
      if (kind) return [{ operator, kind, name, expected: true, ...(namespace === undefined ? {} : { namespace }) }];
    }
    return [];
  });
  if (sought.length > 0) return sought;
  throw new CommandError('the files hold no object of an operator', {
    hint: `they manage ${operators.flatMap(({ kinds }) => kinds.map(({ kind }) => kind)).join(', ')}`,
    exitCode: exitCodes.usage,
  });
}

/** Every word kubectl takes for a kind. */
export function namesOf({ kind, plural, group, version, definition }: Kind & Partial<DefinedKind>): string[] {
  const singular = definition?.singular ?? kind.toLowerCase();
  const names = [plural, singular, ...(definition?.shortNames ?? [])];
  return names.flatMap((name) => [name, `${name}.${group}`, `${name}.${version}.${group}`]);
}

function unknownWord(operators: readonly OperatorDescription[], word: string): CommandError {
  const kinds = operators.flatMap((operator) => operator.kinds.map((kind) => kind.plural));
  return new CommandError(`there is no operator, kind or KIND/NAME '${word}'`, {
    hint: `operators: ${operators.map(({ name }) => name).join(', ')}; kinds: ${kinds.join(', ')}; --operator PACKAGE adds one of your own`,
    exitCode: exitCodes.usage,
  });
}

/** Where to look. */
export interface Where {
  /** Absent: in all namespaces. */
  readonly namespace?: string;
  readonly labelSelector?: string;
  /** For what to try next. Default: all operators are ours. */
  readonly packageFlag?: PackageFlag;
  readonly signal: AbortSignal;
}

export interface Found {
  readonly objects: readonly ManagedObject[];
  /** Whose kind is not installed. */
  readonly missing: readonly Sought[];
  /** What an operator shows, but not to everybody. */
  readonly denied: readonly Sought[];
}

/** The objects that were asked for. */
export async function readSought(client: Client, sought: readonly Sought[], where: Where): Promise<Found> {
  const objects: ManagedObject[] = [];
  const missing: Sought[] = [];
  const denied: Sought[] = [];
  for (const each of sought) {
    try {
      for (const object of await readKind(client, each, where)) objects.push(...rowsOf(each, object));
    } catch (error) {
      // Whoever looks at their own objects need not have rights where an operator keeps its state.
      if (each.shown && !each.expected && isForbidden(error)) denied.push(each);
      else if (!isNotFound(error) && !isUnknownKind(error)) throw error;
      else if (each.expected) throw notInstalled(each, where);
      else missing.push(each);
    }
  }
  return { objects, missing, denied };
}

/** How an object that was asked for is shown: in one row, or not at all while it tells nothing. */
export function rowsOf({ operator, kind, shown }: Sought, object: DeepReadonly<KubeObject>): ManagedObject[] {
  if (!shown) return [summarise(operator.name, kind.kind, object)];
  const state = shown.stateOf(object);
  return state ? [summariseShown(operator.name, kind.kind, object, state)] : [];
}

/** The namespace objects are sought in; in all of them when there is none. */
export function namespaceOf({ kind, namespace }: Sought, where: Where): string | undefined {
  return kind.scope === 'Namespaced' ? (namespace ?? where.namespace) : undefined;
}

async function readKind(client: Client, sought: Sought, where: Where): Promise<readonly KubeObject[]> {
  const { kind } = sought;
  const { labelSelector, signal } = where;
  const namespace = namespaceOf(sought, where);
  const within = namespace === undefined ? {} : { namespace };
  if (sought.name === undefined) {
    const objects: KubeObject[] = [];
    const selector = labelSelector === undefined ? {} : { labelSelector };
    for await (const object of client.list(kind, { ...within, ...selector, signal })) objects.push(object);
    return objects;
  }
  const object = await client.get(kind, { name: sought.name, ...within }, { signal });
  if (object) return [object];
  if (!sought.expected) return [];
  const place = namespace === undefined ? '' : ` in namespace ${namespace}`;
  throw new CommandError(`there is no ${resourceName({ ...kind, name: sought.name })}${place}`, {
    hint: `slipway status ${kind.plural}${kind.scope === 'Namespaced' ? ' -A' : ''}${flagFor(sought, where)} lists those there are`,
  });
}

function notInstalled(sought: Sought, where: Where): CommandError {
  return new CommandError(`the cluster does not know ${definitionName(sought.kind)}`, {
    hint: `slipway install ${sought.operator.name}${flagFor(sought, where)} puts it there`,
    exitCode: exitCodes.notInstalled,
  });
}

function flagFor({ operator }: Sought, { packageFlag }: Where): string {
  return packageFlag?.(operator) ?? '';
}
