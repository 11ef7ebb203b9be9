interface Schema {
  readonly type?: string;
  readonly format?: string;
  readonly enum?: readonly string[];
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly pattern?: string;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema;
  readonly items?: Schema;
  readonly 'x-kubernetes-preserve-unknown-fields'?: boolean;
  readonly 'x-kubernetes-list-type'?: string;
}

/**
 * What a schema accepts, one line per field and without its prose: `spec.externalName` → `string ≤100`. Two schemas with the
 * same lines mean the same.
 */
export function shapeOf(schema: Schema): Record<string, string> {
  const lines: Record<string, string> = {};
  describe(schema, '', false, lines);
  return lines;
}

function describe(schema: Schema, path: string, required: boolean, lines: Record<string, string>): void {
  if (path !== '') lines[path] = textOf(schema) + (required ? ', required' : '');
  for (const [name, field] of Object.entries(schema.properties ?? {}))
    describe(field, path === '' ? name : `${path}.${name}`, schema.required?.includes(name) ?? false, lines);
  if (schema.items) describe(schema.items, `${path}[]`, false, lines);
  if (schema.additionalProperties) describe(schema.additionalProperties, `${path}.*`, false, lines);
}

function textOf(schema: Schema): string {
  return [
    schema.type ?? 'any',
    schema.format,
    schema.enum?.join('|'),
    schema.minLength === undefined ? undefined : `≥${schema.minLength}`,
    schema.maxLength === undefined ? undefined : `≤${schema.maxLength}`,
    schema.minimum === undefined ? undefined : `from ${schema.minimum}`,
    schema.pattern && `like ${schema.pattern}`,
    schema['x-kubernetes-list-type'],
    schema['x-kubernetes-preserve-unknown-fields'] ? 'open' : undefined,
  ]
    .filter((part) => part !== undefined)
    .join(' ');
}
