import type { FieldError } from '../api-error.ts';
import type { ApiObject, JsonObject } from '../object.ts';
import type { Strategy } from '../resource.ts';
import type { RuleCompiler } from '../cel/environment.ts';
import { ruleCompiler } from '../cel/late-cel.ts';
import { ageOf } from './ages.ts';
import { strategyWith } from './default-strategy.ts';
import { givenName, repeated, requiredName, requiredWord } from './field-checks.ts';
import { duplicate, forbiddenField, invalidValue, notSupported, required } from './field-errors.ts';
import {
  asList,
  asNumber,
  asObject,
  asObjects,
  asText,
  defaultText,
  defaultTo,
  dig,
  ensureObject,
  sameValue,
} from './json-access.ts';
import { dns1035, dnsSubdomain, qualifiedName } from './names.ts';
import { validateSelector } from './selectors.ts';
import { withStatus } from './with-status.ts';

const asJson = (object: ApiObject): JsonObject => object as unknown as JsonObject;
const age = (object: ApiObject, now: number): string => ageOf(object.metadata.creationTimestamp, now);

function defaultRules(rules: unknown): void {
  for (const rule of asObjects(rules)) defaultTo(rule, 'scope', '*');
}

function defaultWebhook(webhook: JsonObject, mutating: boolean): void {
  defaultText(webhook, 'failurePolicy', 'Fail');
  defaultText(webhook, 'matchPolicy', 'Equivalent');
  defaultTo(webhook, 'namespaceSelector', {});
  defaultTo(webhook, 'objectSelector', {});
  defaultTo(webhook, 'timeoutSeconds', 10);
  if (mutating) defaultText(webhook, 'reinvocationPolicy', 'Never');
  defaultRules(webhook['rules']);
  const service = asObject(dig(webhook, 'clientConfig', 'service'));
  if (service) defaultTo(service, 'port', 443);
}

/** Checks a webhook's address; used for admission and conversion alike. */
export function clientConfigErrors(config: JsonObject, at: string): FieldError[] {
  const { url } = config;
  const service = asObject(config['service']);
  if ((typeof url === 'string') === (service !== undefined)) {
    return [required(at, 'exactly one of url or service is required')];
  }
  if (typeof url === 'string') return urlErrors(url, `${at}.url`);
  const errors: FieldError[] = [];
  if (!asText(service!['name'])) errors.push(required(`${at}.service.name`, 'service name is required'));
  if (!asText(service!['namespace'])) errors.push(required(`${at}.service.namespace`, 'service namespace is required'));
  return errors;
}

function urlErrors(url: string, at: string): FieldError[] {
  const form = '; desired format: https://host[/path]';
  const parts = urlParts(url);
  if (!parts) {
    const problem = `url must be a valid URL: parse ${JSON.stringify(url)}: invalid URI for request`;
    return [required(at, `${problem}${form}`)];
  }
  const { scheme, host, user, fragment, query } = parts;
  const errors: FieldError[] = [];
  if (scheme !== 'https') errors.push(invalidValue(at, scheme, `'https' is the only allowed URL scheme${form}`));
  if (host === '') errors.push(invalidValue(at, host, `host must be specified${form}`));
  if (user) errors.push(invalidValue(at, user, 'user information is not permitted in the URL'));
  if (fragment) errors.push(invalidValue(at, fragment, 'fragments are not permitted in the URL'));
  if (query) errors.push(invalidValue(at, query, 'query parameters are not permitted in the URL'));
  return errors;
}

