import type { FieldError } from '../api-error.ts';
import type { ApiObject, JsonObject } from '../object.ts';
import type { Strategy } from '../resource.ts';
import { ageOf } from './ages.ts';
import { strategyWith } from './default-strategy.ts';
import { ipAddress, portNumberAt } from './field-checks.ts';
import { duplicate, forbiddenField, invalidValue, notSupported, required, tooLong } from './field-errors.ts';
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
import { immutable, intOrPercent } from './limits.ts';
import { dnsLabel, dnsSubdomain, portNumber, qualifiedName, wildcardSubdomain } from './names.ts';
import { selectorText, validateSelector } from './selectors.ts';
import { withStatus } from './with-status.ts';

const age = (object: ApiObject, now: number): string => ageOf(object.metadata.creationTimestamp, now);

function backendErrors(backend: JsonObject, field: string): FieldError[] {
  const service = asObject(backend['service']);
  const resource = asObject(backend['resource']);
  if (service && resource) {
    return [invalidValue(field, '', 'cannot set both resource and service backends')];
  }
  if (resource) return [];
  if (!service) return [invalidValue(field, '', 'resource or service backend is required')];
  const errors: FieldError[] = [];
  const name = asText(service['name']);
  if (!name) errors.push(required(`${field}.service.name`));
  else for (const text of dnsLabel(name)) errors.push(invalidValue(`${field}.service.name`, name, text));
  const port = asObject(service['port']) ?? {};
  const number = asNumber(port['number']);
  if (!port['name'] && !number) errors.push(required(`${field}`, 'port name or number is required'));
  else if (port['name'] && number) errors.push(invalidValue(`${field}`, '', 'cannot set both port name & port number'));
  else if (number)
    for (const text of portNumber(number)) errors.push(invalidValue(`${field}.service.port.number`, number, text));
  return errors;
}

function validateIngress(object: ApiObject): FieldError[] {
  const spec = asObject(object['spec']) ?? {};
  const errors: FieldError[] = [];
  const rules = asObjects(spec['rules']);
  const backend = asObject(spec['defaultBackend']);
  if (rules.length === 0 && !backend) {
    return [invalidValue('spec', null, 'either `defaultBackend` or `rules` must be specified')];
  }
  if (backend) errors.push(...backendErrors(backend, 'spec.defaultBackend'));
  for (const [index, rule] of rules.entries()) {
    const at = `spec.rules[${index}]`;
    const host = asText(rule['host']);
    if (host) {
      const texts = host.includes('*') ? wildcardSubdomain(host) : dnsSubdomain(host);
      for (const text of texts) errors.push(invalidValue(`${at}.host`, host, text));
    }
    const http = asObject(rule['http']);
    if (!http) continue;
    const paths = asObjects(http['paths']);
    if (paths.length === 0) errors.push(required(`${at}.http.paths`));
    for (const [position, path] of paths.entries()) {
      errors.push(...pathErrors(path, `${at}.http.paths[${position}]`));
    }
  }
  for (const [index, tls] of asObjects(spec['tls']).entries()) {
    for (const [position, host] of asList(tls['hosts']).entries()) {
      const texts = asText(host).includes('*') ? wildcardSubdomain(asText(host)) : dnsSubdomain(asText(host));
      for (const text of texts) errors.push(invalidValue(`spec.tls[${index}].hosts[${position}]`, host, text));
    }
  }
  const className = asText(spec['ingressClassName']);
  if (className)
    for (const text of dnsSubdomain(className)) errors.push(invalidValue('spec.ingressClassName', className, text));
  return errors;
}

function pathErrors(path: JsonObject, at: string): FieldError[] {
  const errors: FieldError[] = [];
  const type = asText(path['pathType']);
  const text = asText(path['path']);
  if (path['pathType'] == null) return [required(`${at}.pathType`, 'pathType must be specified')];
  if (type === 'Exact' || type === 'Prefix') {
    if (!text.startsWith('/')) errors.push(invalidValue(`${at}.path`, text, 'must be an absolute path'));
    for (const part of ['//', '/./', '/../', '%2f', '%2F']) {
      if (text.includes(part)) errors.push(invalidValue(`${at}.path`, text, `must not contain '${part}'`));
    }
  } else if (type === 'ImplementationSpecific') {
    if (text && !text.startsWith('/')) errors.push(invalidValue(`${at}.path`, text, 'must be an absolute path'));
  } else errors.push(notSupported(`${at}.pathType`, type, ['Exact', 'ImplementationSpecific', 'Prefix']));
  return [...errors, ...backendErrors(asObject(path['backend']) ?? {}, `${at}.backend`)];
}

