import { type GoField, type GoPackage, type GoSource, named } from './go-source.ts';
import type { OpenApiNode, Recording } from './recording.ts';

const refPrefix = '#/components/schemas/';

/** What Go prints for an absent field; undefined when it prints nothing. */
function zeroOf(source: GoSource, from: GoPackage, field: GoField): unknown {
  if (field.omitZero) return undefined;
  const shape = source.shapeOf(from, field.goType);
  if (shape.is === 'struct') return {};
  const selfPrinting = shape.is === 'interface' || (shape.is === 'scalar' && isStructUnderneath(field.goType));
  if (field.omitEmpty && !selfPrinting) return undefined;
  // An omitempty struct that prints itself (Time, Quantity) is still printed: Go calls no struct empty.
  if (field.omitEmpty && !isStructUnderneath(field.goType)) return undefined;
  return shape.is === 'scalar' ? shape.zero : null;
}

/**
 * What OpenAPI does not say of a field: its zero value (`z`), whether it is a pointer (`p`), the name of its Go type (`t`), the
 * embedded structs it comes from (`i`).
 */
interface GoFacts {
  z?: unknown;
  p?: 1;
  t?: string;
  i?: string;
}

function goFacts(source: GoSource, from: GoPackage, field: GoField): GoFacts {
  const facts: GoFacts = {};
  if (field.via.length > 0 && field.via[0] !== 'TypeMeta') facts.i = field.via.join('.');
  const zero = zeroOf(source, from, field);
  if (zero !== undefined) facts.z = zero;
  const target = field.goType.replace(/^\*/, '');
  const shape = source.shapeOf(from, target);
  if (target !== field.goType && shape.is !== 'struct') facts.p = 1;
  const element = target.replace(/^(\[\]|map\[\w+\])+/, '');
  const elementShape = source.shapeOf(from, element);
  if (/^[A-Z]|\./.test(element) && elementShape.is !== 'struct' && !isStructUnderneath(element)) {
    const { path, name } = named(from, element);
    if (path.startsWith('k8s.io/')) facts.t = `${path.split('/').at(-1)}.${name}`;
  }
  return facts;
}

function isStructUnderneath(goType: string): boolean {
  return /(^|[./])(Time|MicroTime|Duration|Quantity|IntOrString|RawExtension|JSON)$/.test(goType);
}

/** Served nodes in compact form: no descriptions, plain references, Go's field order and zero values (`z`). */
export function compactDefinitions(recording: Recording, source: GoSource): Map<string, OpenApiNode> {
  const compact = new Map<string, OpenApiNode>();
  for (const [name, node] of recording.definitions) {
    const result = compactNode(node);
    const properties = result['properties'] as Record<string, OpenApiNode> | undefined;
    const struct = source.structOf(name);
    if (properties && struct) {
      const ordered: Record<string, OpenApiNode> = {};
      for (const field of struct.fields) {
        const property = properties[field.jsonName];
        if (!property) continue;
        ordered[field.jsonName] = { ...property, ...goFacts(source, struct.package, field) };
      }
      for (const [key, property] of Object.entries(properties)) ordered[key] ??= withSchemaZero(property);
      result['properties'] = ordered;
    } else if (properties) {
      for (const key of Object.keys(properties)) properties[key] = withSchemaZero(properties[key] ?? {});
    }
    compact.set(name, result);
  }
  return compact;
}

/** Without Go source the served default tells: a zero default marks a field that is always printed. */
function withSchemaZero(property: OpenApiNode): OpenApiNode {
  const value = property['default'];
  const zero = value === '' || value === 0 || value === false || (typeof value === 'object' && value !== null);
  return zero ? { ...property, z: value } : property;
}

function compactNode(node: OpenApiNode): OpenApiNode {
  const result: OpenApiNode = {};
  for (const [key, value] of Object.entries(node)) {
    if (key === 'description') continue;
    if (key === '$ref') result['$ref'] = String(value).slice(refPrefix.length);
    else if (key === 'allOf' && Array.isArray(value) && value.length === 1) {
      result['$ref'] = String((value[0] as OpenApiNode)['$ref']).slice(refPrefix.length);
    } else if (key === 'properties') {
      result[key] = Object.fromEntries(
        Object.entries(value as Record<string, OpenApiNode>).map(([name, child]) => [name, compactNode(child)]),
      );
    } else if ((key === 'items' || key === 'additionalProperties') && typeof value === 'object') {
      result[key] = compactNode(value as OpenApiNode);
    } else result[key] = value;
  }
  return result;
}

/** Description texts: definition → [own text, { property → text }]. */
export function descriptionsOf(recording: Recording): Map<string, [string, Record<string, string>]> {
  const result = new Map<string, [string, Record<string, string>]>();
  for (const [name, node] of recording.definitions) {
    const properties: Record<string, string> = {};
    for (const [key, child] of Object.entries((node['properties'] ?? {}) as Record<string, OpenApiNode>)) {
      if (typeof child['description'] === 'string') properties[key] = child['description'];
    }
    result.set(name, [String(node['description'] ?? ''), properties]);
  }
  return result;
}

/** `group/version/Kind` → definition. */
export function kindsOf(recording: Recording): Record<string, string> {
  const kinds: Record<string, string> = {};
  for (const [name, node] of recording.definitions) {
    const served = (node['x-kubernetes-group-version-kind'] ?? []) as {
      group: string;
      version: string;
      kind: string;
    }[];
    // Shared kinds such as DeleteOptions belong to every group; they are found by definition name instead.
    if (served.length > 1 && !served.every((one) => one.group === '' || one.kind === 'Status')) continue;
    for (const { group, version, kind } of served) kinds[`${group}/${version}/${kind}`] = name;
  }
  return kinds;
}

/** The definitions of each document that nothing else in it refers to; the rest follows from the references. */
export function documentRoots(recording: Recording): Record<string, string[]> {
  const roots: Record<string, string[]> = {};
  for (const [path, names] of recording.documents) {
    const referenced = new Set<string>();
    for (const name of names) collectReferences(recording.definitions.get(name), referenced, name);
    roots[path] = names.filter((name) => !referenced.has(name));
  }
  return roots;
}

function collectReferences(value: unknown, into: Set<string>, self: string): void {
  if (Array.isArray(value)) for (const item of value) collectReferences(item, into, self);
  else if (typeof value === 'object' && value !== null) {
    for (const [key, child] of Object.entries(value)) {
      if (key === '$ref' && typeof child === 'string') {
        const name = child.slice(refPrefix.length);
        if (name !== self) into.add(name);
      } else collectReferences(child, into, self);
    }
  }
}
