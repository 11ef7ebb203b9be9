/** A schema of the OpenAPI of a server, as far as fields go. */
interface Schema {
  readonly $ref?: string;
  readonly allOf?: readonly Schema[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema;
  readonly 'x-kubernetes-group-version-kind'?: readonly { group: string; version: string; kind: string }[];
}

/** The document of one group and version. */
export interface OpenApiDocument {
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

interface KindName {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

/** It holds itself, which no comparison ends at. Definitions are written from schemas of ours, not field by field. */
const endless = /\.JSONSchemaProps$/;
/** Described, and sent by no server since 1.24. */
const unsent = new Set(['selfLink']);

/** The schemas of documents as TypeScript: what is neither object, list nor map is `Leaf`. */
export function servedTypes(documents: readonly OpenApiDocument[]): string {
  const schemas = new Map(documents.flatMap(({ components }) => Object.entries(components.schemas)));
  const types = [...schemas].map(
    ([name, schema]) => `export type ${typeName(name)} = ${endless.test(name) ? 'Leaf' : typeOf(schema)};`,
  );
  return ['export interface Leaf { leaf: true }', ...types].join('\n');
}

/** The type of a kind among those of {@link servedTypes}. */
export function servedType({ components }: OpenApiDocument, { group, version, kind }: KindName): string | undefined {
  const found = Object.entries(components.schemas).find(([, schema]) =>
    schema['x-kubernetes-group-version-kind']?.some(
      (each) => each.group === group && each.version === version && each.kind === kind,
    ),
  );
  return found && typeName(found[0]);
}

function typeOf(schema: Schema): string {
  const ref = schema.$ref ?? schema.allOf?.[0]?.$ref;
  if (ref !== undefined) return typeName(ref.slice(ref.lastIndexOf('/') + 1));
  if (schema.items) return `${typeOf(schema.items)}[]`;
  if (schema.properties) {
    const fields = Object.entries(schema.properties)
      .filter(([name]) => !unsent.has(name))
      .map(([name, field]) => `${JSON.stringify(name)}: ${typeOf(field)}`);
    return `{ ${fields.join('; ')} }`;
  }
  return schema.additionalProperties ? `Record<string, ${typeOf(schema.additionalProperties)}>` : 'Leaf';
}

function typeName(schema: string): string {
  return schema.replaceAll(/\W/g, '_');
}
