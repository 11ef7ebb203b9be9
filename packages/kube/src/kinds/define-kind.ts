import type { Static, TSchema } from 'typebox';

import type { Kind } from '../kind.ts';
import type { ObjectMeta } from '../object.ts';
import type { CustomResourceDefinitionSpec, ValidationRule } from './cluster-types.ts';
import type { NewStatic } from './new-static.ts';

/** What a version of a custom resource looks like. */
export interface VersionSchema {
  /** Schema of `spec`. Without one the kind has no `spec`. */
  readonly spec?: TSchema;
  /** Schema of `status`; brings the status subresource. */
  readonly status?: TSchema;
  /** Other top-level fields, such as `data`. */
  readonly fields?: Readonly<Record<string, TSchema>>;
  /** CEL rules over the whole object. */
  readonly rules?: readonly ValidationRule[];
  /** Columns of `kubectl get`. */
  readonly columns?: readonly PrinterColumn[];
  /** Adds an `Age` column after `columns`, unless one of them is called so. Default true. */
  readonly ageColumn?: boolean;
  /** Fields that may stand in field selectors, as paths such as `.spec.host`. */
  readonly selectableFields?: readonly string[];
  /** `kubectl scale` and autoscalers. */
  readonly scale?: { specReplicasPath: string; statusReplicasPath: string; labelSelectorPath?: string };
  readonly description?: string;
  /** `true`, or the warning users of this version get. */
  readonly deprecated?: boolean | string;
}

export interface PrinterColumn {
  readonly name: string;
  /** JSON path such as `.status.phase` or `.status.conditions[?(@.type=="Ready")].status`. */
  readonly path: string;
  /** Default: from the schema, `string` when it does not say. */
  readonly type?: 'string' | 'integer' | 'number' | 'boolean' | 'date';
  readonly format?: string;
  readonly description?: string;
  /** 0 is always shown, anything above only with `-o wide`. Default 0. */
  readonly priority?: number;
}

/** A custom resource, in one value: its static type, its CRD and its validation come from here. */
export interface KindDefinition extends VersionSchema {
  readonly group: string;
  /** The version this code works with, which is also the stored one. */
  readonly version: string;
  readonly kind: string;
  readonly scope: 'Namespaced' | 'Cluster';
  /** Default: the lower-case English plural of `kind`. */
  readonly plural?: string;
  /** Default: `kind` in lower case. */
  readonly singular?: string;
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
  /** Other versions that are served (or, with `served: false`, were stored once). */
  readonly versions?: readonly (VersionSchema & { readonly version: string; readonly served?: boolean })[];
  /** How objects get from one version to another. Default: nothing but `apiVersion` changes. */
  readonly conversion?: CustomResourceDefinitionSpec['conversion'];
  /** Labels and annotations of the CRD itself. */
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
}

/** A kind that knows its schema. */
export interface DefinedKind<T extends DefinedObject = DefinedObject, New = { metadata: ObjectMeta }> extends Kind<T> {
  readonly definition: KindDefinition;
  /** Never present at run time; carries the type of what `newObject` asks for. */
  readonly __new?: New;
}

interface DefinedObject {
  apiVersion: string;
  kind: string;
  metadata: ObjectMeta;
  [field: string]: unknown;
}

type FieldsOf<D> = D extends { readonly fields: infer F extends Readonly<Record<string, TSchema>> }
  ? { [K in keyof F]?: Static<F[K]> }
  : unknown;
type SpecOf<D> = D extends { readonly spec: infer S extends TSchema }
  ? S extends { '~optional': true }
    ? { spec?: Static<S> }
    : { spec: Static<S> }
  : unknown;
type NewSpecOf<D> = D extends { readonly spec: infer S extends TSchema }
  ? S extends { '~optional': true }
    ? { spec?: NewStatic<S> }
    : { spec: NewStatic<S> }
  : unknown;
type StatusOf<D> = D extends { readonly status: infer S extends TSchema } ? { status?: Static<S> } : unknown;

/** The type of the objects a definition describes. */
export type ObjectFrom<D extends KindDefinition> = {
  apiVersion: `${D['group']}/${D['version']}`;
  kind: D['kind'];
  metadata: ObjectMeta;
} & SpecOf<D> &
  StatusOf<D> &
  FieldsOf<D>;

/** What has to be given for a new object of a definition: no field that has a default. */
export type NewFrom<D extends KindDefinition> = { metadata: ObjectMeta } & NewSpecOf<D> & StatusOf<D> & FieldsOf<D>;

/** An error in place of what is not a schema made with `Type`, at any depth of a definition. */
type Sound<D> = {
  [K in keyof D]: K extends 'spec' | 'status' ? SoundSchema<D[K]> : K extends 'fields' ? SoundProperties<D[K]> : D[K];
};
type SoundProperties<P> = { [K in keyof P]: SoundSchema<P[K]> };
type SoundSchema<S> = S extends { '~kind': 'Object'; properties: infer Properties }
  ? S & { properties: SoundProperties<Properties> }
  : S extends { '~kind': 'Array'; items: infer Items }
    ? S & { items: SoundSchema<Items> }
    : S extends { '~kind': string } | { '~unsafe': unknown }
      ? S
      : NotASchema;

/** What the compiler prints where something else than a schema was given. */
interface NotASchema {
  [notASchema]: never;
}
declare const notASchema: unique symbol;

/** Defines a custom resource. Fails at once when the names could not be those of a CRD. */
export function defineKind<const D extends KindDefinition>(
  definition: D & Sound<D>,
): DefinedKind<ObjectFrom<D>, NewFrom<D>> {
  const { group, version, kind, scope } = definition;
  checkNames(definition);
  return {
    group,
    version,
    kind,
    plural: definition.plural ?? pluralOf(kind),
    scope,
    apiVersion: `${group}/${version}`,
    definition,
  } as unknown as DefinedKind<ObjectFrom<D>, NewFrom<D>>;
}

export function isDefined(kind: Kind): kind is DefinedKind {
  return 'definition' in kind;
}

function checkNames({ group, version, kind, plural, versions = [] }: KindDefinition): void {
  const where = `kind ${kind}`;
  if (!/^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)+$/.test(group))
    throw new TypeError(`${where}: group "${group}" must be a domain name such as example.com`);
  if (!/^[A-Z][A-Za-z0-9]{0,62}$/.test(kind)) throw new TypeError(`${where}: kind must be one CamelCase word`);
  if (plural !== undefined && !/^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$/.test(plural))
    throw new TypeError(`${where}: plural "${plural}" must be lower case`);
  const names = [version, ...versions.map((other) => other.version)];
  for (const name of names)
    if (!/^v[1-9][0-9]*((alpha|beta)[1-9][0-9]*)?$/.test(name))
      throw new TypeError(`${where}: version "${name}" must look like v1, v1beta1 or v2alpha3`);
  if (new Set(names).size !== names.length) throw new TypeError(`${where}: a version is defined twice`);
}

/** Lower-case English plural, as CRDs name their resources: `Proxy` gives `proxies`, `Gateway` gives `gateways`. */
export function pluralOf(kind: string): string {
  const word = kind.toLowerCase();
  if (/(s|x|z|ch|sh)$/.test(word)) return `${word}es`;
  if (/[^aeiou]y$/.test(word)) return `${word.slice(0, -1)}ies`;
  return `${word}s`;
}
