import type { FieldError } from '../api-error.ts';
import type { ApiObject, JsonObject } from '../object.ts';
import type { Strategy } from '../resource.ts';
import { ageOf } from './ages.ts';
import { strategyWith } from './default-strategy.ts';
import { invalidValue, notSupported, required } from './field-errors.ts';
import { asList, asObject, asObjects, asText, defaultText, ensureObject, sameValue } from './json-access.ts';
import { dnsSubdomain, pathSegment } from './names.ts';
import { validateSelector } from './selectors.ts';

const rbacGroup = 'rbac.authorization.k8s.io';

function validateRules(object: ApiObject, namespaced: boolean): FieldError[] {
  return asObjects(object['rules']).flatMap((rule, index) => {
    const at = `rules[${index}]`;
    const errors: FieldError[] = [];
    if (asList(rule['verbs']).length === 0)
      errors.push(required(`${at}.verbs`, 'verbs must contain at least one value'));
    if (asList(rule['nonResourceURLs']).length > 0) {
      if (namespaced) {
        errors.push(
          invalidValue(
            `${at}.nonResourceURLs`,
            rule['nonResourceURLs'],
            'namespaced rules cannot apply to non-resource URLs',
          ),
        );
      }
      if (
        asList(rule['apiGroups']).length + asList(rule['resources']).length + asList(rule['resourceNames']).length >
        0
      ) {
        errors.push(
          invalidValue(
            `${at}.nonResourceURLs`,
            rule['nonResourceURLs'],
            'rules cannot apply to both regular resources and non-resource URLs',
          ),
        );
      }
      return errors;
    }
    if (asList(rule['apiGroups']).length === 0) {
      errors.push(required(`${at}.apiGroups`, 'resource rules must supply at least one api group'));
    }
    if (asList(rule['resources']).length === 0) {
      errors.push(required(`${at}.resources`, 'resource rules must supply at least one resource'));
    }
    return errors;
  });
}

const createdAt = (object: ApiObject) => [object.metadata.name ?? '', object.metadata.creationTimestamp ?? ''];

export const roleStrategy: Strategy = strategyWith({
  createOnUpdate: true,
  validateName: pathSegment,
  validate: (object) => validateRules(object, true),
  validateUpdate: (object) => validateRules(object, true),
  cells: createdAt,
});

function validateClusterRole(object: ApiObject): FieldError[] {
  const selectors = asObjects(asObject(object['aggregationRule'])?.['clusterRoleSelectors']);
  const errors = validateRules(object, false);
  if (object['aggregationRule'] != null && selectors.length === 0) {
    errors.push(
      required(
        'aggregationRule.clusterRoleSelectors',
        'at least one clusterRoleSelector required if aggregationRule is non-nil',
      ),
    );
  }
  for (const [index, selector] of selectors.entries()) {
    errors.push(...validateSelector(selector, `aggregationRule.clusterRoleSelectors[${index}]`));
  }
  return errors;
}

export const clusterRoleStrategy: Strategy = strategyWith({
  createOnUpdate: true,
  validateName: pathSegment,
  validate: validateClusterRole,
  validateUpdate: validateClusterRole,
  cells: createdAt,
});

function defaultBinding(object: ApiObject): void {
  for (const subject of asObjects(object['subjects'])) {
    if (asText(subject['apiGroup'])) continue;
    if (subject['kind'] === 'User' || subject['kind'] === 'Group') subject['apiGroup'] = rbacGroup;
  }
  defaultText(ensureObject(object as unknown as JsonObject, 'roleRef'), 'apiGroup', rbacGroup);
}

function validateBinding(object: ApiObject, roleKinds: readonly string[], namespaced: boolean): FieldError[] {
  const errors: FieldError[] = [];
  const role = asObject(object['roleRef']) ?? {};
  if (role['apiGroup'] !== rbacGroup)
    errors.push(notSupported('roleRef.apiGroup', asText(role['apiGroup']), [rbacGroup]));
  if (!roleKinds.includes(asText(role['kind']))) {
    errors.push(notSupported('roleRef.kind', asText(role['kind']), roleKinds));
  }
  const name = asText(role['name']);
  if (!name) errors.push(required('roleRef.name'));
  else for (const text of pathSegment(name)) errors.push(invalidValue('roleRef.name', name, text));
  for (const [index, subject] of asObjects(object['subjects']).entries()) {
    errors.push(...validateSubject(subject, `subjects[${index}]`, namespaced));
  }
  return errors;
}

function validateSubject(subject: JsonObject, at: string, namespaced: boolean): FieldError[] {
  const errors: FieldError[] = [];
  const name = asText(subject['name']);
  const group = asText(subject['apiGroup']);
  if (!name) errors.push(required(`${at}.name`));
  switch (subject['kind']) {
    case 'ServiceAccount':
      if (name) for (const text of dnsSubdomain(name)) errors.push(invalidValue(`${at}.name`, name, text));
      if (group) errors.push(notSupported(`${at}.apiGroup`, group, ['']));
      if (!asText(subject['namespace']) && !namespaced) errors.push(required(`${at}.namespace`));
      break;
    case 'User':
    case 'Group':
      if (group !== rbacGroup) errors.push(notSupported(`${at}.apiGroup`, group, [rbacGroup]));
      break;
    default:
      errors.push(notSupported(`${at}.kind`, asText(subject['kind']), ['ServiceAccount', 'User', 'Group']));
  }
  return errors;
}

function bindingStrategy(roleKinds: readonly string[], namespaced: boolean): Strategy {
  return strategyWith({
    createOnUpdate: true,
    validateName: pathSegment,
    applyDefaults: defaultBinding,
    validate: (object) => validateBinding(object, roleKinds, namespaced),
    validateUpdate: (object, previous) => {
      const role = asObject(object['roleRef']) ?? {};
      const shown = { APIGroup: asText(role['apiGroup']), Kind: asText(role['kind']), Name: asText(role['name']) };
      const changed = sameValue(role, previous['roleRef'])
        ? []
        : [invalidValue('roleRef', shown, 'cannot change roleRef')];
      return [...validateBinding(object, roleKinds, namespaced), ...changed];
    },
    cells: (object, now) => {
      const role = asObject(object['roleRef']) ?? {};
      const named = (kind: string) =>
        asObjects(object['subjects'])
          .filter((subject) => subject['kind'] === kind)
          .map((subject) =>
            kind === 'ServiceAccount'
              ? `${asText(subject['namespace'])}/${asText(subject['name'])}`
              : asText(subject['name']),
          )
          .join(', ');
      return [
        object.metadata.name ?? '',
        `${asText(role['kind'])}/${asText(role['name'])}`,
        ageOf(object.metadata.creationTimestamp, now),
        named('User'),
        named('Group'),
        named('ServiceAccount'),
      ];
    },
  });
}

export const roleBindingStrategy: Strategy = bindingStrategy(['Role', 'ClusterRole'], true);
export const clusterRoleBindingStrategy: Strategy = bindingStrategy(['ClusterRole'], false);
