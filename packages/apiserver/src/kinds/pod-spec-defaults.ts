import type { Json, JsonObject } from '../object.ts';
import { asObject, asObjects, asText, defaultText, defaultTo, ensureObject } from './json-access.ts';

const fileMode = 0o644;

/** Defaults of a pod template, in place: `parent` holds the `template`. */
export function defaultPodTemplate(parent: JsonObject): void {
  const template = asObject(parent['template']);
  if (!template) return;
  ensureObject(template, 'metadata');
  defaultPodSpec(ensureObject(template, 'spec'));
}

/** Defaults every pod spec gets, whether in a pod or in a template. */
export function defaultPodSpec(spec: JsonObject): void {
  defaultText(spec, 'restartPolicy', 'Always');
  defaultTo(spec, 'terminationGracePeriodSeconds', 30);
  defaultText(spec, 'dnsPolicy', 'ClusterFirst');
  ensureObject(spec, 'securityContext');
  // The old name of the field goes on to be served.
  if (!spec['serviceAccountName'] && spec['serviceAccount']) spec['serviceAccountName'] = spec['serviceAccount'];
  if (spec['serviceAccountName']) spec['serviceAccount'] = spec['serviceAccountName'];
  defaultText(spec, 'schedulerName', 'default-scheduler');
  for (const container of containersOf(spec)) defaultContainer(container, spec['hostNetwork'] === true);
  for (const volume of asObjects(spec['volumes'])) defaultVolume(volume);
}

/** Init, ordinary and ephemeral containers, in this order. */
export function containersOf(spec: JsonObject): JsonObject[] {
  return ['initContainers', 'containers', 'ephemeralContainers'].flatMap((field) => asObjects(spec[field]));
}

/** What a bare pod gets on top: templates leave these to the pods made from them. */
export function defaultBarePod(spec: JsonObject): void {
  defaultTo(spec, 'enableServiceLinks', true);
  if (spec['hostNetwork'] === true) {
    for (const container of [...asObjects(spec['containers']), ...asObjects(spec['initContainers'])]) {
      for (const port of asObjects(container['ports']))
        if (!port['hostPort']) port['hostPort'] = port['containerPort']!;
    }
  }
  for (const container of [...asObjects(spec['containers']), ...asObjects(spec['initContainers'])]) {
    const resources = asObject(container['resources']);
    const limits = asObject(resources?.['limits']);
    if (!resources || !limits) continue;
    const requests = ensureObject(resources, 'requests');
    for (const [name, quantity] of Object.entries(limits)) defaultTo(requests, name, quantity);
  }
}

function defaultContainer(container: JsonObject, hostNetwork: boolean): void {
  for (const port of asObjects(container['ports'])) {
    defaultText(port, 'protocol', 'TCP');
    if (hostNetwork && !port['hostPort'] && port['containerPort'] !== undefined)
      port['hostPort'] = port['containerPort'];
  }
  ensureObject(container, 'resources');
  defaultText(container, 'terminationMessagePath', '/dev/termination-log');
  defaultText(container, 'terminationMessagePolicy', 'File');
  defaultText(container, 'imagePullPolicy', isLatest(asText(container['image'])) ? 'Always' : 'IfNotPresent');
  for (const variable of asObjects(container['env'])) {
    const reference = asObject(asObject(variable['valueFrom'])?.['fieldRef']);
    if (reference) defaultText(reference, 'apiVersion', 'v1');
  }
  for (const name of ['livenessProbe', 'readinessProbe', 'startupProbe']) {
    const probe = asObject(container[name]);
    if (probe) defaultProbe(probe);
  }
  const lifecycle = asObject(container['lifecycle']);
  for (const hook of ['postStart', 'preStop']) defaultHttpGet(asObject(lifecycle?.[hook]));
}

/** No tag at all means `latest`; a digest alone does not. */
export function isLatest(image: string): boolean {
  const [name, digest] = image.split('@');
  const lastPart = name!.slice(name!.lastIndexOf('/') + 1);
  const tag = lastPart.includes(':') ? lastPart.slice(lastPart.indexOf(':') + 1) : '';
  if (tag) return tag === 'latest';
  return digest === undefined;
}

function defaultProbe(probe: JsonObject): void {
  const numbers: Readonly<Record<string, number>> = {
    timeoutSeconds: 1,
    periodSeconds: 10,
    successThreshold: 1,
    failureThreshold: 3,
  };
  for (const [name, value] of Object.entries(numbers)) if (!probe[name]) probe[name] = value;
  defaultHttpGet(probe);
  const grpc = asObject(probe['grpc']);
  if (grpc) defaultTo(grpc, 'service', '');
}

function defaultHttpGet(handler: JsonObject | undefined): void {
  const request = asObject(handler?.['httpGet']);
  if (!request) return;
  defaultText(request, 'path', '/');
  defaultText(request, 'scheme', 'HTTP');
}

function defaultVolume(volume: JsonObject): void {
  if (Object.keys(volume).every((key) => key === 'name')) volume['emptyDir'] = {};
  for (const source of ['secret', 'configMap', 'downwardAPI', 'projected']) {
    const found = asObject(volume[source]);
    if (found) defaultTo(found, 'defaultMode', fileMode);
  }
  const hostPath = asObject(volume['hostPath']);
  if (hostPath) defaultTo(hostPath, 'type', '');
  const projections = asObjects(asObject(volume['projected'])?.['sources']);
  for (const projection of projections) {
    const token = asObject(projection['serviceAccountToken']);
    if (token) defaultTo(token, 'expirationSeconds', 3600);
  }
  const downward = [volume, ...projections].flatMap((holder) => asObjects(asObject(holder['downwardAPI'])?.['items']));
  for (const item of downward) {
    const reference = asObject(item['fieldRef']);
    if (reference) defaultText(reference, 'apiVersion', 'v1');
  }
  const claim = asObject(asObject(asObject(volume['ephemeral'])?.['volumeClaimTemplate'])?.['spec']);
  if (claim) defaultTo(claim, 'volumeMode', 'Filesystem');
  const iscsi = asObject(volume['iscsi']);
  if (iscsi) defaultText(iscsi, 'iscsiInterface', 'default');
  for (const [source, defaults] of Object.entries(rareSources)) {
    const found = asObject(volume[source]);
    if (found) for (const [key, value] of Object.entries(defaults)) defaultTo(found, key, value);
  }
}

const rareSources: Readonly<Record<string, Readonly<Record<string, Json>>>> = {
  rbd: { pool: 'rbd', user: 'admin', keyring: '/etc/ceph/keyring' },
  azureDisk: { cachingMode: 'ReadWrite', kind: 'Shared', fsType: 'ext4', readOnly: false },
  scaleIO: { storageMode: 'ThinProvisioned', fsType: 'xfs' },
};
