import type { RequestAttributes } from './auth.ts';

/** `rbac.authorization.k8s.io/v1` PolicyRule. */
export interface PolicyRule {
  readonly verbs: readonly string[];
  readonly apiGroups?: readonly string[];
  readonly resources?: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly nonResourceURLs?: readonly string[];
}

/** What a rule is asked about. */
export type AccessAttributes = Pick<RequestAttributes, 'verb' | 'resource' | 'path'>;

export function ruleAllows(rule: PolicyRule, { verb, resource, path }: AccessAttributes): boolean {
  if (!rule.verbs.includes('*') && !rule.verbs.includes(verb)) {
    return false;
  }
  if (!resource) {
    return (rule.nonResourceURLs ?? []).some((pattern) => pathMatches(pattern, path));
  }
  const groups = rule.apiGroups ?? [];
  return (
    (groups.includes('*') || groups.includes(resource.group)) &&
    (rule.resources ?? []).some((pattern) => resourceMatches(pattern, resource.plural, resource.subresource)) &&
    (!rule.resourceNames?.length || rule.resourceNames.includes(resource.name))
  );
}

function resourceMatches(pattern: string, plural: string, subresource: string): boolean {
  const full = subresource ? `${plural}/${subresource}` : plural;
  return pattern === '*' || pattern === full || (subresource !== '' && pattern === `*/${subresource}`);
}

function pathMatches(pattern: string, path: string): boolean {
  return pattern === '*' || pattern === path || (pattern.endsWith('*') && path.startsWith(pattern.slice(0, -1)));
}

/** Rules for one verb on one thing each. */
function breakDown(rule: PolicyRule): PolicyRule[] {
  const single: PolicyRule[] = [];
  for (const verb of rule.verbs) {
    for (const apiGroup of rule.apiGroups ?? []) {
      for (const resource of rule.resources ?? []) {
        const base = { verbs: [verb], apiGroups: [apiGroup], resources: [resource] };
        const names = rule.resourceNames ?? [];
        single.push(...(names.length > 0 ? names.map((name) => ({ ...base, resourceNames: [name] })) : [base]));
      }
    }
    for (const url of rule.nonResourceURLs ?? []) {
      single.push({ verbs: [verb], nonResourceURLs: [url] });
    }
  }
  return single;
}

function includes(list: readonly string[] | undefined, value: string | undefined): boolean {
  return value === undefined || list?.includes('*') === true || list?.includes(value) === true;
}

function coversOne(owner: PolicyRule, wanted: PolicyRule): boolean {
  if (!includes(owner.verbs, wanted.verbs[0])) {
    return false;
  }
  const url = wanted.nonResourceURLs?.[0];
  if (url !== undefined) {
    return (owner.nonResourceURLs ?? []).some((pattern) => pathMatches(pattern, url));
  }
  const resource = wanted.resources![0]!;
  const slash = resource.indexOf('/');
  const hasResource =
    includes(owner.resources, resource) ||
    (slash >= 0 && owner.resources?.includes(`*${resource.slice(slash)}`) === true);
  const names = owner.resourceNames ?? [];
  return (
    includes(owner.apiGroups, wanted.apiGroups![0]) &&
    hasResource &&
    (names.length === 0 || (wanted.resourceNames !== undefined && names.includes(wanted.resourceNames[0]!)))
  );
}

/** What `wanted` allows and `held` does not. */
export function missingRules(held: readonly PolicyRule[], wanted: readonly PolicyRule[]): PolicyRule[] {
  return wanted.flatMap(breakDown).filter((rule) => !held.some((owner) => coversOne(owner, rule)));
}

/** Joins rules that differ in their verbs alone. */
export function compactRules(rules: readonly PolicyRule[]): PolicyRule[] {
  const byTarget = new Map<string, PolicyRule>();
  for (const rule of rules) {
    const { verbs, ...target } = rule;
    const key = JSON.stringify(target);
    const known = byTarget.get(key);
    byTarget.set(key, { ...target, verbs: [...new Set([...(known?.verbs ?? []), ...verbs])] });
  }
  return [...byTarget.values()];
}

/** A list of texts as Go prints it: `["get" "list"]`. */
export function goList(values: readonly string[]): string {
  return `[${values.map((value) => JSON.stringify(value)).join(' ')}]`;
}

/** `{APIGroups:[""], Resources:["pods"], Verbs:["get"]}` */
export function describeRule(rule: PolicyRule): string {
  const parts = [
    ['APIGroups', rule.apiGroups],
    ['Resources', rule.resources],
    ['NonResourceURLs', rule.nonResourceURLs],
    ['ResourceNames', rule.resourceNames],
    ['Verbs', rule.verbs],
  ] as const;
  const present = parts.filter(([, values]) => (values?.length ?? 0) > 0);
  return `{${present.map(([name, values]) => `${name}:${goList(values!)}`).join(', ')}}`;
}
