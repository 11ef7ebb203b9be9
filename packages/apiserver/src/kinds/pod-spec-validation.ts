import type { FieldError } from '../api-error.ts';
import type { JsonObject } from '../object.ts';
import { givenName, portNumberAt, requiredName } from './field-checks.ts';
import { duplicate, forbiddenField, invalidValue, notSupported, required } from './field-errors.ts';
import { asList, asNumber, asObject, asObjects, asText } from './json-access.ts';
import { validateAnnotations, validateLabels } from './metadata.ts';
import { configMapKey, dnsLabel, dnsSubdomain, environmentName, portName, portNumber } from './names.ts';
import { tokenErrors, validateMounts, validateVolume } from './pod-volumes.ts';
import { compareQuantities } from '../quantity.ts';

/** What is wrong with a pod template; `field` is the template's path. */
export function validatePodTemplate(template: unknown, field: string): FieldError[] {
  const object = asObject(template);
  if (!object) return [required(field)];
  const metadata = asObject(object['metadata']) ?? {};
  return [
    ...validateLabels(metadata['labels'], `${field}.labels`),
    ...validateAnnotations(metadata['annotations'], `${field}.annotations`),
    ...validatePodSpec(asObject(object['spec']) ?? {}, `${field}.spec`),
  ];
}

const containerRestartPolicies: readonly string[] = ['Always', 'Never', 'OnFailure'];

/** What is wrong with a pod spec; `field` is its path. */
export function validatePodSpec(spec: JsonObject, field: string): FieldError[] {
  const errors: FieldError[] = [];
  const volumes = new Set<string>();
  for (const [index, volume] of asObjects(spec['volumes']).entries()) {
    errors.push(...validateVolume(volume, `${field}.volumes[${index}]`, volumes));
    // A template may leave the account to admission, a pod has to name it.
    if (field === 'spec' && !asText(spec['serviceAccountName'])) {
      errors.push(...tokenErrors(volume, `spec.volumes[${index}]`));
    }
  }
  const names = new Set<string>();
  const hostPorts = new Set<string>();
  const containers = asObjects(spec['containers']);
  if (containers.length === 0) errors.push(required(`${field}.containers`));
  for (const [index, container] of containers.entries()) {
    const at = `${field}.containers[${index}]`;
    errors.push(...validateContainer(container, at, names, volumes), ...hostPortErrors(container, at, hostPorts));
  }
  for (const [index, container] of asObjects(spec['initContainers']).entries()) {
    const at = `${field}.initContainers[${index}]`;
    // One runs after the other: only within one of them two ports are in each other's way.
    errors.push(...validateContainer(container, at, names, volumes), ...hostPortErrors(container, at, new Set()));
    const policy = container['restartPolicy'];
    if (policy != null && !containerRestartPolicies.includes(asText(policy)))
      errors.push(notSupported(`${at}.restartPolicy`, policy, containerRestartPolicies));
  }
  errors.push(
    ...oneOf(spec, field, 'restartPolicy', ['Always', 'OnFailure', 'Never']),
    ...oneOf(spec, field, 'dnsPolicy', ['ClusterFirstWithHostNet', 'ClusterFirst', 'Default', 'None']),
    ...(spec['dnsPolicy'] === 'None' && spec['dnsConfig'] == null
      ? [required(`${field}.dnsConfig`, 'must provide `dnsConfig` when `dnsPolicy` is None')]
      : []),
    ...validateLabels(spec['nodeSelector'], `${field}.nodeSelector`),
    ...validateTolerations(asObjects(spec['tolerations']), `${field}.tolerations`),
  );
  const account = asText(spec['serviceAccountName']);
  if (account) {
    for (const text of dnsSubdomain(account)) errors.push(invalidValue(`${field}.serviceAccountName`, account, text));
  }
  const node = asText(spec['nodeName']);
  if (node) for (const text of dnsSubdomain(node)) errors.push(invalidValue(`${field}.nodeName`, node, text));
  const deadline = asNumber(spec['activeDeadlineSeconds']);
  if (deadline !== undefined && deadline < 1) {
    errors.push(
      invalidValue(`${field}.activeDeadlineSeconds`, deadline, 'must be between 1 and 2147483647, inclusive'),
    );
  }
  const host = asText(spec['hostname']);
  if (host) for (const text of dnsLabel(host)) errors.push(invalidValue(`${field}.hostname`, host, text));
  return errors;
}

function oneOf(parent: JsonObject, field: string, key: string, allowed: readonly string[]): FieldError[] {
  const value = asText(parent[key]);
  if (!value) return [required(`${field}.${key}`)];
  return allowed.includes(value) ? [] : [notSupported(`${field}.${key}`, value, allowed)];
}