export const ingressStrategy: Strategy = withStatus({
  hasGeneration: true,
  initialStatus: () => ({ loadBalancer: {} }),
  validate: validateIngress,
  validateUpdate: validateIngress,
  warnings: (object, previous) =>
    !previous && object.metadata.annotations?.['kubernetes.io/ingress.class']
      ? ['annotation "kubernetes.io/ingress.class" is deprecated, please use \'spec.ingressClassName\' instead']
      : [],
  cells: (object, now) => {
    const hosts = asObjects(dig(object, 'spec', 'rules')).flatMap((rule) => asText(rule['host']) || []);
    const addresses = asObjects(dig(object, 'status', 'loadBalancer', 'ingress')).map(
      (entry) => asText(entry['ip']) || asText(entry['hostname']),
    );
    const shown = hosts.length > 3 ? `${hosts.slice(0, 3).join(',')} + ${hosts.length - 3} more...` : hosts.join(',');
    return [
      object.metadata.name ?? '',
      asText(dig(object, 'spec', 'ingressClassName')) || '<none>',
      hosts.length === 0 ? '*' : shown,
      addresses.join(','),
      asList(dig(object, 'spec', 'tls')).length > 0 ? '80, 443' : '80',
      age(object, now),
    ];
  },
});

export const ingressClassStrategy: Strategy = strategyWith({
  hasGeneration: true,
  applyDefaults(object) {
    const parameters = asObject(dig(object, 'spec', 'parameters'));
    if (parameters) defaultTo(parameters, 'scope', 'Cluster');
  },
  validate: (object) => {
    const controller = asText(dig(object, 'spec', 'controller'));
    if (!controller) return [required('spec.controller')];
    const isPath = /^[a-z0-9.-]+\/.+$/.test(controller);
    const rule = 'must be a domain-prefixed path (such as "acme.io/foo")';
    return [
      ...(controller.length > 250 ? [tooLong('spec.controller', 250)] : []),
      ...(isPath ? [] : [invalidValue('spec.controller', controller, rule)]),
    ];
  },
  validateUpdate: (object, previous) =>
    immutable(asObject(object['spec']) ?? {}, asObject(previous['spec']) ?? {}, 'spec', ['controller']),
  cells: (object, now) => {
    const parameters = asObject(dig(object, 'spec', 'parameters'));
    const kind = asText(parameters?.['apiGroup'])
      ? `${asText(parameters!['kind'])}.${asText(parameters!['apiGroup'])}`
      : asText(parameters?.['kind']);
    return [
      object.metadata.name ?? '',
      asText(dig(object, 'spec', 'controller')),
      parameters ? `${kind}/${asText(parameters['name'])}` : '<none>',
      age(object, now),
    ];
  },
});

function validateNetworkPolicy(object: ApiObject): FieldError[] {
  const ports = ['ingress', 'egress'].flatMap((way) =>
    asObjects(dig(object, 'spec', way)).flatMap((rule, index) =>
      asObjects(rule['ports']).flatMap((port, place) =>
        typeof port['port'] === 'number'
          ? portNumberAt(port['port'], `spec.${way}[${index}].ports[${place}].port`)
          : [],
      ),
    ),
  );
  return [...validateSelector(dig(object, 'spec', 'podSelector'), 'spec.podSelector'), ...ports];
}

export const networkPolicyStrategy: Strategy = strategyWith({
  hasGeneration: true,
  applyDefaults(object) {
    const spec = ensureObject(object as unknown as JsonObject, 'spec');
    if (asList(spec['policyTypes']).length === 0) {
      spec['policyTypes'] = asList(spec['egress']).length > 0 ? ['Ingress', 'Egress'] : ['Ingress'];
    }
    for (const rule of [...asObjects(spec['ingress']), ...asObjects(spec['egress'])]) {
      for (const port of asObjects(rule['ports'])) defaultText(port, 'protocol', 'TCP');
    }
  },
  validate: validateNetworkPolicy,
  validateUpdate: validateNetworkPolicy,
  cells: (object, now) => [
    object.metadata.name ?? '',
    selectorText(dig(object, 'spec', 'podSelector')) || '<none>',
    age(object, now),
  ],
});

function sliceText(texts: readonly string[], none: string): string {
  if (texts.length === 0) return none;
  return texts.length > 3 ? `${texts.slice(0, 3).join(',')} + ${texts.length - 3} more...` : texts.join(',');
}

