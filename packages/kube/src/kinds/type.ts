import {
  Type as typebox,
  type TArray,
  type TArrayOptions,
  type TBoolean,
  type TInteger,
  type TNumber,
  type TNumberOptions,
  type TObject,
  type TObjectOptions,
  type TProperties,
  type TSchema,
  type TSchemaOptions,
  type TString,
  type TStringOptions,
} from 'typebox';

/** A schema whose default the server fills in: who makes an object need not give the field. */
export type Defaulted<S> = S & { '~default': true };

type WithDefault<S, Options> = Options extends { readonly default: unknown } ? Defaulted<S> : S;

interface Defaulting {
  readonly Array: <Items extends TSchema, const Options extends TArrayOptions>(
    items: Items,
    options?: Options,
  ) => WithDefault<TArray<Items>, Options>;
  readonly Boolean: <const Options extends TSchemaOptions>(options?: Options) => WithDefault<TBoolean, Options>;
  readonly Integer: <const Options extends TNumberOptions>(options?: Options) => WithDefault<TInteger, Options>;
  readonly Number: <const Options extends TNumberOptions>(options?: Options) => WithDefault<TNumber, Options>;
  readonly Object: <Properties extends TProperties, const Options extends TObjectOptions>(
    properties: Properties,
    options?: Options,
  ) => WithDefault<TObject<Properties>, Options>;
  readonly String: <const Options extends TStringOptions>(options?: Options) => WithDefault<TString, Options>;
}

/** TypeBox's `Type`; schemas made with a `default` carry it in their type, which `newObject` reads. */
export const Type = typebox as Omit<typeof typebox, keyof Defaulting> & Defaulting;
