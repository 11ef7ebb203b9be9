import { ApiError, forbidden } from '../api-error.ts';
import type { Authorizer } from '../auth/auth.ts';
import type { StoredObjects } from '../auth/stored-objects.ts';
import { matchesLabels, type LabelSelector } from '../label-selector.ts';
import type { ApiObject } from '../object.ts';
import type { Registry } from '../registry.ts';
import type { Resource } from '../resource.ts';
import type { Admission, AdmissionContext } from './admission.ts';
import { admissionRequest } from './admission-review.ts';
import { withAccess } from './authorizer-library.ts';
import { compileExpression, evaluateConditions, type MatchCondition } from './match-conditions.ts';
import { requestName } from './request-name.ts';
import {
  convert,
  isExempt,
  matchedResource,
  namespaceObject,
  namespaceSelected,
  objectSelected,
  type AdmissionRule,
} from './rule-matching.ts';

const POLICIES = 'validatingadmissionpolicies.admissionregistration.k8s.io';
const BINDINGS = 'validatingadmissionpolicybindings.admissionregistration.k8s.io';

interface MatchResources {
  readonly namespaceSelector?: LabelSelector;
  readonly objectSelector?: LabelSelector;
  readonly resourceRules?: readonly AdmissionRule[];
  readonly excludeResourceRules?: readonly AdmissionRule[];
  readonly matchPolicy?: string;
}

interface Validation {
  readonly expression: string;
  readonly message?: string;
  readonly messageExpression?: string;
  readonly reason?: string;
}

interface PolicySpec {
  readonly paramKind?: { readonly apiVersion: string; readonly kind: string };
  readonly matchConstraints?: MatchResources;
  readonly validations?: readonly Validation[];
  readonly failurePolicy?: string;
  readonly matchConditions?: readonly MatchCondition[];
  readonly variables?: readonly { readonly name: string; readonly expression: string }[];
}

interface BindingSpec {
  readonly policyName: string;
  readonly paramRef?: {
    readonly name?: string;
    readonly namespace?: string;
    readonly selector?: LabelSelector;
    readonly parameterNotFoundAction?: string;
  };
  readonly matchResources?: MatchResources;
  readonly validationActions?: readonly string[];
}

interface Failure {
  readonly policy: string;
  readonly binding: string;
  readonly actions: readonly string[];
  readonly message: string;
  readonly reason: string;
}

const CODES: Record<string, number> = { Unauthorized: 401, Forbidden: 403, Invalid: 422, RequestEntityTooLarge: 413 };

export interface ValidatingPoliciesOptions {
  readonly objects: StoredObjects;
  readonly registry: Registry;
  /** Answers `authorizer` in expressions. */
  readonly authorizer: Authorizer;
}

