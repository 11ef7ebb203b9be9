import type { FieldError } from '../api-error.ts';
import type { ApiObject, JsonObject } from '../object.ts';
import type { Strategy, StrategyContext } from '../resource.ts';
import { ageOf } from './ages.ts';
import { duplicate, invalidValue, notSupported, required } from './field-errors.ts';
import { asList, asNumber, asObject, asObjects, asText, defaultText, defaultTo, ensureObject } from './json-access.ts';
import { validateLabels } from './metadata.ts';
import { dnsLabel, dnsSubdomain, portName, portNumber } from './names.ts';
import { labelsText } from './selectors.ts';
import {
  allocateAddress,
  allocateNodePorts,
  allocationErrors,
  hasNodePorts,
  isExternal,
  specOf,
} from './service-allocation.ts';
import { withStatus } from './with-status.ts';

function applyDefaults(object: ApiObject): void {
  const spec = specOf(object);
  defaultText(spec, 'sessionAffinity', 'None');
  if (spec['sessionAffinity'] === 'None') delete spec['sessionAffinityConfig'];
  else if (spec['sessionAffinity'] === 'ClientIP') {
    const client = ensureObject(ensureObject(spec, 'sessionAffinityConfig'), 'clientIP');
    defaultTo(client, 'timeoutSeconds', 10_800);
  }
  defaultText(spec, 'type', 'ClusterIP');
  for (const port of asObjects(spec['ports'])) {
    defaultText(port, 'protocol', 'TCP');
    if (port['targetPort'] == null || port['targetPort'] === 0 || port['targetPort'] === '') {
      if (port['port'] !== undefined) port['targetPort'] = port['port'];
    }
  }
  if (spec['type'] === 'NodePort' || spec['type'] === 'LoadBalancer') {
    defaultText(spec, 'externalTrafficPolicy', 'Cluster');
  }
  if (spec['type'] === 'LoadBalancer') defaultTo(spec, 'allocateLoadBalancerNodePorts', true);
  if (!isExternal(spec)) defaultText(spec, 'internalTrafficPolicy', 'Cluster');
  const ingress = asObjects(asObject(asObject(object['status'])?.['loadBalancer'])?.['ingress']);
  for (const entry of ingress) if (entry['ip']) defaultTo(entry, 'ipMode', 'VIP');
}

/** `clusterIP` and `clusterIPs[0]` are two names of one thing; old clients know only the first. */
function alignClusterIps(spec: JsonObject, previous: JsonObject | undefined): void {
  const single = asText(spec['clusterIP']);
  const several = asList(spec['clusterIPs']);
  if (!previous) {
    if (single && several.length === 0) spec['clusterIPs'] = [single];
    return;
  }
  const before = asText(previous['clusterIP']);
  if (before && !single && asList(previous['clusterIPs'])[0] === several[0]) delete spec['clusterIPs'];
  else if (single !== before && several[0] === asList(previous['clusterIPs'])[0]) {
    if (single) spec['clusterIPs'] = [single];
    else delete spec['clusterIPs'];
  } else if (single && several.length === 0) spec['clusterIPs'] = [single];
}

function settleFamilies(spec: JsonObject): void {
  if (isExternal(spec)) return;
  const first = asText(asList(spec['clusterIPs'])[0]);
  // Nothing is allocated for a headless Service without a selector: who fills its endpoints may use both families.
  if (first === 'None' && Object.keys(asObject(spec['selector']) ?? {}).length === 0) {
    defaultText(spec, 'ipFamilyPolicy', 'RequireDualStack');
    if (spec['ipFamilyPolicy'] !== 'SingleStack' && asList(spec['ipFamilies']).length === 0) {
      spec['ipFamilies'] = ['IPv4', 'IPv6'];
    }
  }
  if (asList(spec['ipFamilies']).length === 0) spec['ipFamilies'] = [first.includes(':') ? 'IPv6' : 'IPv4'];
  defaultText(spec, 'ipFamilyPolicy', 'SingleStack');
}

function prepareForCreate(object: ApiObject, context: StrategyContext): void {
  const spec = specOf(object);
  alignClusterIps(spec, undefined);
  settleFamilies(spec);
  // An address asked for by name stays as it is; validation says whether it is free.
  allocateAddress(spec, context);
  allocateNodePorts(object, context);
}

