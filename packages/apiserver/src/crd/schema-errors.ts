import { cloneJson } from '../clone-json.ts';
import type { FieldError } from '../api-error.ts';
import { costLimit, costText, estimatedCost, totalCostLimit, unboundedItems } from '../cel/cost.ts';
import { ruleCompiler } from '../cel/late-cel.ts';
import { forbiddenField, invalidValue, notSupported, required } from '../kinds/field-errors.ts';
import { asList, asObject, asObjects, asText } from '../kinds/json-access.ts';
import type { Json, JsonObject } from '../object.ts';
import type { Schema } from '../schema/schema.ts';
import { applySchemaDefaults } from './defaulting.ts';
import { compileRules, hasRules, ruleSchema } from './rules.ts';
import { schemaOfCrd } from './schema-of-crd.ts';
import { structuralErrors } from './structural.ts';
import { schemaErrors } from './validate-object.ts';
import { listErrors } from './validate-lists.ts';
import { rootSchema } from './root-schema.ts';

const types = ['array', 'boolean', 'integer', 'number', 'object', 'string'];
const reasons = ['FieldValueDuplicate', 'FieldValueForbidden', 'FieldValueInvalid', 'FieldValueRequired'];
const unsupportedKeywords = ['id', 'additionalItems', 'patternProperties', 'definitions', 'dependencies', '$ref'];

/** What is wrong with the schema of a CRD version; `path` ends in `openAPIV3Schema`. */
export function openApiSchemaErrors(source: JsonObject, path: string): FieldError[] {
  const structural = structuralErrors(source, path);
  const defaults = structural.length > 0 ? [] : defaultErrors(source, schemaOfCrd(source), path, true);
  const found: FieldError[] = [];
  keywordErrors(source, path, { isRoot: true, inMetadata: '' }, found);
  const errors = [...structural, ...defaults, ...found];
  return errors.length > 0 ? errors : celErrors(source, path);
}

interface Place {
  readonly isRoot: boolean;
  /** Why defaults are forbidden here; empty when they are not. */
  readonly inMetadata: string;
}

function keywordErrors(schema: JsonObject, path: string, place: Place, errors: FieldError[]): void {
  const type = asText(schema['type']);
  if (type && !types.includes(type)) errors.push(notSupported(`${path}.type`, type, types));
  if (schema['default'] !== undefined && place.inMetadata) {
    errors.push(forbiddenField(`${path}.default`, `must not be set ${place.inMetadata}`));
  }
  for (const keyword of unsupportedKeywords) {
    if (schema[keyword] !== undefined) errors.push(forbiddenField(`${path}.${keyword}`, `${keyword} is not supported`));
  }
  if (schema['uniqueItems'] === true) {
    errors.push(
      forbiddenField(
        `${path}.uniqueItems`,
        'uniqueItems cannot be set to true since the runtime complexity becomes quadratic',
      ),
    );
  }
  const properties = asObject(schema['properties']) ?? {};
  const additional = schema['additionalProperties'];
  if (additional !== undefined && additional !== true && Object.keys(properties).length > 0) {
    errors.push(
      forbiddenField(`${path}.additionalProperties`, 'additionalProperties and properties are mutual exclusive'),
    );
  }
  const inside: Place = { ...place, isRoot: false };
  if (asObject(additional)) keywordErrors(asObject(additional)!, `${path}.additionalProperties`, inside, errors);
  for (const [name, property] of Object.entries(properties)) {
    const isHead = place.isRoot && ['metadata', 'kind', 'apiVersion'].includes(name);
    keywordErrors(
      asObject(property) ?? {},
      `${path}.properties[${name}]`,
      isHead ? { isRoot: false, inMetadata: `in top-level ${name}` } : inside,
      errors,
    );
  }
  const not = asObject(schema['not']);
  if (not) keywordErrors(not, `${path}.not`, inside, errors);
  for (const keyword of ['allOf', 'oneOf', 'anyOf']) {
    for (const [index, nested] of asObjects(schema[keyword]).entries()) {
      keywordErrors(nested, `${path}.${keyword}[${index}]`, inside, errors);
    }
  }
  if (asObject(schema['items'])) keywordErrors(asObject(schema['items'])!, `${path}.items`, inside, errors);
  if (schema['x-kubernetes-preserve-unknown-fields'] === false) {
    errors.push(invalidValue(`${path}.x-kubernetes-preserve-unknown-fields`, false, 'must be true or undefined'));
  }
  errors.push(...collectionErrors(schema, type, path), ...ruleShapeErrors(schema, path));
}

