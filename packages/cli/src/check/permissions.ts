import { firstOfMany, type AccessQuery, type PolicyRule } from '@slipway/kube';
import { inParallel } from '@slipway/manifests';
import type { OperatorDescription } from '@slipway/runtime';

import { managerRules } from '../permissions.ts';
import type { CheckRun, Finding } from './finding.ts';

/** Questions at a time. */
const atATime = 16;
/** So many missing rights are named; `slipway rbac` prints them all. */
const named = 5;

/** What the present user may do of what each operator needs, and of what installing it needs. */
export async function checkPermissions({ client, operators, packageFlag, signal }: CheckRun): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const operator of operators) {
    const queries = accessQueries(neededRules(operator));
    const answers = await inParallel(queries, atATime, async (query) => ({
      query,
      allowed: (await client.canI(query, { signal })).allowed,
    }));
    const denied = answers.filter(({ allowed }) => !allowed).map(({ query }) => queryText(query));
    const printing = `slipway rbac ${operator.name}${packageFlag(operator)}`;
    findings.push(permissionFinding(operator.name, queries.length, denied, printing));
  }
  return findings;
}

function permissionFinding(name: string, asked: number, denied: readonly string[], printing: string): Finding {
  const subject = `permissions of ${name}`;
  if (denied.length === 0) return { verdict: 'ok', subject, message: `you have all ${asked}` };
  return {
    verdict: 'problem',
    subject,
    message: `you may not ${firstOfMany(denied, { shown: named, separator: ', ' })}`,
    next: `ask for what \`${printing}\` prints, or use another --context`,
  };
}

function neededRules(operator: OperatorDescription): PolicyRule[] {
  const manager = managerRules(operator);
  return [
    ...operator.permissions,
    ...manager.cluster,
    ...manager.namespace,
    {
      apiGroups: ['apiextensions.k8s.io'],
      resources: ['customresourcedefinitions'],
      verbs: ['get', 'create', 'patch'],
    },
  ];
}

/** One question for each right, none twice. */
function accessQueries(rules: readonly PolicyRule[]): AccessQuery[] {
  const queries = new Map<string, AccessQuery>();
  for (const rule of rules) {
    for (const verb of rule.verbs) {
      for (const path of rule.nonResourceURLs ?? []) add({ verb, path });
      for (const group of rule.apiGroups ?? []) {
        for (const each of rule.resources ?? []) {
          const [resource = '', subresource] = each.split('/');
          const query = { verb, group, resource, ...(subresource === undefined ? {} : { subresource }) };
          const names = rule.resourceNames ?? [];
          if (names.length === 0) add(query);
          for (const name of names) add({ ...query, name });
        }
      }
    }
  }
  return [...queries.values()];

  function add(query: AccessQuery): void {
    queries.set(JSON.stringify(query), query);
  }
}

function queryText({ verb, group, resource, subresource, name, path }: AccessQuery): string {
  if (path !== undefined) return `${verb} ${path}`;
  const place = subresource === undefined ? '' : `/${subresource}`;
  return `${verb} ${resource}${group ? `.${group}` : ''}${place}${name === undefined ? '' : ` ${name}`}`;
}