/** ValidatingAdmissionPolicies and their bindings: checks written in CEL, without a webhook. */
export function validatingPolicies({ objects, registry, authorizer }: ValidatingPoliciesOptions): Admission {
  return {
    mutate() {},
    validate(context) {
      const bindings = isExempt(context) ? [] : [...objects.scan(BINDINGS)];
      return bindings.length > 0 ? check(bindings, context) : undefined;
    },
  };

  async function check(bindings: readonly ApiObject[], context: AdmissionContext): Promise<void> {
    const failures: Failure[] = [];
    for (const binding of bindings) {
      const spec = binding['spec'] as BindingSpec;
      const policy = objects.lookup(POLICIES, undefined, spec.policyName);
      if (policy) {
        failures.push(...(await evaluate(policy, binding, spec, context)));
      }
    }
    for (const { actions, policy, binding, message } of failures) {
      if (actions.includes('Warn')) {
        context.warn(
          `Validation failed for ValidatingAdmissionPolicy '${policy}' with binding '${binding}': ${message}`,
        );
      }
    }
    const denials = failures.filter(({ actions }) => actions.includes('Deny'));
    if (denials.length > 0) {
      throw denied(denials, context);
    }
  }

  async function evaluate(
    policy: ApiObject,
    binding: ApiObject,
    bindingSpec: BindingSpec,
    context: AdmissionContext,
  ): Promise<Failure[]> {
    const spec = policy['spec'] as PolicySpec;
    const names = { policy: policy.metadata.name!, binding: binding.metadata.name! };
    const actions = bindingSpec.validationActions ?? ['Deny'];
    const as = matches(spec.matchConstraints ?? {}, context);
    const isBound =
      as !== undefined &&
      (!bindingSpec.matchResources || matches(bindingSpec.matchResources, context, true) !== undefined);
    if (!isBound) {
      return [];
    }
    const fail = (message: string, reason = 'Invalid'): Failure => ({ ...names, actions, message, reason });
    const mayFail = spec.failurePolicy !== 'Ignore';
    const shown = {
      object: await convert(context.object, context.resource, as),
      oldObject: await convert(context.oldObject, context.resource, as),
    };
    const values: Record<string, unknown> = {
      object: shown.object ?? null,
      oldObject: shown.oldObject ?? null,
      request: admissionRequest(context, as, shown, ''),
      namespaceObject: namespaceObject(context, objects) ?? null,
      params: null,
    };
    const access = { authorizer, context };
    const conditions = evaluateConditions(spec.matchConditions ?? [], values, access);
    if ('error' in conditions) {
      return mayFail ? [fail(conditions.error)] : [];
    }
    if (!conditions.matches) {
      return [];
    }
    const params = paramsOf(spec, bindingSpec, context);
    if (typeof params === 'string') {
      return mayFail ? [fail(params)] : [];
    }
    return params.flatMap((param) =>
      (spec.validations ?? []).flatMap((validation) => {
        const outcome = withAccess(access, () =>
          validate(validation, { ...values, params: param ?? null }, spec.variables ?? []),
        );
        if (outcome === undefined) {
          return [];
        }
        return outcome.isError && !mayFail ? [] : [fail(outcome.message, validation.reason || 'Invalid')];
      }),
    );
  }

  /** The version in which a policy wants to see the request; `undefined` when it does not. */
  function matches(constraints: MatchResources, context: AdmissionContext, anyResource = false): Resource | undefined {
    const policy = constraints.matchPolicy ?? 'Equivalent';
    const isSelected =
      namespaceSelected(constraints.namespaceSelector, context, objects) &&
      objectSelected(constraints.objectSelector, context);
    const isExcluded = matchedResource(constraints.excludeResourceRules ?? [], policy, context, registry) !== undefined;
    if (!isSelected || isExcluded) {
      return undefined;
    }
    if (!constraints.resourceRules?.length) {
      return anyResource ? context.resource : undefined;
    }
    return matchedResource(constraints.resourceRules, policy, context, registry);
  }

  /** The parameter objects of a binding, or the sentence why there are none; a policy without parameters has one that is absent. */
  function paramsOf(
    spec: PolicySpec,
    binding: BindingSpec,
    context: AdmissionContext,
  ): (ApiObject | undefined)[] | string {
    if (!spec.paramKind || !binding.paramRef) {
      return [undefined];
    }
    const { apiVersion, kind } = spec.paramKind;
    const slash = apiVersion.indexOf('/');
    const resource = registry.byKind(slash < 0 ? '' : apiVersion.slice(0, slash), apiVersion.slice(slash + 1), kind);
    if (!resource) {
      return `failed to configure policy: failed to find resource referenced by paramKind: '${apiVersion}, Kind=${kind}'`;
    }
    const { name, selector, parameterNotFoundAction } = binding.paramRef;
    const namespace = resource.namespaced ? binding.paramRef.namespace || context.namespace : undefined;
    const found: ApiObject[] = [];
    if (name) {
      const object = objects.lookup(resource.storageId, namespace, name);
      if (object) {
        found.push(object);
      }
    } else if (selector) {
      for (const object of objects.scan(resource.storageId)) {
        const isHere = namespace === undefined || object.metadata.namespace === namespace;
        if (isHere && matchesLabels(selector, object.metadata.labels)) {
          found.push(object);
        }
      }
    }
    if (found.length > 0) {
      return found;
    }
    return parameterNotFoundAction === 'Allow'
      ? []
      : 'failed to configure binding: no params found for policy binding with `Deny` parameterNotFoundAction';
  }
}

function validate(
  validation: Validation,
  values: Readonly<Record<string, unknown>>,
  variables: readonly { name: string; expression: string }[],
): { message: string; isError: boolean } | undefined {
  const expression = validation.expression.trim();
  let all: Record<string, unknown>;
  try {
    all = { ...values, variables: variablesFor([expression, validation.messageExpression ?? ''], values, variables) };
    if (compileExpression(validation.expression, 'bool').evaluate(all) === true) {
      return undefined;
    }
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    return { message: `expression '${expression}' resulted in error: ${text}`, isError: true };
  }
  return { message: messageOf(validation, expression, all), isError: false };
}

function messageOf(validation: Validation, expression: string, values: Readonly<Record<string, unknown>>): string {
  if (validation.messageExpression) {
    try {
      const text = compileExpression(validation.messageExpression, 'string').evaluate(values);
      if (typeof text === 'string' && text.trim() !== '' && !text.includes('\n')) {
        return text.trim();
      }
    } catch {
      // A message that cannot be made is no reason to let the request pass.
    }
  }
  return validation.message?.trim() || `failed expression: ${expression}`;
}

/** The values of those variables the texts mention, and of those they mention in turn. */
function variablesFor(
  texts: readonly string[],
  values: Readonly<Record<string, unknown>>,
  variables: readonly { name: string; expression: string }[],
): Record<string, unknown> {
  const needed = new Set<string>();
  const mention = (text: string) => {
    for (const [, name] of text.matchAll(/\bvariables\.(\w+)/g)) {
      const variable = variables.find((each) => each.name === name);
      if (variable && !needed.has(name!)) {
        needed.add(name!);
        mention(variable.expression);
      }
    }
  };
  texts.forEach(mention);
  const evaluated: Record<string, unknown> = {};
  // A variable may only use those before it, so their order is the order to evaluate them in.
  for (const { name, expression } of variables) {
    if (needed.has(name)) {
      evaluated[name] = compileExpression(expression, 'dyn').evaluate({ ...values, variables: evaluated });
    }
  }
  return evaluated;
}

function denied(denials: readonly Failure[], context: AdmissionContext): ApiError {
  const texts = denials.map(
    ({ policy, binding, message }) =>
      `ValidatingAdmissionPolicy '${policy}' with binding '${binding}' denied request: ${message}`,
  );
  const causes = texts.map((message) => ({ message }));
  const { status } = forbidden(context.resource, requestName(context), texts[0]!, causes);
  const reason = denials[0]!.reason;
  return new ApiError({
    code: CODES[reason] ?? 422,
    reason,
    message: status.message,
    details: status.details,
  });
}