function validateContainer(
  container: JsonObject,
  field: string,
  names: Set<string>,
  volumes: ReadonlySet<string>,
): FieldError[] {
  const errors: FieldError[] = [];
  const name = asText(container['name']);
  errors.push(...requiredName(name, `${field}.name`, dnsLabel));
  if (names.has(name)) errors.push(duplicate(`${field}.name`, name));
  names.add(name);
  const image = asText(container['image']);
  if (!image) errors.push(required(`${field}.image`));
  else if (image !== image.trim()) {
    errors.push(invalidValue(`${field}.image`, image, 'must not have leading or trailing whitespace'));
  }
  errors.push(
    ...oneOf(container, field, 'terminationMessagePolicy', ['File', 'FallbackToLogsOnError']),
    ...validatePorts(asObjects(container['ports']), `${field}.ports`),
    ...validateEnvironment(asObjects(container['env']), `${field}.env`),
    ...validateEnvironmentSources(asObjects(container['envFrom']), `${field}.envFrom`),
  );
  errors.push(...validateMounts(asObjects(container['volumeMounts']), `${field}.volumeMounts`, volumes));
  errors.push(...oneOf(container, field, 'imagePullPolicy', ['Always', 'IfNotPresent', 'Never']));
  errors.push(...validateResources(asObject(container['resources']) ?? {}, `${field}.resources`));
  for (const probe of ['livenessProbe', 'readinessProbe', 'startupProbe']) {
    const found = asObject(container[probe]);
    if (found) errors.push(...validateProbe(found, `${field}.${probe}`));
  }
  return errors;
}

/** @param taken ports of the node that other containers have already */
function hostPortErrors(container: JsonObject, field: string, taken: Set<string>): FieldError[] {
  return asObjects(container['ports']).flatMap((port, index) => {
    const host = asNumber(port['hostPort']) ?? 0;
    if (host === 0) return [];
    const onHost = `${asText(port['protocol'])}/${asText(port['hostIP'])}/${host}`;
    if (taken.has(onHost)) return [duplicate(`${field}.ports[${index}].hostPort`, onHost)];
    taken.add(onHost);
    return [];
  });
}

function validateTolerations(tolerations: readonly JsonObject[], field: string): FieldError[] {
  return tolerations.flatMap((toleration, index) => {
    const operator = asText(toleration['operator']) || 'Equal';
    const at = `${field}[${index}].operator`;
    const errors: FieldError[] = [];
    // Without a key everything is tolerated, which has to be said.
    if (!asText(toleration['key']) && operator !== 'Exists') {
      const rule = 'operator must be Exists when `key` is empty, which means "match all values and all keys"';
      errors.push(invalidValue(at, operator, rule));
    }
    if (!['Equal', 'Exists'].includes(operator)) errors.push(notSupported(at, operator, ['Equal', 'Exists']));
    return errors;
  });
}

function validatePorts(ports: readonly JsonObject[], field: string): FieldError[] {
  const errors: FieldError[] = [];
  const names = new Set<string>();
  for (const [index, port] of ports.entries()) {
    const at = `${field}[${index}]`;
    const name = asText(port['name']);
    if (name) {
      const texts = portName(name);
      for (const text of texts) errors.push(invalidValue(`${at}.name`, name, text));
      if (texts.length === 0 && names.has(name)) errors.push(duplicate(`${at}.name`, name));
      names.add(name);
    }
    const number = asNumber(port['containerPort']) ?? 0;
    if (number === 0) errors.push(required(`${at}.containerPort`));
    else for (const text of portNumber(number)) errors.push(invalidValue(`${at}.containerPort`, number, text));
    const host = asNumber(port['hostPort']) ?? 0;
    if (host !== 0) for (const text of portNumber(host)) errors.push(invalidValue(`${at}.hostPort`, host, text));
    const protocol = asText(port['protocol']);
    if (!protocol) errors.push(required(`${at}.protocol`));
    else if (!['TCP', 'UDP', 'SCTP'].includes(protocol)) {
      errors.push(notSupported(`${at}.protocol`, protocol, ['SCTP', 'TCP', 'UDP']));
    }
  }
  return errors;
}

function validateEnvironment(variables: readonly JsonObject[], field: string): FieldError[] {
  return variables.flatMap((variable, index) => {
    const at = `${field}[${index}]`;
    const name = asText(variable['name']);
    const errors = name
      ? environmentName(name).map((text) => invalidValue(`${at}.name`, name, text))
      : [required(`${at}.name`)];
    const source = asObject(variable['valueFrom']);
    if (!source) return errors;
    if (asText(variable['value'])) {
      errors.push(invalidValue(`${at}.valueFrom`, '', 'may not be specified when `value` is not empty'));
    }
    const kinds = Object.keys(source).filter((key) => source[key] != null);
    if (kinds.length === 0) {
      errors.push(
        invalidValue(
          `${at}.valueFrom`,
          '',
          'must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`',
        ),
      );
    } else if (kinds.length > 1) {
      errors.push(invalidValue(`${at}.valueFrom`, '', 'may not have more than one field specified at a time'));
    }
    return [...errors, ...valueSourceErrors(source, `${at}.valueFrom`)];
  });
}

