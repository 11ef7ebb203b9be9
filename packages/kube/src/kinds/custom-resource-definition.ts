import { mutable } from '../mutable.ts';
import type { CustomResourceDefinition, CustomResourceDefinitionVersion, JsonSchemaProps } from './cluster-types.ts';
import type { DefinedKind, PrinterColumn, VersionSchema } from './define-kind.ts';
import { toStructuralSchema } from './structural-schema.ts';

/** The CRD of a kind, ready to be applied. */
export function toCustomResourceDefinition(kind: DefinedKind): CustomResourceDefinition {
  const { definition } = kind;
  const { labels, annotations } = definition;
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: {
      name: `${kind.plural}.${kind.group}`,
      ...(labels ? { labels: { ...labels } } : {}),
      ...(annotations ? { annotations: { ...annotations } } : {}),
    },
    spec: {
      group: kind.group,
      scope: kind.scope,
      names: {
        kind: kind.kind,
        listKind: `${kind.kind}List`,
        plural: kind.plural,
        singular: definition.singular ?? kind.kind.toLowerCase(),
        ...(definition.shortNames?.length ? { shortNames: [...definition.shortNames] } : {}),
        ...(definition.categories?.length ? { categories: [...definition.categories] } : {}),
      },
      versions: [
        toVersion(kind, kind.version, definition, { served: true, storage: true }),
        ...(definition.versions ?? []).map((other) =>
          toVersion(kind, other.version, other, { served: other.served ?? true, storage: false }),
        ),
      ],
      ...(definition.conversion ? { conversion: definition.conversion } : {}),
    },
  };
}

const schemas = new WeakMap<DefinedKind, JsonSchemaProps>();

/** The structural schema of a kind's objects in the version the kind is in. */
export function schemaOf(kind: DefinedKind): JsonSchemaProps {
  let schema = schemas.get(kind);
  if (!schema) {
    schema = objectSchema(kind, kind.definition);
    schemas.set(kind, schema);
  }
  return schema;
}

function toVersion(
  kind: DefinedKind,
  name: string,
  version: VersionSchema,
  stage: { served: boolean; storage: boolean },
): CustomResourceDefinitionVersion {
  const schema = objectSchema(kind, version);
  const columns = printerColumns(kind, version, schema);
  const { scale, selectableFields, deprecated } = version;
  return {
    name,
    ...stage,
    ...(deprecated ? { deprecated: true } : {}),
    ...(typeof deprecated === 'string' ? { deprecationWarning: deprecated } : {}),
    schema: { openAPIV3Schema: schema },
    ...(version.status || scale
      ? { subresources: { ...(version.status ? { status: {} } : {}), ...(scale ? { scale: { ...scale } } : {}) } }
      : {}),
    ...(columns.length > 0 ? { additionalPrinterColumns: columns } : {}),
    ...(selectableFields?.length ? { selectableFields: selectableFields.map((jsonPath) => ({ jsonPath })) } : {}),
  };
}

function objectSchema(kind: DefinedKind, version: VersionSchema): JsonSchemaProps {
  const properties: Record<string, JsonSchemaProps> = {
    apiVersion: { type: 'string', description: 'The group and version this object is written in.' },
    kind: { type: 'string', description: `Always ${kind.kind}.` },
    metadata: { type: 'object' },
  };
  const parts = { ...version.fields, ...(version.spec ? { spec: version.spec } : {}) };
  for (const [name, schema] of Object.entries(parts)) properties[name] = toStructuralSchema(schema, name);
  if (version.status) properties['status'] = toStructuralSchema(version.status, 'status');
  const required = version.spec && !('~optional' in version.spec) && properties['spec']?.default === undefined;
  // Schemas are shared between kinds; whoever edits a CRD must not edit them.
  return mutable<JsonSchemaProps>({
    type: 'object',
    ...(version.description ? { description: version.description } : {}),
    properties,
    ...(required ? { required: ['spec'] } : {}),
    ...(version.rules?.length ? { 'x-kubernetes-validations': [...version.rules] } : {}),
  });
}

function printerColumns(kind: DefinedKind, version: VersionSchema, schema: JsonSchemaProps) {
  const columns = (version.columns ?? []).map((column) => {
    if (!column.path.startsWith('.'))
      throw new TypeError(
        `kind ${kind.kind}: column "${column.name}" has path "${column.path}", which must begin with "."`,
      );
    return {
      name: column.name,
      type: column.type ?? columnType(column, schema),
      ...(column.format ? { format: column.format } : {}),
      ...(column.description ? { description: column.description } : {}),
      ...(column.priority ? { priority: column.priority } : {}),
      jsonPath: column.path,
    };
  });
  const hasAge = columns.some((column) => column.name === 'Age');
  // A CRD with columns of its own loses the Age column every other kind shows.
  if (columns.length > 0 && !hasAge && version.ageColumn !== false)
    columns.push({ name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' });
  return columns;
}

function columnType({ path }: PrinterColumn, schema: JsonSchemaProps): string {
  if (/^\.metadata\.(creation|deletion)Timestamp$/.test(path)) return 'date';
  let current: JsonSchemaProps | undefined = schema;
  for (const [, name, index] of path.matchAll(/\.([A-Za-z0-9_-]+)|(\[[^\]]*\])/g))
    current = index === undefined ? current?.properties?.[name!] : current?.items;
  if (current?.format === 'date-time') return 'date';
  return current?.type && ['integer', 'number', 'boolean'].includes(current.type) ? current.type : 'string';
}
