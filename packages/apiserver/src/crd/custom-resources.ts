import type { ApiObject, JsonObject } from '../object.ts';
import type { Conversion, Resource, Subresource } from '../resource.ts';
import type { Schema } from '../schema/schema.ts';
import { asList, asObject, asObjects, asText } from '../kinds/json-access.ts';
import { conversionOf, type ConvertObjects } from './conversion.ts';
import { customStrategy } from './custom-strategy.ts';
import { openApiDefinitions } from './openapi-definitions.ts';
import { printerOf } from './printer-columns.ts';
import { metadataRestrictions, rootSchema } from './root-schema.ts';

export interface CustomResourceOptions {
  /** Sends objects to a conversion webhook; needed only for CRDs that name one. */
  readonly convert?: ConvertObjects;
}

const verbs = ['delete', 'deletecollection', 'get', 'list', 'patch', 'create', 'update', 'watch'];
const subresourceVerbs = ['get', 'patch', 'update'];

/** One resource for each served version of a CRD. The storage version is among them only when it is served. */
export function resourcesOfCrd(crd: ApiObject, options: CustomResourceOptions = {}): Resource[] {
  const spec = asObject(crd['spec']) ?? {};
  const versions = asObjects(spec['versions']);
  const storageVersion = asText(versions.find((version) => version['storage'] === true)?.['name']);
  return versions
    .filter((version) => version['served'] === true)
    .map((version) => resourceOfVersion(crd, spec, version, storageVersion, options));
}

function resourceOfVersion(
  crd: ApiObject,
  spec: JsonObject,
  version: JsonObject,
  storageVersion: string,
  options: CustomResourceOptions,
): Resource {
  const group = asText(spec['group']);
  const name = asText(version['name']);
  const names = asObject(spec['names']) ?? {};
  const kind = asText(names['kind']);
  const plural = asText(names['plural']);
  const subresources = asObject(version['subresources']) ?? {};
  const scale = asObject(subresources['scale']);
  const printer = printerOf(version);
  const schema = lazy(() => rootSchema(version));
  const conversion: Conversion | undefined =
    name === storageVersion ? undefined : conversionOf(spec, group, name, storageVersion, options.convert);
  const scalePaths = scale && {
    specReplicasPath: asText(scale['specReplicasPath']),
    statusReplicasPath: asText(scale['statusReplicasPath']),
    ...(scale['labelSelectorPath'] ? { labelSelectorPath: asText(scale['labelSelectorPath']) } : {}),
  };
  const restrictions = metadataRestrictions(version);
  const deprecation = deprecationOf(version, group, name, kind);
  return {
    group,
    version: name,
    kind,
    listKind: asText(names['listKind']) || `${kind}List`,
    plural,
    singular: asText(names['singular']) || kind.toLowerCase(),
    namespaced: spec['scope'] !== 'Cluster',
    shortNames: asList(names['shortNames']).map(asText),
    categories: asList(names['categories']).map(asText),
    verbs,
    subresources: {
      ...(subresources['status'] ? { status: sub(group, name, kind) } : {}),
      ...(scale ? { scale: sub('autoscaling', 'v1', 'Scale') } : {}),
    },
    storageId: `${plural}.${group}`,
    storageVersion,
    get schema(): Schema {
      return schema();
    },
    custom: true,
    strategy: customStrategy({
      group,
      version: name,
      kind,
      schema,
      printer,
      ...(restrictions ? { metadataRestrictions: restrictions } : {}),
      statusSubresource: subresources['status'] !== undefined,
      ...(scalePaths ? { scale: scalePaths } : {}),
      selectableFields: asObjects(version['selectableFields']).map((field) => asText(field['jsonPath'])),
    }),
    columns: printer.columns,
    ...(conversion ? { conversion } : {}),
    ...(scalePaths ? { scale: scalePaths } : {}),
    openApiDefinitions: lazy(() => openApiDefinitions(crd, version)),
    ...(deprecation ? { deprecationWarning: deprecation } : {}),
  };
}

function sub(group: string, version: string, kind: string): Subresource {
  return { group, version, kind, verbs: subresourceVerbs };
}

function deprecationOf(version: JsonObject, group: string, name: string, kind: string): string | undefined {
  if (version['deprecated'] !== true) return undefined;
  return asText(version['deprecationWarning']) || `${group}/${name} ${kind} is deprecated`;
}

function lazy<T>(make: () => T): () => T {
  let made: { value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}
