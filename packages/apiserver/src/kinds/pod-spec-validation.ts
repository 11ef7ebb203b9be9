import type { FieldError } from '../api-error.ts';
import type { JsonObject } from '../object.ts';
import { portNumberAt, requiredName } from './field-checks.ts';
import { duplicate, forbiddenField, invalidValue, notFoundValue, notSupported, required } from './field-errors.ts';
import { asNumber, asObject, asObjects, asText } from './json-access.ts';
import { validateAnnotations, validateLabels } from './metadata.ts';
import { configMapKey, dnsLabel, dnsSubdomain, environmentName, portName, portNumber } from './names.ts';
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
  const containers = asObjects(spec['containers']);
  if (containers.length === 0) errors.push(required(`${field}.containers`));
  for (const [index, container] of containers.entries()) {
    errors.push(...validateContainer(container, `${field}.containers[${index}]`, names, volumes));
  }
  for (const [index, container] of asObjects(spec['initContainers']).entries()) {
    const at = `${field}.initContainers[${index}]`;
    errors.push(...validateContainer(container, at, names, volumes));
    if (container['restartPolicy'] != null) errors.push(...oneOf(container, at, 'restartPolicy', ['Always']));
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

function tokenErrors(volume: JsonObject, field: string): FieldError[] {
  return asObjects(asObject(volume['projected'])?.['sources']).flatMap((source, index) =>
    source['serviceAccountToken'] == null
      ? []
      : [
          forbiddenField(
            `${field}.projected.sources[${index}].serviceAccountToken`,
            'must not be specified when serviceAccountName is not set',
          ),
        ],
  );
}

/** What the volume is made of, in the order the real server looks: all but the first are too many. */
function volumeSources(volume: JsonObject): string[] {
  const given = Object.keys(volume).filter((key) => key !== 'name' && volume[key] != null);
  const rank = (key: string) => ['emptyDir', 'hostPath'].indexOf(key) >>> 0;
  return given.toSorted((a, b) => rank(a) - rank(b));
}

function validateVolume(volume: JsonObject, field: string, names: Set<string>): FieldError[] {
  const errors: FieldError[] = [];
  const name = asText(volume['name']);
  if (!name) errors.push(required(`${field}.name`));
  else for (const text of dnsLabel(name)) errors.push(invalidValue(`${field}.name`, name, text));
  const sources = volumeSources(volume);
  if (sources.length === 0) errors.push(required(field, 'must specify a volume type'));
  for (const extra of sources.slice(1)) {
    errors.push(forbiddenField(`${field}.${extra}`, 'may not specify more than 1 volume type'));
  }
  if (names.has(name)) errors.push(duplicate(`${field}.name`, name));
  names.add(name);
  const secret = asObject(volume['secret']);
  if (secret && !secret['secretName']) errors.push(required(`${field}.secret.secretName`));
  const config = asObject(volume['configMap']);
  if (config && !config['name']) errors.push(required(`${field}.configMap.name`));
  const claim = asObject(volume['persistentVolumeClaim']);
  if (claim && !claim['claimName']) errors.push(required(`${field}.persistentVolumeClaim.claimName`));
  const hostPath = asObject(volume['hostPath']);
  if (hostPath && !hostPath['path']) errors.push(required(`${field}.hostPath.path`));
  return errors;
}

function validateContainer(
  container: JsonObject,
  field: string,
  names: Set<string>,
  volumes: ReadonlySet<string>,
): FieldError[] {
  const errors: FieldError[] = [];
  const name = asText(container['name']);
  if (!name) errors.push(required(`${field}.name`));
  else {
    for (const text of dnsLabel(name)) errors.push(invalidValue(`${field}.name`, name, text));
    if (names.has(name)) errors.push(duplicate(`${field}.name`, name));
    names.add(name);
  }
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
  for (const [index, mount] of asObjects(container['volumeMounts']).entries()) {
    const at = `${field}.volumeMounts[${index}]`;
    const mounted = asText(mount['name']);
    if (!mounted) errors.push(required(`${at}.name`));
    else if (!volumes.has(mounted)) errors.push(notFoundValue(`${at}.name`, mounted));
    if (!mount['mountPath']) errors.push(required(`${at}.mountPath`));
  }
  errors.push(...oneOf(container, field, 'imagePullPolicy', ['Always', 'IfNotPresent', 'Never']));
  errors.push(...validateResources(asObject(container['resources']) ?? {}, `${field}.resources`));
  for (const probe of ['livenessProbe', 'readinessProbe', 'startupProbe']) {
    const found = asObject(container[probe]);
    if (found) errors.push(...validateProbe(found, `${field}.${probe}`));
  }
  return errors;
}

function validateTolerations(tolerations: readonly JsonObject[], field: string): FieldError[] {
  return tolerations.flatMap((toleration, index) => {
    const operator = asText(toleration['operator']) || 'Equal';
    const at = `${field}[${index}].operator`;
    if (!['Equal', 'Exists'].includes(operator)) return [notSupported(at, operator, ['Equal', 'Exists'])];
    // Without a key everything is tolerated, which has to be said.
    return asText(toleration['key']) || operator === 'Exists'
      ? []
      : [
          invalidValue(
            at,
            operator,
            'operator must be Exists when `key` is empty, which means "match all values and all keys"',
          ),
        ];
  });
}

function validatePorts(ports: readonly JsonObject[], field: string): FieldError[] {
  const errors: FieldError[] = [];
  const names = new Set<string>();
  const hostPorts = new Set<string>();
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
    const onHost = `${protocol}/${asText(port['hostIP'])}/${host}`;
    if (host !== 0 && hostPorts.has(onHost)) errors.push(duplicate(`${at}.hostPort`, onHost));
    hostPorts.add(onHost);
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

function valueSourceErrors(source: JsonObject, field: string): FieldError[] {
  const errors: FieldError[] = [];
  const own = asObject(source['fieldRef']);
  if (own) {
    const path = asText(own['fieldPath']);
    const at = `${field}.fieldRef.fieldPath`;
    if (!path) errors.push(required(at));
    else if (!podFields.includes(path) && !/^metadata\.(labels|annotations)\['.+'\]$/.test(path)) {
      errors.push(notSupported(at, path, podFields));
    }
  }
  for (const kind of ['configMapKeyRef', 'secretKeyRef']) {
    const reference = asObject(source[kind]);
    if (!reference) continue;
    errors.push(...requiredName(reference['name'], `${field}.${kind}.name`));
    errors.push(...requiredName(reference['key'], `${field}.${kind}.key`, configMapKey));
  }
  return errors;
}

function validateEnvironmentSources(sources: readonly JsonObject[], field: string): FieldError[] {
  return sources.flatMap((source, index) => {
    const at = `${field}[${index}]`;
    const kinds = ['configMapRef', 'secretRef'].filter((kind) => source[kind] != null);
    if (kinds.length === 0) {
      return [invalidValue(`${at}`, '', 'must specify one of: `configMapRef` or `secretRef`')];
    }
    if (kinds.length > 1) return [invalidValue(`${at}`, '', 'may not have more than one field specified at a time')];
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

function validateProbe(probe: JsonObject, field: string): FieldError[] {
  const handlers = ['exec', 'httpGet', 'tcpSocket', 'grpc'].filter((kind) => probe[kind] != null);
  const errors: FieldError[] = [];
  if (handlers.length === 0) errors.push(required(field, 'must specify a handler type'));
  for (const kind of ['httpGet', 'tcpSocket'] as const) {
    const handler = asObject(probe[kind]);
    if (handler && typeof handler['port'] !== 'string') {
      errors.push(...portNumberAt(handler['port'], `${field}.${kind}.port`));
    }
  }
  for (const extra of handlers.slice(1)) {
    errors.push(forbiddenField(`${field}.${extra}`, 'may not specify more than 1 handler type'));
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