function collectionErrors(schema: JsonObject, type: string, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const wrongType = (wanted: string, extension: string): void => {
    const text = `must be ${wanted} if ${extension} is specified`;
    errors.push(type ? invalidValue(`${path}.type`, type, text) : required(`${path}.type`, text));
  };
  const mapType = schema['x-kubernetes-map-type'];
  if (mapType !== undefined && type !== 'object') wrongType('object', 'x-kubernetes-map-type');
  if (mapType !== undefined && mapType !== 'atomic' && mapType !== 'granular') {
    errors.push(notSupported(`${path}.x-kubernetes-map-type`, mapType, ['atomic', 'granular']));
  }
  const listType = schema['x-kubernetes-list-type'];
  const items = asObject(schema['items']);
  const keys = asList(schema['x-kubernetes-list-map-keys']).map(asText);
  if (listType !== undefined && type !== 'array') wrongType('array', 'x-kubernetes-list-type');
  else if (listType === 'set' && items) {
    const text = 'must be atomic as item of a list with x-kubernetes-list-type=set';
    const itemList = items['x-kubernetes-list-type'];
    if (items['type'] === 'array' && itemList !== undefined && itemList !== 'atomic') {
      errors.push(invalidValue(`${path}.items.x-kubernetes-list-type`, itemList, text));
    }
    if (items['type'] === 'object' && items['x-kubernetes-map-type'] !== 'atomic') {
      errors.push(invalidValue(`${path}.items.x-kubernetes-map-type`, itemList ?? null, text));
    }
  }
  if (listType !== undefined && !['atomic', 'set', 'map'].includes(asText(listType))) {
    errors.push(notSupported(`${path}.x-kubernetes-list-type`, listType, ['atomic', 'set', 'map']));
  }
  if (keys.length > 0 && listType !== 'map') {
    const text = 'must be map if x-kubernetes-list-map-keys is non-empty';
    const at = `${path}.x-kubernetes-list-type`;
    errors.push(listType === undefined ? required(at, text) : invalidValue(at, listType, text));
  }
  if (listType === 'map') errors.push(...mapListErrors(schema, items, keys, path));
  if ((listType === 'set' || listType === 'map') && items?.['nullable'] === true) {
    errors.push(
      forbiddenField(`${path}.items.nullable`, `cannot be nullable when x-kubernetes-list-type is ${asText(listType)}`),
    );
  }
  return errors;
}

function mapListErrors(
  schema: JsonObject,
  items: JsonObject | undefined,
  keys: readonly string[],
  path: string,
): FieldError[] {
  const errors: FieldError[] = [];
  if (keys.length === 0) {
    errors.push(required(`${path}.x-kubernetes-list-map-keys`, 'must not be empty if x-kubernetes-list-type is map'));
  }
  if (!items) return [...errors, required(`${path}.items`, 'must have a schema if x-kubernetes-list-type is map')];
  if (items['type'] !== 'object') {
    return [
      ...errors,
      invalidValue(
        `${path}.items.type`,
        asText(items['type']),
        "must be object if parent array's x-kubernetes-list-type is map",
      ),
    ];
  }
  const seen = new Set<string>();
  const requiredKeys = new Set(asList(items['required']).map(asText));
  for (const key of keys) {
    const property = asObject(asObject(items['properties'])?.[key]);
    const listed = schema['x-kubernetes-list-map-keys'];
    if (!property) {
      errors.push(
        invalidValue(`${path}.x-kubernetes-list-map-keys`, listed, 'entries must all be names of item properties'),
      );
    } else {
      const at = `${path}.items.properties[${key}]`;
      if (property['type'] === 'array' || property['type'] === 'object') {
        errors.push(
          invalidValue(
            `${at}.type`,
            items['type'],
            "must be a scalar type if parent array's x-kubernetes-list-type is map",
          ),
        );
      }
      if (!requiredKeys.has(key) && property['default'] === undefined) {
        errors.push(
          required(
            `${at}.default`,
            'this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property',
          ),
        );
      }
      if (property['nullable'] === true) {
        errors.push(
          forbiddenField(`${at}.nullable`, 'this property is in x-kubernetes-list-map-keys, so it cannot be nullable'),
        );
      }
    }
    if (seen.has(key)) {
      errors.push(invalidValue(`${path}.x-kubernetes-list-map-keys`, listed, 'must not contain duplicate entries'));
    }
    seen.add(key);
  }
  return errors;
}