function prepareForUpdate(object: ApiObject, previous: ApiObject, context: StrategyContext): void {
  const spec = specOf(object);
  const before = asObject(previous['spec']) ?? {};
  alignClusterIps(spec, before);
  if (isExternal(spec)) {
    if (!isExternal(before)) {
      for (const field of ['clusterIP', 'clusterIPs', 'ipFamilies', 'ipFamilyPolicy', 'internalTrafficPolicy'])
        delete spec[field];
    }
  } else if (!isExternal(before)) {
    for (const field of ['clusterIPs', 'ipFamilies']) {
      if (asList(spec[field]).length === 0 && before[field] !== undefined) spec[field] = before[field];
    }
    for (const field of ['clusterIP', 'ipFamilyPolicy']) {
      if (!asText(spec[field]) && before[field] !== undefined) spec[field] = before[field];
    }
  }
  if (hasNodePorts(spec) && hasNodePorts(before)) {
    const known = new Map(
      asObjects(before['ports']).map((port) => [
        `${asText(port['protocol'])}/${asNumber(port['port'])}`,
        port['nodePort'],
      ]),
    );
    for (const port of asObjects(spec['ports'])) {
      const kept = known.get(`${asText(port['protocol'])}/${asNumber(port['port'])}`);
      if (!port['nodePort'] && kept !== undefined) port['nodePort'] = kept;
    }
  } else if (!hasNodePorts(spec) && hasNodePorts(before)) {
    const old = new Set(asObjects(before['ports']).map((port) => port['nodePort']));
    for (const port of asObjects(spec['ports'])) if (old.has(port['nodePort'])) delete port['nodePort'];
  }
  if (spec['type'] === 'ClusterIP') delete spec['externalTrafficPolicy'];
  if (spec['type'] !== 'LoadBalancer') {
    delete spec['allocateLoadBalancerNodePorts'];
    object['status'] = { loadBalancer: {} };
  }
  settleFamilies(spec);
  allocateAddress(spec, context);
  allocateNodePorts(object, context);
}

const serviceTypes = ['ClusterIP', 'ExternalName', 'LoadBalancer', 'NodePort'];

function validate(object: ApiObject): FieldError[] {
  const spec = specOf(object);
  const errors: FieldError[] = [];
  const ports = asObjects(spec['ports']);
  const headless = asList(spec['clusterIPs'])[0] === 'None';
  if (ports.length === 0 && !headless && !isExternal(spec)) errors.push(required('spec.ports'));
  if (isExternal(spec)) {
    const name = asText(spec['externalName']).replace(/\.$/, '');
    if (!name) errors.push(required('spec.externalName'));
    else for (const text of dnsSubdomain(name)) errors.push(invalidValue('spec.externalName', name, text));
  }
  if (headless && (spec['type'] === 'NodePort' || spec['type'] === 'LoadBalancer')) {
    errors.push(
      invalidValue('spec.clusterIPs[0]', 'None', `may not be set to 'None' for ${asText(spec['type'])} services`),
    );
  }
  errors.push(...validatePorts(ports), ...validateLabels(spec['selector'], 'spec.selector'));
  if (!['ClientIP', 'None'].includes(asText(spec['sessionAffinity']))) {
    errors.push(notSupported('spec.sessionAffinity', spec['sessionAffinity'], ['ClientIP', 'None']));
  }
  if (!serviceTypes.includes(asText(spec['type']))) errors.push(notSupported('spec.type', spec['type'], serviceTypes));
  return errors;
}

