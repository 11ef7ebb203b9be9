import { createHash } from 'node:crypto';
import { mutable, type KubeObject } from '@slipway/kube';

import { names } from '../names.ts';
import { Refusal } from '../reasons.ts';
import type { Settings } from '../settings/settings.ts';
import type { ModuleFiles } from './load.ts';
import type { Credentials } from './required-secret.ts';
import { kindKey } from './scopes.ts';

/** Images from the environment of the manager. */
export interface Images {
  /** `SAP_BTP_SERVICE_OPERATOR`. Nothing can be installed while it is empty. */
  readonly serviceOperator: string;
  /** `KUBE_RBAC_PROXY`; needed only when the Deployment has such a container. */
  readonly rbacProxy?: string;
}

export interface Preparation {
  readonly files: ModuleFiles;
  readonly credentials: Credentials;
  readonly settings: Settings;
  readonly images: Images;
  /** Kinds that live outside namespaces, see `clusterScopedKinds`. */
  readonly clusterScoped: ReadonlySet<string>;
  /** Whether the shipped network policies belong to the set. */
  readonly networkPolicies: boolean;
}

interface PodSpecHolder {
  spec?: {
    template?: {
      metadata?: { labels?: Record<string, string>; annotations?: Record<string, string> };
      spec?: { containers?: { name?: string; image?: string }[] };
    };
  };
}

export function isWebhookConfiguration(object: Pick<KubeObject, 'kind'>): boolean {
  return object.kind === 'MutatingWebhookConfiguration' || object.kind === 'ValidatingWebhookConfiguration';
}

/** Step 8: the objects as they belong on this cluster, except for certificates. The input is left as it is. */
export function prepareResources(preparation: Preparation): KubeObject[] {
  const { files, credentials, settings, images } = preparation;
  const objects = mutable([
    ...files.apply,
    ...(preparation.networkPolicies ? files.networkPolicies : []),
  ]) as KubeObject[];
  const configMap = find(objects, 'ConfigMap', names.operatorConfigMap);
  const secret = find(objects, 'Secret', names.credentialsSecret);
  const deployment = find(objects, 'Deployment', settings.deploymentName);
  if (!configMap || !secret || !deployment) {
    throw new Refusal(
      'InconsistentChart',
      `required module resources not found in manifests (configMap=${!!configMap}, secret=${!!secret}, deployment=${!!deployment})`,
    );
  }
  for (const object of objects) {
    label(object, files.chartVersion);
    moveTo(object, settings.chartNamespace, preparation.clusterScoped.has(kindKey(object)));
    completeRules(object);
    delete object.metadata.creationTimestamp;
  }
  fillConfigMap(configMap, credentials, settings);
  fillSecret(secret, credentials);
  fillDeployment(deployment, images, configMap);
  return objects;
}

function find(objects: readonly KubeObject[], kind: string, name: string): KubeObject | undefined {
  return objects.find((object) => object.kind === kind && object.metadata.name === name);
}

function label(object: KubeObject, chartVersion: string): void {
  object.metadata.labels = {
    ...object.metadata.labels,
    [names.managedByLabel]: names.managedByUs,
    [names.chartVersionLabel]: chartVersion,
    [names.moduleLabel]: names.module,
  };
  if (object.kind !== 'Deployment') return;
  const template = (object as PodSpecHolder).spec?.template;
  if (template) template.metadata = withLabel(template.metadata);
}

function withLabel(metadata: { labels?: Record<string, string> } | undefined) {
  return { ...metadata, labels: { ...metadata?.labels, [names.moduleLabel]: names.module } };
}

/** Puts an object, and what it says about where others are, into the namespace of the module. */
function moveTo(object: KubeObject, namespace: string, isClusterScoped: boolean): void {
  if (isClusterScoped) delete object.metadata.namespace;
  else object.metadata.namespace = namespace;
  const { subjects, webhooks } = object as {
    subjects?: { kind?: string; namespace?: string }[];
    webhooks?: { clientConfig?: { service?: { namespace?: string } } }[];
  };
  for (const subject of subjects ?? []) if (subject.kind === 'ServiceAccount') subject.namespace = namespace;
  for (const webhook of webhooks ?? [])
    if (webhook.clientConfig?.service) webhook.clientConfig.service.namespace = namespace;
}

