import { AnyFields, type DeepReadonly, defineKind, isRecord, type KubeObject } from '@slipway/kube';

import type { APIServer } from '../../../api/components.ts';
import { backReferences } from '../../../back-references.ts';
import { k8sNameHash } from '../../../name-hashes.ts';
import { names } from '../../../names.ts';
import { laterVersion } from '../../later-version.ts';

export const Shoot = defineKind({
  group: 'core.gardener.cloud',
  version: 'v1beta1',
  kind: 'Shoot',
  scope: 'Namespaced',
  plural: 'shoots',
  spec: AnyFields(),
  status: AnyFields(),
});

/** Where shoots are made and what they look like. */
export interface GardenerConfig {
  readonly project: string;
  readonly projectNamespace: string;
  readonly cloudProfile: string;
  /** Type of the cloud profile, such as `gcp`. */
  readonly providerType: string;
  readonly defaultRegion: string;
  /** Labels and annotations, and what shoots with workers of their own are made from. */
  readonly shootTemplate?: {
    readonly metadata?: Pick<KubeObject['metadata'], 'labels' | 'annotations'>;
    readonly spec?: Readonly<Record<string, unknown>>;
  };
}

type Fields = Record<string, unknown>;

const longestNames = 21;

/** The shoot of a control plane. Most of it cannot change once it is there, so what a present shoot has stays. */
export function desiredShoot(
  apiServer: DeepReadonly<APIServer>,
  present: KubeObject | undefined,
  config: GardenerConfig,
): KubeObject {
  const { spec } = apiServer;
  const { namespace = '', name = '', labels = {} } = apiServer.metadata;
  const overwrite = spec.internal?.gardener?.shootOverwrite;
  const template = config.shootTemplate ?? {};
  const before = fieldsOf(present?.['spec']);
  return {
    ...present,
    apiVersion: Shoot.apiVersion,
    kind: Shoot.kind,
    metadata: {
      ...present?.metadata,
      name:
        present?.metadata.name ??
        overwrite?.name ??
        k8sNameHash(namespace, name).slice(0, longestNames - config.project.length),
      namespace: present?.metadata.namespace ?? overwrite?.namespace ?? config.projectNamespace,
      annotations: {
        ...present?.metadata.annotations,
        ...template.metadata?.annotations,
        'shoot.gardener.cloud/cleanup-extended-apis-finalize-grace-period-seconds': '30',
        'authentication.gardener.cloud/issuer': 'managed',
      },
      labels: {
        ...present?.metadata.labels,
        ...template.metadata?.labels,
        ...backReferences({ namespace, name }),
        ...pick(labels, [names.mcpProjectLabel, names.mcpWorkspaceLabel]),
      },
    },
    spec: {
      ...before,
      purpose: before['purpose'] ?? 'production',
      cloudProfile: before['cloudProfile'] ?? { kind: 'CloudProfile', name: config.cloudProfile },
      region: before['region'] ?? spec.gardener?.region ?? config.defaultRegion,
      hibernation: { ...fieldsOf(before['hibernation']), enabled: false },
      kubernetes: kubernetes(fieldsOf(before['kubernetes']), spec),
      extensions: extensions(before['extensions']),
      ...controlPlane(before, spec),
      ...(spec.type === 'GardenerDedicated'
        ? dedicated(before, template.spec ?? {}, config)
        : provider(before, config)),
    },
  };
}

function kubernetes(before: Fields, { gardener, internal }: DeepReadonly<APIServer['spec']>): Fields {
  const server = fieldsOf(before['kubeAPIServer']);
  const encryption = gardener?.encryptionConfig;
  const { encryptionConfig: _dropped, ...rest } = server;
  const version = laterVersion(before['version'] as string | undefined, internal?.gardener?.k8sVersionOverwrite);
  return {
    ...before,
    ...(version ? { version } : {}),
    kubeAPIServer: {
      ...(gardener ? rest : server),
      runtimeConfig: { ...fieldsOf(server['runtimeConfig']), 'apps/v1': true, 'batch/v1': true },
      ...(encryption ? { encryptionConfig: encryption } : {}),
    },
  };
}

function extensions(before: unknown): { type: string }[] {
  const present = Array.isArray(before) ? (before as { type: string }[]) : [];
  return present.some(({ type }) => type === 'shoot-oidc-service')
    ? present
    : [...present, { type: 'shoot-oidc-service' }];
}

function controlPlane(before: Fields, { gardener }: DeepReadonly<APIServer['spec']>): Fields {
  const failureTolerance = gardener?.highAvailability?.failureToleranceType;
  if (!failureTolerance) return {};
  const highAvailability = { failureTolerance: { type: failureTolerance } };
  return { controlPlane: { ...fieldsOf(before['controlPlane']), highAvailability } };
}

function provider(before: Fields, config: GardenerConfig): Fields {
  return { provider: { type: config.providerType, ...fieldsOf(before['provider']) } };
}

/** A shoot with workers of its own takes network and machines from the template, until it has some. */
function dedicated(before: Fields, template: Readonly<Record<string, unknown>>, config: GardenerConfig): Fields {
  const own = fieldsOf(before['provider']);
  return {
    ...pick(template, ['networking', 'credentialsBindingName', 'secretBindingName']),
    ...pick(before, ['networking', 'credentialsBindingName', 'secretBindingName']),
    provider: { type: config.providerType, ...fieldsOf(template['provider']), ...own },
  };
}

function fieldsOf(value: unknown): Fields {
  return isRecord(value) ? { ...value } : {};
}

function pick<T>(from: Readonly<Record<string, T>>, keys: readonly string[]): Record<string, T> {
  return Object.fromEntries(keys.flatMap((key) => (from[key] === undefined ? [] : [[key, from[key]]])));
}