function ruleShapeErrors(schema: JsonObject, path: string): FieldError[] {
  return asObjects(schema['x-kubernetes-validations']).flatMap((rule, index) => {
    const at = `${path}.x-kubernetes-validations[${index}]`;
    const errors: FieldError[] = [];
    const text = asText(rule['rule']).trim();
    const message = asText(rule['message']);
    const hasBreak = (value: string): boolean => /[\n\r]/.test(value);
    if (!text) errors.push(required(`${at}.rule`, 'rule is not specified'));
    else if (message && !message.trim()) {
      errors.push(invalidValue(`${at}.message`, message, 'must be non-empty if specified'));
    } else if (hasBreak(message.trim()))
      errors.push(invalidValue(`${at}.message`, message, 'must not contain line breaks'));
    else if (hasBreak(text) && !message.trim()) {
      errors.push(required(`${at}.message`, 'message must be specified if rule contains line breaks'));
    }
    const expression = asText(rule['messageExpression']);
    if (expression && !expression.trim()) {
      errors.push(required(`${at}.messageExpression`, 'messageExpression must be non-empty if specified'));
    }
    if (rule['reason'] != null && !reasons.includes(asText(rule['reason']))) {
      errors.push(notSupported(`${at}.reason`, rule['reason'], reasons));
    }
    const fieldPath = asText(rule['fieldPath']);
    if (fieldPath && !pathExists(schema, fieldPath)) {
      errors.push(invalidValue(`${at}.fieldPath`, fieldPath, 'must be a valid path'));
    }
    return errors;
  });
}