/** As Go takes a URL apart: a text that is none is a path, with neither scheme nor host. Nothing where Go could not, either. */
function urlParts(url: string): Record<'scheme' | 'host' | 'user' | 'fragment' | 'query', string> | undefined {
  if (URL.canParse(url)) {
    const { protocol, host, username, hash, search } = new URL(url);
    return { scheme: protocol.slice(0, -1), host, user: username, fragment: hash.slice(1), query: search.slice(1) };
  }
  const [, path = '', query = '', fragment = ''] = /^([^?#]*)(?:\?([^#]*))?(?:#(.*))?$/s.exec(url)!;
  const isPath = !path.split('/', 1)[0]!.includes(':') && !/%(?![0-9a-f]{2})|\p{Cc}/iu.test(url);
  return isPath ? { scheme: '', host: '', user: '', fragment, query } : undefined;
}

function ruleErrors(rules: readonly JsonObject[], at: string): FieldError[] {
  const operations = ['*', 'CREATE', 'UPDATE', 'DELETE', 'CONNECT'];
  return rules.flatMap((rule, index) => {
    const errors: FieldError[] = [];
    const place = `${at}[${index}]`;
    if (asList(rule['operations']).length === 0) errors.push(required(`${place}.operations`));
    for (const [position, operation] of asList(rule['operations']).entries()) {
      if (!operations.includes(asText(operation))) {
        errors.push(notSupported(`${place}.operations[${position}]`, operation, operations.toSorted()));
      }
    }
    for (const key of ['apiGroups', 'apiVersions', 'resources']) {
      const values = asList(rule[key]);
      if (values.length === 0) errors.push(required(`${place}.${key}`));
      // The empty group is the core group.
      if (key === 'apiGroups') continue;
      for (const [position, value] of values.entries())
        if (!asText(value)) errors.push(required(`${place}.${key}[${position}]`));
    }
    return errors;
  });
}

let compiler: RuleCompiler | undefined;

/** Whether an admission expression compiles. Those that ask an authorizer are left to whoever has one. */
function expressionErrors(expression: string, field: string, result: 'bool' | 'string' = 'bool'): FieldError[] {
  if (!expression.trim()) return [required(field)];
  if (/\bauthorizer\b/.test(expression)) return [];
  compiler ??= ruleCompiler();
  const { error } = compiler.compile(expression, {
    variables: {
      object: 'dyn',
      oldObject: 'dyn',
      request: 'dyn',
      params: 'dyn',
      namespaceObject: 'dyn',
      variables: 'dyn',
    },
    result,
  });
  return error ? [invalidValue(field, expression, error)] : [];
}

function validateWebhooks(object: ApiObject, mutating: boolean): FieldError[] {
  const names = new Set<string>();
  return asObjects(object['webhooks']).flatMap((webhook, index) => {
    const at = `webhooks[${index}]`;
    const name = asText(webhook['name']);
    const errors: FieldError[] = [];
    if (!name) errors.push(required(`${at}.name`));
    else if (dnsSubdomain(name).length > 0) errors.push(invalidValue(`${at}.name`, name, dnsSubdomain(name).join(',')));
    else if (name.split('.').length < 3) {
      errors.push(
        invalidValue(`${at}.name`, name, 'should be a domain with at least three segments separated by dots'),
      );
    }
    const versions = asList(webhook['admissionReviewVersions']).map(asText);
    if (versions.length === 0) {
      errors.push(required(`${at}.admissionReviewVersions`, 'must specify one of v1, v1beta1'));
    } else if (!versions.some((version) => version === 'v1' || version === 'v1beta1')) {
      errors.push(invalidValue(`${at}.admissionReviewVersions`, versions, 'must include at least one of v1, v1beta1'));
    }
    for (const [position, version] of versions.entries()) {
      const place = `${at}.admissionReviewVersions[${position}]`;
      errors.push(...givenName(version, place, dns1035));
      if (versions.indexOf(version) < position) errors.push(invalidValue(place, version, 'duplicate version'));
    }
    errors.push(...ruleErrors(asObjects(webhook['rules']), `${at}.rules`));
    if (!['Ignore', 'Fail'].includes(asText(webhook['failurePolicy']))) {
      errors.push(notSupported(`${at}.failurePolicy`, webhook['failurePolicy'], ['Fail', 'Ignore']));
    }
    const effects = asText(webhook['sideEffects']);
    if (webhook['sideEffects'] == null)
      errors.push(required(`${at}.sideEffects`, 'must specify one of None, NoneOnDryRun'));
    else if (!['None', 'NoneOnDryRun'].includes(effects)) {
      errors.push(notSupported(`${at}.sideEffects`, effects, ['None', 'NoneOnDryRun']));
    }
    const timeout = asNumber(webhook['timeoutSeconds']) ?? 10;
    if (timeout < 1 || timeout > 30) {
      errors.push(invalidValue(`${at}.timeoutSeconds`, timeout, 'the timeout value must be between 1 and 30 seconds'));
    }
    if (mutating && !['Never', 'IfNeeded'].includes(asText(webhook['reinvocationPolicy']))) {
      errors.push(notSupported(`${at}.reinvocationPolicy`, webhook['reinvocationPolicy'], ['IfNeeded', 'Never']));
    }
    errors.push(
      ...validateSelector(webhook['namespaceSelector'], `${at}.namespaceSelector`),
      ...validateSelector(webhook['objectSelector'], `${at}.objectSelector`),
      ...clientConfigErrors(asObject(webhook['clientConfig']) ?? {}, `${at}.clientConfig`),
    );
    for (const [position, condition] of asObjects(webhook['matchConditions']).entries()) {
      const place = `${at}.matchConditions[${position}]`;
      errors.push(...expressionErrors(asText(condition['expression']), `${place}.expression`));
      const condName = asText(condition['name']);
      if (!condName) errors.push(required(`${place}.name`));
      else for (const text of qualifiedName(condName)) errors.push(invalidValue(`${place}.name`, condName, text));
    }
    if (names.has(name)) errors.push(duplicate(`${at}.name`, name));
    names.add(name);
    return errors;
  });
}

function webhookStrategy(mutating: boolean): Strategy {
  return strategyWith({
    unconditionalUpdate: false,
    hasGeneration: true,
    generationChanged: (next, previous) => !sameValue(next['webhooks'], previous['webhooks']),
    applyDefaults: (object) => {
      for (const webhook of asObjects(object['webhooks'])) defaultWebhook(webhook, mutating);
    },
    validate: (object) => validateWebhooks(object, mutating),
    validateUpdate: (object) => validateWebhooks(object, mutating),
    cells: (object, now) => [object.metadata.name ?? '', asList(object['webhooks']).length, age(object, now)],
  });
}

export const mutatingWebhookStrategy: Strategy = webhookStrategy(true);
export const validatingWebhookStrategy: Strategy = webhookStrategy(false);

function defaultMatchResources(resources: JsonObject | undefined): void {
  if (!resources) return;
  defaultText(resources, 'matchPolicy', 'Equivalent');
  defaultTo(resources, 'namespaceSelector', {});
  defaultTo(resources, 'objectSelector', {});
  defaultRules(resources['resourceRules']);
  defaultRules(resources['excludeResourceRules']);
}

function validatePolicy(object: ApiObject): FieldError[] {
  const spec = asObject(object['spec']) ?? {};
  const errors: FieldError[] = [];
  if (!['Ignore', 'Fail'].includes(asText(spec['failurePolicy']))) {
    errors.push(notSupported('spec.failurePolicy', spec['failurePolicy'], ['Fail', 'Ignore']));
  }
  const constraints = asObject(spec['matchConstraints']);
  if (!constraints) errors.push(required('spec.matchConstraints'));
  else if (asList(constraints['resourceRules']).length === 0) {
    errors.push(required('spec.matchConstraints.resourceRules'));
  } else errors.push(...ruleErrors(asObjects(constraints['resourceRules']), 'spec.matchConstraints.resourceRules'));
  for (const key of ['namespaceSelector', 'objectSelector'])
    errors.push(...validateSelector(constraints?.[key], `spec.matchConstraints.${key}`));
  if (object.kind === 'ValidatingAdmissionPolicy') {
    const validations = asObjects(spec['validations']);
    if (validations.length === 0 && asList(spec['auditAnnotations']).length === 0) {
      for (const field of ['spec.validations', 'spec.auditAnnotations'])
        errors.push(required(field, 'validations or auditAnnotations must contain at least one item'));
    }
    for (const [index, validation] of validations.entries()) {
      if (!asText(validation['expression']).trim()) {
        errors.push(required(`spec.validations[${index}].expression`, 'expression is not specified'));
      } else {
        errors.push(...expressionErrors(asText(validation['expression']), `spec.validations[${index}].expression`));
      }
      const message = asText(validation['messageExpression']);
      if (message.trim()) {
        errors.push(...expressionErrors(message, `spec.validations[${index}].messageExpression`, 'string'));
      }
    }
  } else errors.push(...mutatedOperationErrors(constraints), ...mutationErrors(spec));
  return errors;
}

/** What is deleted cannot be changed. The real server names the rules together here. */
function mutatedOperationErrors(constraints: JsonObject | undefined): FieldError[] {
  const operations = ['*', 'CONNECT', 'CREATE', 'UPDATE'];
  return asObjects(constraints?.['resourceRules'])
    .flatMap((rule) => asList(rule['operations']))
    .filter((operation) => !operations.includes(asText(operation)))
    .map((operation) => notSupported('spec.matchConstraints.resourceRules.operations', operation, operations));
}

/** Whether a mutation compiles is left to a server that evaluates it. */
function mutationErrors(spec: JsonObject): FieldError[] {
  const mutations = asObjects(spec['mutations']);
  return [
    ...(mutations.length === 0 ? [required('spec.mutations', 'mutations must contain at least one item')] : []),
    ...mutations.flatMap((mutation, index) => {
      const at = `spec.mutations[${index}]`;
      const type = asText(mutation['patchType']);
      const errors = requiredWord(type, `${at}.patchType`, ['ApplyConfiguration', 'JSONPatch']);
      if (errors.length > 0) return errors;
      const key = type === 'JSONPatch' ? 'jsonPatch' : 'applyConfiguration';
      const patch = asObject(mutation[key]);
      if (!patch) return [required(`${at}.${key}`, `must be specified when patchType is ${type}`)];
      return asText(patch['expression']).trim() ? [] : [required(`${at}.${key}.expression`)];
    }),
    ...requiredWord(spec['reinvocationPolicy'], 'spec.reinvocationPolicy', ['IfNeeded', 'Never']),
  ];
}

export const policyStrategy: Strategy = withStatus({
  statusKeepsMetadata: true,
  unconditionalUpdate: false,
  hasGeneration: true,
  applyDefaults(object) {
    const spec = ensureObject(asJson(object), 'spec');
    defaultText(spec, 'failurePolicy', 'Fail');
    defaultMatchResources(asObject(spec['matchConstraints']));
  },
  validate: validatePolicy,
  validateUpdate: validatePolicy,
  cells: (object, now) => {
    const kind = asObject(dig(object, 'spec', 'paramKind'));
    const items = dig(object, 'spec', object.kind === 'MutatingAdmissionPolicy' ? 'mutations' : 'validations');
    return [
      object.metadata.name ?? '',
      asList(items).length,
      kind ? `${asText(kind['apiVersion'])}/${asText(kind['kind'])}` : '<unset>',
      age(object, now),
    ];
  },
});

function validatePolicyBinding(object: ApiObject): FieldError[] {
  const spec = asObject(object['spec']) ?? {};
  const errors: FieldError[] = [];
  errors.push(...requiredName(spec['policyName'], 'spec.policyName'));
  if (object.kind !== 'ValidatingAdmissionPolicyBinding') return errors;
  const actions = asList(spec['validationActions']).map(asText);
  if (actions.length === 0)
    errors.push(required('spec.validationActions', 'at least one validation action is required'));
  for (const [index, action] of actions.entries()) {
    if (!['Audit', 'Deny', 'Warn'].includes(action)) {
      errors.push(notSupported(`spec.validationActions[${index}]`, action, ['Audit', 'Deny', 'Warn']));
    }
  }
  errors.push(...repeated(actions, 'spec.validationActions'));
  if (actions.includes('Deny') && actions.includes('Warn')) {
    errors.push(
      invalidValue(
        'spec.validationActions',
        actions,
        'must not contain both Deny and Warn (repeating the same validation failure information in the API response and headers serves no purpose)',
      ),
    );
  }
  return errors;
}

export const policyBindingStrategy: Strategy = strategyWith({
  unconditionalUpdate: false,
  hasGeneration: true,
  applyDefaults: (object) => defaultMatchResources(asObject(dig(object, 'spec', 'matchResources'))),
  validate: validatePolicyBinding,
  validateUpdate: validatePolicyBinding,
  cells: (object, now) => {
    const reference = asObject(dig(object, 'spec', 'paramRef'));
    const namespace = asText(reference?.['namespace']);
    return [
      object.metadata.name ?? '',
      asText(dig(object, 'spec', 'policyName')),
      reference ? `${namespace ? `${namespace}/` : '*/'}${asText(reference['name'])}` : '<unset>',
      age(object, now),
    ];
  },
});

function priorityErrors(value: unknown, field: string, most: number): FieldError[] {
  const priority = asNumber(value) ?? 0;
  return priority > 0 && priority <= most
    ? []
    : [invalidValue(field, priority, `must be positive and less than ${most}`)];
}

export const apiServiceStrategy: Strategy = withStatus({
  unconditionalUpdate: false,
  statusKeepsMetadata: true,
  applyDefaults(object) {
    const service = asObject(dig(object, 'spec', 'service'));
    if (service) defaultTo(service, 'port', 443);
  },
  validate: (object) => {
    const spec = asObject(object['spec']) ?? {};
    const wanted = `${asText(spec['version'])}.${asText(spec['group'])}`.replace(/\.$/, '');
    const errors: FieldError[] = [];
    if (object.metadata.name !== wanted) {
      errors.push(
        invalidValue(
          'metadata.name',
          object.metadata.name,
          `must be \`spec.version+"."+spec.group\`: ${JSON.stringify(wanted)}`,
        ),
      );
    }
    const isLocal = spec['service'] == null;
    if (asText(spec['group']) || !isLocal || asText(spec['version']) !== 'v1') {
      errors.push(...requiredName(spec['group'], 'spec.group'));
    }
    errors.push(
      ...givenName(spec['version'], 'spec.version', dns1035),
      ...priorityErrors(spec['groupPriorityMinimum'], 'spec.groupPriorityMinimum', 20_000),
      ...priorityErrors(spec['versionPriority'], 'spec.versionPriority', 1_000),
    );
    if (asObject(spec['service']) && spec['insecureSkipTLSVerify'] === true && asText(spec['caBundle'])) {
      errors.push(invalidValue('spec.insecureSkipTLSVerify', true, 'may not be true if caBundle is present'));
    }
    if (spec['service'] == null && spec['insecureSkipTLSVerify'] === true) {
      errors.push(forbiddenField('spec.insecureSkipTLSVerify', 'local APIServices may not have insecureSkipTLSVerify'));
    }
    return errors;
  },
  cells: (object, now) => {
    const service = asObject(dig(object, 'spec', 'service'));
    const available = asObjects(dig(object, 'status', 'conditions')).find((c) => c['type'] === 'Available');
    const state = asText(available?.['status']) || 'Unknown';
    const reason = asText(available?.['reason']);
    return [
      object.metadata.name ?? '',
      service ? `${asText(service['namespace'])}/${asText(service['name'])}` : 'Local',
      state !== 'True' && reason ? `${state} (${reason})` : state,
      age(object, now),
    ];
  },
});