/** What a variable may be told of its own pod. */
const podFields: readonly string[] = [
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
  'spec.nodeName',
  'spec.serviceAccountName',
  'status.hostIP',
  'status.hostIPs',
  'status.podIP',
  'status.podIPs',
];

/** Fields of a pod that are known, and nothing for a variable. */
const otherPodFields: readonly string[] = [
  'metadata.annotations',
  'metadata.labels',
  'spec.restartPolicy',
  'spec.schedulerName',
  'status.phase',
];

function valueSourceErrors(source: JsonObject, field: string): FieldError[] {
  const errors: FieldError[] = [];
  const own = asObject(source['fieldRef']);
  if (own) {
    const path = asText(own['fieldPath']);
    const at = `${field}.fieldRef.fieldPath`;
    if (!path) errors.push(required(at));
    else if (otherPodFields.includes(path)) errors.push(notSupported(at, path, podFields));
    // The old name of `spec.nodeName`.
    else if (
      path !== 'spec.host' &&
      !podFields.includes(path) &&
      !/^metadata\.(labels|annotations)\['.+'\]$/.test(path)
    ) {
      errors.push(invalidValue(at, path, `error converting fieldPath: field label not supported: ${path}`));
    }
  }
  for (const kind of ['configMapKeyRef', 'secretKeyRef']) {
    const reference = asObject(source[kind]);
    if (!reference) continue;
    errors.push(...givenName(reference['name'], `${field}.${kind}.name`));
    errors.push(...requiredName(reference['key'], `${field}.${kind}.key`, configMapKey));
  }
  return errors;
}

function validateEnvironmentSources(sources: readonly JsonObject[], field: string): FieldError[] {
  return sources.flatMap((source, index) => {
    const at = `${field}[${index}]`;
    const kinds = ['configMapRef', 'secretRef'].filter((kind) => source[kind] != null);
    // The real server names the list here, not the entry.
    if (kinds.length === 0) return [invalidValue(field, '', 'must specify one of: `configMapRef` or `secretRef`')];
    if (kinds.length > 1) return [invalidValue(field, '', 'may not have more than one field specified at a time')];
    return requiredName(asObject(source[kinds[0]!])?.['name'], `${at}.${kinds[0]}.name`);
  });
}

function validateResources(resources: JsonObject, field: string): FieldError[] {
  const errors: FieldError[] = [];
  const limits = asObject(resources['limits']) ?? {};
  for (const [kind, list] of [
    ['limits', limits],
    ['requests', asObject(resources['requests']) ?? {}],
  ] as const) {
    for (const [name, text] of Object.entries(list)) {
      if (asText(text).startsWith('-')) {
        errors.push(invalidValue(`${field}.${kind}[${name}]`, text, 'must be greater than or equal to 0'));
      }
      if (kind !== 'requests' || limits[name] === undefined) continue;
      if (compareQuantities(asText(text), asText(limits[name])) > 0) {
        errors.push(
          invalidValue(
            `${field}.requests`,
            text,
            `must be less than or equal to ${name} limit of ${asText(limits[name])}`,
          ),
        );
      }
    }
  }
  return errors;
}

function handlerErrors(kind: string, handler: JsonObject, field: string): FieldError[] {
  if (kind === 'exec') return asList(handler['command']).length === 0 ? [required(`${field}.command`)] : [];
  if (kind === 'grpc' || typeof handler['port'] === 'string') return [];
  return portNumberAt(handler['port'], `${field}.port`);
}

function validateProbe(probe: JsonObject, field: string): FieldError[] {
  const [handler, ...extra] = ['exec', 'httpGet', 'tcpSocket', 'grpc'].filter((kind) => probe[kind] != null);
  const errors: FieldError[] = [];
  if (handler === undefined) errors.push(required(field, 'must specify a handler type'));
  else errors.push(...handlerErrors(handler, asObject(probe[handler]) ?? {}, `${field}.${handler}`));
  for (const kind of extra) {
    errors.push(forbiddenField(`${field}.${kind}`, 'may not specify more than 1 handler type'));
  }
  for (const number of [
    'initialDelaySeconds',
    'timeoutSeconds',
    'periodSeconds',
    'successThreshold',
    'failureThreshold',
  ]) {
    const value = asNumber(probe[number]);
    if (value !== undefined && value < 0) {
      errors.push(invalidValue(`${field}.${number}`, value, 'must be greater than or equal to 0'));
    }
  }
  if (
    (field.endsWith('livenessProbe') || field.endsWith('startupProbe')) &&
    asNumber(probe['successThreshold']) !== 1
  ) {
    errors.push(invalidValue(`${field}.successThreshold`, probe['successThreshold'], 'must be 1'));
  }
  return errors;
}
