import type { Kind } from '../kind.ts';
import type { DeepReadonly } from '../object.ts';
import type * as builtin from './core-kinds.ts';

type Builtin = typeof builtin;

/** An object of any built-in kind this package has a type for. */
export type BuiltinObject = {
  [Name in keyof Builtin]: Builtin[Name] extends Kind<infer T> ? T : never;
}[keyof Builtin];

/** The type of a built-in kind by its names; `never` for others, and for names known only at run time. */
type BuiltinNamed<ApiVersion, Name> = string extends ApiVersion | Name
  ? never
  : Extract<BuiltinObject, { apiVersion: ApiVersion; kind: Name }>;

/**
 * What a literal has to be besides what it is, when its `apiVersion` and `kind` name a built-in kind: an object of that kind,
 * without fields the kind does not have. Asks nothing of others.
 */
export type Known<T, ApiVersion, Name> = { apiVersion: ApiVersion; kind: Name } & ([
  BuiltinNamed<ApiVersion, Name>,
] extends [never]
  ? unknown
  : DeepReadonly<BuiltinNamed<ApiVersion, Name>> & Named<T, BuiltinNamed<ApiVersion, Name>>);

/** The same for server-side apply, which may name any part of an object. */
export type KnownPart<T, ApiVersion, Name> = { apiVersion: ApiVersion; kind: Name } & ([
  BuiltinNamed<ApiVersion, Name>,
] extends [never]
  ? unknown
  : DeepPartial<BuiltinNamed<ApiVersion, Name>> & Named<T, BuiltinNamed<ApiVersion, Name>>);

/** An `UnknownField`, which nothing is assignable to, for each field of `T` that `Shape` does not name, all the way down. */
type Named<T, Shape> = T extends readonly (infer E)[]
  ? Shape extends readonly (infer S)[]
    ? readonly Named<E, S>[]
    : unknown
  : T extends object
    ? Shape extends object
      ? { [K in keyof T]: K extends keyof Shape ? Named<T[K], NonNullable<Shape[K]>> : UnknownField<K> }
      : unknown
    : unknown;

/** What the compiler prints for a field the kind does not have. `unchecked()` lets it through. */
interface UnknownField<Name> {
  [unknownField]: Name;
}
declare const unknownField: unique symbol;

type DeepPartial<T> = T extends readonly (infer E)[]
  ? readonly DeepPartial<E>[]
  : T extends object
    ? { readonly [K in keyof T]?: DeepPartial<T[K]> }
    : T;
