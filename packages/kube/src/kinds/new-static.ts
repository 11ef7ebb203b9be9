import type { Static, TArray, TObject, TSchema } from 'typebox';

/** What somebody who makes a value has to give: the static type, without what has a default. */
export type NewStatic<S extends TSchema> =
  S extends TObject<infer Properties>
    ? NewObject<Properties>
    : S extends TArray<infer Items>
      ? NewStatic<Items>[]
      : Static<S>;

type NewObject<P> = Flat<
  { -readonly [K in keyof P as Omissible<P[K]> extends true ? never : K]: Given<P[K]> } & {
    -readonly [K in keyof P as Omissible<P[K]> extends true ? K : never]?: Given<P[K]>;
  }
>;

type Given<S> = S extends TSchema ? NewStatic<S> : never;
type Omissible<S> = S extends { '~optional': true } | { '~default': true } ? true : false;
type Flat<T> = { [K in keyof T]: T[K] };
