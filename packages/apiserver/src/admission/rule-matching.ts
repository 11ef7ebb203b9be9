import type { StoredObjects } from '../auth/stored-objects.ts';
import { matchesLabels, type LabelSelector } from '../label-selector.ts';
import type { ApiObject } from '../object.ts';
import type { Registry } from '../registry.ts';
import type { Resource } from '../resource.ts';
import type { AdmissionContext } from './admission.ts';

/** `RuleWithOperations`, of webhooks and policies. */
export interface AdmissionRule {
  readonly operations?: readonly string[];
  readonly apiGroups?: readonly string[];
  readonly apiVersions?: readonly string[];
  readonly resources?: readonly string[];
  readonly scope?: string;
  /** Policies only. */
  readonly resourceNames?: readonly string[];
}

const REGISTRATION_GROUP = 'admissionregistration.k8s.io';

/** Configurations of admission are never subject to admission: one mistake could not be undone. */
export function isExempt(context: AdmissionContext): boolean {
  return context.resource.group === REGISTRATION_GROUP;
}

function has(list: readonly string[] | undefined, value: string): boolean {
  return list?.includes('*') === true || list?.includes(value) === true;
}

function matchesResource(rule: AdmissionRule, plural: string, subresource: string): boolean {
  return (rule.resources ?? []).some((pattern) => {
    const [resourcePattern, subresourcePattern = ''] = pattern.split('/') as [string, string?];
    return (
      (resourcePattern === '*' || resourcePattern === plural) &&
      (subresourcePattern === '*' || subresourcePattern === subresource)
    );
  });
}

function matchesScope(rule: AdmissionRule, resource: Resource): boolean {
  const scope = rule.scope || '*';
  return scope === '*' || (scope === 'Namespaced') === resource.namespaced;
}

export function ruleMatches(rule: AdmissionRule, context: AdmissionContext, as: Resource): boolean {
  return (
    matchesScope(rule, context.resource) &&
    has(rule.operations, context.operation) &&
    has(rule.apiGroups, as.group) &&
    has(rule.apiVersions, as.version) &&
    matchesResource(rule, as.plural, context.subresource) &&
    (!rule.resourceNames?.length || rule.resourceNames.includes(context.name))
  );
}

/** The version of the resource in which a set of rules wants to see the request; `undefined` when none of them matches. */
export function matchedResource(
  rules: readonly AdmissionRule[],
  matchPolicy: string,
  context: AdmissionContext,
  registry: Registry,
): Resource | undefined {
  if (rules.some((rule) => ruleMatches(rule, context, context.resource))) {
    return context.resource;
  }
  if (matchPolicy === 'Exact') {
    return undefined;
  }
  return registry
    .byStorage(context.resource.storageId)
    .find((other) => other !== context.resource && rules.some((rule) => ruleMatches(rule, context, other)));
}

function isNamespaceObject({ resource }: AdmissionContext): boolean {
  return resource.group === '' && resource.plural === 'namespaces';
}

/** The Namespace a request is about or happens in. */
export function namespaceObject(context: AdmissionContext, objects: StoredObjects): ApiObject | undefined {
  if (isNamespaceObject(context) && context.subresource === '') {
    return context.object ?? context.oldObject;
  }
  return context.namespace ? objects.lookup('namespaces', undefined, context.namespace) : undefined;
}

export function namespaceSelected(
  selector: LabelSelector | undefined,
  context: AdmissionContext,
  objects: StoredObjects,
): boolean {
  const isOutside = !context.namespace && !isNamespaceObject(context);
  if (!selector || isOutside) {
    return true;
  }
  return matchesLabels(selector, namespaceObject(context, objects)?.metadata.labels);
}

export function objectSelected(selector: LabelSelector | undefined, context: AdmissionContext): boolean {
  const isOpen =
    !selector || (Object.keys(selector.matchLabels ?? {}).length === 0 && !selector.matchExpressions?.length);
  return (
    isOpen ||
    [context.object, context.oldObject].some((object) => object && matchesLabels(selector, object.metadata.labels))
  );
}

/** Objects as another version of their resource shows them. */
export async function convert(
  object: ApiObject | undefined,
  from: Resource,
  to: Resource,
): Promise<ApiObject | undefined> {
  if (!object || from === to) {
    return object;
  }
  const [stored] = from.conversion ? await from.conversion.toStorage([object]) : [object];
  const [converted] = to.conversion ? await to.conversion.fromStorage([stored!]) : [stored];
  return { ...converted!, apiVersion: to.group ? `${to.group}/${to.version}` : to.version };
}