function validatePorts(ports: readonly JsonObject[]): FieldError[] {
  const errors: FieldError[] = [];
  const names = new Set<string>();
  const seen = new Set<string>();
  const nodePorts = new Set<string>();
  for (const [index, port] of ports.entries()) {
    const at = `spec.ports[${index}]`;
    const name = asText(port['name']);
    if (!name) {
      if (ports.length > 1) errors.push(required(`${at}.name`));
    } else {
      for (const text of dnsLabel(name)) errors.push(invalidValue(`${at}.name`, name, text));
      if (names.has(name)) errors.push(duplicate(`${at}.name`, name));
      names.add(name);
    }
    const number = asNumber(port['port']) ?? 0;
    for (const text of portNumber(number)) errors.push(invalidValue(`${at}.port`, number, text));
    const protocol = asText(port['protocol']);
    if (!['TCP', 'UDP', 'SCTP'].includes(protocol)) {
      errors.push(notSupported(`${at}.protocol`, protocol, ['SCTP', 'TCP', 'UDP']));
    }
    const target = port['targetPort'];
    if (typeof target === 'number') {
      for (const text of portNumber(target)) errors.push(invalidValue(`${at}.targetPort`, target, text));
    } else if (typeof target === 'string') {
      for (const text of portName(target)) errors.push(invalidValue(`${at}.targetPort`, target, text));
    }
    const node = asNumber(port['nodePort']);
    const onNodes = `${protocol}/${node}`;
    if (node && nodePorts.has(onNodes)) errors.push(duplicate(`${at}.nodePort`, node));
    nodePorts.add(onNodes);
    const key = `${protocol}/${number}`;
    if (seen.has(key)) {
      // The bare port as the real server's own type prints it.
      const shown = { Name: '', Protocol: protocol, AppProtocol: null, Port: number, TargetPort: 0, NodePort: 0 };
      errors.push(duplicate(at, shown));
    }
    seen.add(key);
  }
  return errors;
}

/** What cannot be allocated is all that is said of a Service: the real server allocates before it validates. */
function serviceErrors(object: ApiObject, previous: ApiObject | undefined, context: StrategyContext): FieldError[] {
  const unallocated = allocationErrors(object, previous, context);
  return unallocated.length > 0 ? unallocated : validate(object);
}

function validateUpdate(object: ApiObject, previous: ApiObject, context: StrategyContext): FieldError[] {
  const spec = specOf(object);
  const before = asObject(previous['spec']) ?? {};
  const errors: FieldError[] = [];
  const kept = asText(asList(before['clusterIPs'])[0]);
  if (!isExternal(spec) && !isExternal(before) && kept && asText(asList(spec['clusterIPs'])[0]) !== kept) {
    errors.push(invalidValue('spec.clusterIPs[0]', spec['clusterIPs'], 'may not change once set'));
    return [...errors, ...validate(object)];
  }
  return serviceErrors(object, previous, context);
}

function portsText(ports: readonly JsonObject[]): string {
  if (ports.length === 0) return '<none>';
  return ports
    .map((port) => {
      const node = asNumber(port['nodePort']);
      return `${asNumber(port['port'])}${node ? `:${node}` : ''}/${asText(port['protocol'])}`;
    })
    .join(',');
}

function externalAddress(object: ApiObject, spec: JsonObject): string {
  const manual = asList(spec['externalIPs']).map(asText);
  switch (spec['type']) {
    case 'LoadBalancer': {
      const ingress = asObjects(asObject(asObject(object['status'])?.['loadBalancer'])?.['ingress']);
      const addresses = ingress.map((entry) => asText(entry['ip']) || asText(entry['hostname']));
      const all = [...addresses, ...manual].filter(Boolean);
      return all.length > 0 ? all.join(',') : '<pending>';
    }
    case 'ExternalName':
      return asText(spec['externalName']) || '<unknown>';
    default:
      return manual.length > 0 ? manual.join(',') : '<none>';
  }
}

export const serviceStrategy: Strategy = withStatus({
  createOnUpdate: true,
  deleteReturnsObject: true,
  initialStatus: () => ({ loadBalancer: {} }),
  applyDefaults,
  prepareForCreate,
  prepareForUpdate,
  validate: (object, context) => serviceErrors(object, undefined, context),
  validateUpdate,
  validateName: dnsLabel,
  selectableFields: {
    'spec.clusterIP': (object) => asText(asObject(object['spec'])?.['clusterIP']),
    'spec.type': (object) => asText(asObject(object['spec'])?.['type']),
  },
  cells: (object, now) => {
    const spec = asObject(object['spec']) ?? {};
    return [
      object.metadata.name ?? '',
      asText(spec['type']),
      asText(spec['clusterIP']) || '<none>',
      externalAddress(object, spec),
      portsText(asObjects(spec['ports'])),
      ageOf(object.metadata.creationTimestamp, now),
      labelsText(spec['selector']) || '<none>',
    ];
  },
});