/** Says what the server would otherwise fill in: only so can a manager that has just started see that nothing needs to be written. */
function completeRules(object: KubeObject): void {
  if (!isWebhookConfiguration(object)) return;
  for (const { rules = [] } of (object['webhooks'] ?? []) as { rules?: { scope?: string }[] }[])
    for (const rule of rules) rule.scope ??= '*';
}

function fillConfigMap(configMap: KubeObject, credentials: Credentials, settings: Settings): void {
  configMap['data'] = {
    ...(configMap['data'] as Record<string, string> | undefined),
    CLUSTER_ID: credentials.clusterId,
    RELEASE_NAMESPACE: credentials.namespace,
    MANAGEMENT_NAMESPACE: credentials.namespace,
    ENABLE_LIMITED_CACHE: settings.enableLimitedCache,
  };
}

const notCredentials = new Set(['cluster_id', 'credentials_namespace']);

function fillSecret(secret: KubeObject, credentials: Credentials): void {
  secret.metadata.namespace = credentials.namespace;
  const given = Object.entries(credentials.data).filter(([key]) => !notCredentials.has(key));
  secret['data'] = { ...(secret['data'] as Record<string, string> | undefined), ...Object.fromEntries(given) };
}

function fillDeployment(deployment: KubeObject, images: Images, configMap: KubeObject): void {
  const template = (deployment as PodSpecHolder).spec?.template;
  const containers = template?.spec?.containers ?? [];
  const name = deployment.metadata.name;
  const manager = containers.find((container) => container.name === names.operatorContainer);
  if (!template || !manager)
    throw new Refusal('PreparingInstallInfoFailed', `Deployment ${name} has no container "${names.operatorContainer}"`);
  if (images.serviceOperator === '') throw noImage();
  manager.image = images.serviceOperator;
  const proxy = containers.find((container) => container.name === names.proxyContainer);
  if (proxy) {
    if (!images.rbacProxy && !proxy.image) {
      throw new Refusal(
        'PreparingInstallInfoFailed',
        `Deployment ${name} has a container "${names.proxyContainer}" without an image; set KUBE_RBAC_PROXY`,
      );
    }
    proxy.image = images.rbacProxy || proxy.image;
  }
  // The service operator reads its configuration when it starts. With the hash in the template the Deployment replaces the pods
  // by itself, and nothing has to be remembered between the change and the restart.
  const hash = createHash('sha256')
    .update(JSON.stringify(sorted(configMap['data'])))
    .digest('hex')
    .slice(0, 32);
  template.metadata = {
    ...template.metadata,
    annotations: { ...template.metadata?.annotations, [names.configurationHashAnnotation]: hash },
  };
}

/** Also said when the process starts: nothing on the cluster can mend it. */
export function noImage(): Refusal {
  const text =
    'there is no image to install; set SAP_BTP_SERVICE_OPERATOR (or --service-operator-image) for the manager';
  return new Refusal('PreparingInstallInfoFailed', text);
}

function sorted(data: unknown): [string, string][] {
  return Object.entries((data ?? {}) as Record<string, string>).sort(([a], [b]) => (a < b ? -1 : 1));
}

/** `objects` with the CA bundle in every webhook. */
export function withCaBundle(objects: readonly KubeObject[], caBundle: string): KubeObject[] {
  return objects.map((object) => {
    if (!isWebhookConfiguration(object)) return object;
    const webhooks = (object['webhooks'] ?? []) as { clientConfig?: object }[];
    return {
      ...object,
      webhooks: webhooks.map((webhook) => ({ ...webhook, clientConfig: { ...webhook.clientConfig, caBundle } })),
    };
  });
}
