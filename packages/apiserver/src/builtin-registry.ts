import { conversionOf, storageOf } from './kinds/conversions.ts';
import { columnsOf, strategyOf } from './kinds/strategy-of.ts';
import { Registry } from './registry.ts';
import type { Resource } from './resource.ts';
import { builtinResources, type BuiltinResourceData } from './schema/builtin-resources.ts';
import { builtinSchema } from './schema/builtin.ts';
import type { Schema } from './schema/schema.ts';

/** A registry with all built-in kinds. Schemas and strategies are looked up when a kind is first used. */
export function builtinRegistry(): Registry {
  return new Registry(builtinResources().map(resourceOf));
}

const anything: Schema = { type: 'object', preserveUnknownFields: true };

function resourceOf(data: BuiltinResourceData): Resource {
  const { group, version, kind, plural } = data;
  let strategy: Resource['strategy'] | undefined;
  const conversion = conversionOf(group, version, kind);
  return {
    group,
    version,
    kind,
    plural,
    singular: data.singular,
    namespaced: data.namespaced,
    shortNames: data.shortNames,
    categories: data.categories,
    verbs: data.verbs,
    subresources: data.subresources,
    storageVersionHash: data.storageVersionHash,
    listKind: `${kind}List`,
    ...(storageOf(group, plural, version) ?? {
      storageId: group ? `${plural}.${group}` : plural,
      storageVersion: version,
    }),
    ...(conversion ? { conversion } : {}),
    custom: false,
    ...(group === '' && plural === 'endpoints'
      ? { deprecationWarning: 'v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice' }
      : {}),
    get columns() {
      return columnsOf(data);
    },
    get schema() {
      return builtinSchema(group, version, kind) ?? anything;
    },
    get strategy() {
      strategy ??= strategyOf(group, version, kind);
      return strategy;
    },
  };
}
