import { isDefined, type Kind } from '@slipway/kube';
import type { OperatorDescription } from '@slipway/runtime';

type Check = (value: unknown) => string | undefined;

const text: Check = (value) => (typeof value === 'string' && value !== '' ? undefined : 'must be a text');
const callable: Check = (value) => (typeof value === 'function' ? undefined : 'must be a function');

function listOf(each: Check): Check {
  return (value) => {
    if (!Array.isArray(value)) return 'must be a list';
    for (const [index, item] of value.entries()) {
      const problem = each(item);
      if (problem !== undefined) return `[${index}] ${problem}`;
    }
    return undefined;
  };
}

function having(...fields: readonly string[]): Check {
  return (value) => {
    if (typeof value !== 'object' || value === null) return 'must be an object';
    const missing = fields.find((field) => (value as Record<string, unknown>)[field] === undefined);
    return missing === undefined ? undefined : `has no ${missing}`;
  };
}

function optional(check: Check): Check {
  return (value) => (value === undefined ? undefined : check(value));
}

/** It becomes part of the names of objects and flags. */
const operatorName: Check = (value) =>
  typeof value === 'string' && /^[a-z]([-a-z0-9]{0,38}[a-z0-9])?$/.test(value)
    ? undefined
    : 'must have lower-case letters, digits and dashes, at most 40';

const kind: Check = (value) =>
  having('group', 'kind', 'plural')(value) ?? (isDefined(value as Kind) ? undefined : 'must come from defineKind');

const checks: Readonly<Partial<Record<keyof OperatorDescription, Check>>> = {
  name: operatorName,
  title: text,
  summary: text,
  kinds: listOf(kind),
  shows: optional(listOf(having('kind', 'namespace', 'stateOf'))),
  permissions: listOf(having('verbs')),
  permissionVariants: optional(listOf(having('name', 'permissions'))),
  permissionsUnder: optional(listOf(having('flag', 'value', 'permissions'))),
  webhooks: optional(listOf(having('type', 'path'))),
  policies: optional(listOf(having('apiVersion', 'kind', 'metadata'))),
  flags: optional(listOf(having('name', 'description', 'type'))),
  examples: listOf(having('name', 'manifest')),
  startExample: optional(callable),
  reasons: listOf(having('reason', 'kind', 'meaning')),
  obstacle: optional(callable),
  controllers: callable,
};

/** What keeps a value from being an OperatorDescription, by its first field that is wrong. */
export function descriptionProblem(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null) return `it is ${value === null ? 'null' : `a ${typeof value}`}`;
  for (const [field, check] of Object.entries(checks)) {
    const content = (value as Record<string, unknown>)[field];
    const problem = check(content);
    if (problem === undefined) continue;
    return content === undefined ? `it has no ${field}` : `${field}${problem.startsWith('[') ? '' : ' '}${problem}`;
  }
  return undefined;
}
