import type { Kind, ObjectOf } from '../kind.ts';
import type { KubeObject } from '../object.ts';
import { applyDefaults } from './defaults.ts';
import { isDefined } from './define-kind.ts';

type Named<T> = { [K in keyof T as string extends K ? never : K]: T[K] };

/** The fields of an object besides `apiVersion` and `kind`; of a kind of ours without those that have defaults. */
export type NewObjectFields<K extends Kind> = '__new' extends keyof K
  ? K extends { readonly __new?: infer New }
    ? NonNullable<New>
    : never
  : Omit<Named<ObjectOf<K>>, 'apiVersion' | 'kind'>;

/**
 * An object of a kind, with `apiVersion` and `kind` filled in, and the defaults of its schema as the server fills them in:
 * `newObject(ConfigMap, { metadata: { name: 'a', namespace: 'b' } })`.
 */
export function newObject<K extends Kind>(kind: K, fields: NewObjectFields<K>): ObjectOf<K> {
  const object = { apiVersion: kind.apiVersion, kind: kind.kind, ...fields } as unknown as KubeObject;
  return (isDefined(kind) ? applyDefaults(kind, object) : object) as ObjectOf<K>;
}