export const endpointSliceStrategy: Strategy = strategyWith({
  hasGeneration: true,
  generationChanged: (next, previous) =>
    ['addressType', 'endpoints', 'ports'].some((name) => !sameValue(next[name], previous[name])) ||
    !sameValue(next.metadata.labels, previous.metadata.labels),
  applyDefaults(object) {
    for (const port of asObjects(object['ports'])) {
      defaultTo(port, 'name', '');
      defaultText(port, 'protocol', 'TCP');
    }
  },
  validate: (object) => {
    const errors: FieldError[] = [];
    const type = asText(object['addressType']);
    if (!type) errors.push(required('addressType'));
    else if (!['FQDN', 'IPv4', 'IPv6'].includes(type))
      errors.push(notSupported('addressType', type, ['FQDN', 'IPv4', 'IPv6']));
    for (const [index, endpoint] of asObjects(object['endpoints']).entries()) {
      if (asList(endpoint['addresses']).length === 0) {
        errors.push(required(`endpoints[${index}].addresses`, 'must contain at least 1 address'));
      }
      if (type === 'FQDN') continue;
      for (const [place, address] of asList(endpoint['addresses']).entries())
        errors.push(...ipAddress(address, `endpoints[${index}].addresses[${place}]`));
    }
    const names = asObjects(object['ports']).map((port) => asText(port['name']));
    for (const [index, given] of names.entries())
      if (names.indexOf(given) < index) errors.push(duplicate(`ports[${index}].name`, given));
    return errors;
  },
  validateUpdate: (object, previous) =>
    immutable(object as unknown as JsonObject, previous as unknown as JsonObject, '', ['addressType']),
  cells: (object, now) => [
    object.metadata.name ?? '',
    asText(object['addressType']),
    sliceText(
      asObjects(object['ports']).map((port) => String(port['port'] ?? (asText(port['name']) || '*'))),
      '<unset>',
    ),
    sliceText(
      asObjects(object['endpoints']).flatMap((endpoint) => asList(endpoint['addresses']).map(asText)),
      '<unset>',
    ),
    age(object, now),
  ],
});

function validateDisruptionBudget(object: ApiObject): FieldError[] {
  const spec = asObject(object['spec']) ?? {};
  const errors: FieldError[] = [];
  if (spec['minAvailable'] != null && spec['maxUnavailable'] != null) {
    const shown = {
      MinAvailable: spec['minAvailable'],
      Selector: spec['selector'] ?? null,
      MaxUnavailable: spec['maxUnavailable'],
      UnhealthyPodEvictionPolicy: spec['unhealthyPodEvictionPolicy'] ?? null,
    };
    errors.push(invalidValue('spec', shown, 'minAvailable and maxUnavailable cannot be both set'));
  }
  return [
    ...errors,
    ...intOrPercent(spec['minAvailable'], 'spec.minAvailable'),
    ...intOrPercent(spec['maxUnavailable'], 'spec.maxUnavailable'),
    ...validateSelector(spec['selector'], 'spec.selector'),
  ];
}

export const disruptionBudgetStrategy: Strategy = withStatus({
  unconditionalUpdate: false,
  hasGeneration: true,
  validate: validateDisruptionBudget,
  validateUpdate: validateDisruptionBudget,
  cells: (object, now) => [
    object.metadata.name ?? '',
    String(dig(object, 'spec', 'minAvailable') ?? 'N/A'),
    String(dig(object, 'spec', 'maxUnavailable') ?? 'N/A'),
    asNumber(dig(object, 'status', 'disruptionsAllowed')) ?? 0,
    age(object, now),
  ],
});

function validateLease(object: ApiObject): FieldError[] {
  const spec = asObject(object['spec']) ?? {};
  const errors: FieldError[] = [];
  const duration = asNumber(spec['leaseDurationSeconds']);
  if (duration !== undefined && duration <= 0) {
    errors.push(invalidValue('spec.leaseDurationSeconds', duration, 'must be greater than 0'));
  }
  const transitions = asNumber(spec['leaseTransitions']);
  if (transitions !== undefined && transitions < 0) {
    errors.push(invalidValue('spec.leaseTransitions', transitions, 'must be greater than or equal to 0'));
  }
  const strategy = asText(spec['strategy']);
  if (strategy) for (const text of qualifiedName(strategy)) errors.push(invalidValue('spec.strategy', strategy, text));
  if (spec['preferredHolder'] != null && !strategy) {
    errors.push(forbiddenField('spec.preferredHolder', 'may only be specified if `strategy` is defined'));
  }
  return errors;
}

export const leaseStrategy: Strategy = strategyWith({
  unconditionalUpdate: false,
  createOnUpdate: true,
  validate: validateLease,
  validateUpdate: validateLease,
  cells: (object, now) => [object.metadata.name ?? '', asText(dig(object, 'spec', 'holderIdentity')), age(object, now)],
});