/** Whether `.a.b` or `['a']` leads to a declared field. */
export function schemaAtPath(schema: JsonObject, path: string): JsonObject | undefined {
  const parts = [...path.matchAll(/\.([A-Za-z_][\w-]*)|\['([^']+)'\]/g)];
  if (parts.length === 0 || parts.map((part) => part[0]).join('') !== path) return undefined;
  let current: JsonObject | undefined = schema;
  for (const part of parts) {
    const name: string = part[1] ?? part[2]!;
    current = asObject(asObject(current?.['properties'])?.[name]) ?? asObject(current?.['additionalProperties']);
  }
  return current;
}

function pathExists(schema: JsonObject, path: string): boolean {
  return schemaAtPath(schema, path.trim()) !== undefined;
}

function defaultErrors(source: JsonObject, schema: Schema, path: string, isRoot = false): FieldError[] {
  const errors: FieldError[] = [];
  const value = source['default'];
  if (value !== undefined && !isRoot) {
    const complete = cloneJson(value);
    const holder = { metadata: {}, value: complete } as { metadata: object; value: Json };
    applySchemaDefaults(holder as never, { type: 'object', properties: { value: schema } });
    const problems = [...schemaErrors(holder.value, schema), ...listErrors(holder.value, schema)];
    for (const problem of problems) {
      const inner = problem.field === '<nil>' ? '' : problem.field;
      errors.push({
        ...problem,
        field: `${path}.default${inner ? (inner.startsWith('[') ? inner : `.${inner}`) : ''}`,
      });
    }
    const unknown = unknownMember(value, schema);
    if (unknown !== undefined) errors.push(invalidValue(`${path}.default`, value, 'must not have unknown fields'));
  }
  for (const [name, property] of Object.entries(asObject(source['properties']) ?? {})) {
    const child = schema.properties?.[name];
    if (child) errors.push(...defaultErrors(asObject(property) ?? {}, child, `${path}.properties[${name}]`));
  }
  const items = asObject(source['items']);
  if (items && schema.items) errors.push(...defaultErrors(items, schema.items, `${path}.items`));
  const additional = asObject(source['additionalProperties']);
  if (additional && typeof schema.additionalProperties === 'object') {
    errors.push(...defaultErrors(additional, schema.additionalProperties, `${path}.additionalProperties`));
  }
  return errors;
}

function unknownMember(value: Json, schema: Schema): string | undefined {
  if (Array.isArray(value)) {
    for (const item of value) {
      const found = schema.items ? unknownMember(item, schema.items) : undefined;
      if (found !== undefined) return found;
    }
    return undefined;
  }
  const object = asObject(value);
  if (!object || schema.preserveUnknownFields || schema.embeddedResource) return undefined;
  for (const [name, member] of Object.entries(object)) {
    const own = schema.properties && Object.hasOwn(schema.properties, name) ? schema.properties[name] : undefined;
    const declared = own ?? (typeof schema.additionalProperties === 'object' ? schema.additionalProperties : undefined);
    if (!declared) {
      if (schema.additionalProperties === true) continue;
      return name;
    }
    const found = unknownMember(member, declared);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Compiles every rule against its schema and refuses those that could become too expensive. */
function celErrors(source: JsonObject, path: string): FieldError[] {
  const root = ruleSchema(rootSchema({ schema: { openAPIV3Schema: source } }));
  if (!hasRules(root)) return [];
  const compiler = ruleCompiler([root]);
  const errors: FieldError[] = [];
  const costs: RuleCost[] = [];
  /** `most`: how many such values an object can hold; `undefined` where no list above says. */
  const visit = (
    node: JsonObject,
    schema: Schema,
    at: string,
    most: number | undefined,
    uncorrelated: string,
  ): void => {
    const cardinality = most ?? unboundedItems(schema);
    const sources = asObjects(node['x-kubernetes-validations']);
    for (const [index, { rule, compiled, message }] of compileRules(schema, compiler).rules.entries()) {
      const place = `${at}.x-kubernetes-validations[${index}]`;
      const cost = compiled.ast ? estimatedCost(compiled.ast, { self: schema, oldSelf: schema }) * cardinality : 0;
      if (cost > costLimit)
        errors.push(forbiddenField(`${place}.rule`, costText('estimated rule cost', cost, costLimit)));
      costs.push({ field: `${place}.rule`, cost });
      if (compiled.error) errors.push(invalidValue(`${place}.rule`, printedRule(sources[index]!), compiled.error));
      if (message?.error) {
        errors.push(
          invalidValue(
            `${place}.messageExpression`,
            printedRule(sources[index]!),
            message.error.replace('compilation failed', 'messageExpression compilation failed'),
          ),
        );
      }
      if (compiled.error) continue;
      if (compiled.uses.has('oldSelf')) {
        if (uncorrelated) {
          errors.push(
            invalidValue(
              `${place}.rule`,
              rule.rule,
              `oldSelf cannot be used on the uncorrelatable portion of the schema within ${uncorrelated}`,
            ),
          );
        }
      } else if (rule.optionalOldSelf !== undefined) {
        errors.push(
          invalidValue(
            `${place}.optionalOldSelf`,
            rule.optionalOldSelf,
            'may not be set if oldSelf is not used in rule',
          ),
        );
      }
    }
    for (const [name, property] of Object.entries(asObject(node['properties']) ?? {})) {
      const child = schema.properties?.[name];
      if (!child) continue;
      visit(
        asObject(property) ?? {},
        child,
        `${at}.properties[${name}]`,
        most,
        uncorrelated || (schema.mapType === 'atomic' ? at : ''),
      );
    }
    const items = asObject(node['items']);
    if (items && schema.items) {
      visit(
        items,
        schema.items,
        `${at}.items`,
        times(most, schema.maxItems),
        uncorrelated || (schema.listType === 'map' ? '' : at),
      );
    }
    const additional = asObject(node['additionalProperties']);
    if (additional && typeof schema.additionalProperties === 'object') {
      const count = times(most, schema.maxProperties);
      visit(additional, schema.additionalProperties, `${at}.additionalProperties`, count, uncorrelated);
    }
  };
  visit(source, root, path, 1, '');
  return [...errors, ...totalCostErrors(costs, path)];
}

function times(most: number | undefined, count: number | undefined): number | undefined {
  return most === undefined || count === undefined ? undefined : most * count;
}

interface RuleCost {
  readonly field: string;
  readonly cost: number;
}

/** All rules of a schema together have a budget too; the most expensive ones are named. */
function totalCostErrors(costs: readonly RuleCost[], path: string): FieldError[] {
  const total = costs.reduce((sum, { cost }) => sum + cost, 0);
  if (total <= totalCostLimit) return [];
  const named = costs.toSorted((a, b) => b.cost - a.cost).slice(0, 4);
  return [
    ...named.map(({ field }) =>
      forbiddenField(
        field,
        'contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema',
      ),
    ),
    forbiddenField(
      path,
      costText('x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema', total, totalCostLimit),
    ),
  ];
}

/** A rule as Go prints its structure. */
function printedRule(rule: JsonObject): JsonObject {
  return {
    Rule: asText(rule['rule']),
    Message: asText(rule['message']),
    MessageExpression: asText(rule['messageExpression']),
    Reason: rule['reason'] ?? null,
    FieldPath: asText(rule['fieldPath']),
    OptionalOldSelf: rule['optionalOldSelf'] ?? null,
  };
}
