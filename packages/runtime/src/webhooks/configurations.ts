import { isDeepStrictEqual } from 'node:util';
import {
  type Client,
  CustomResourceDefinition,
  isConflict,
  isNotFound,
  type JsonPatchOperation,
  MutatingWebhookConfiguration,
  ValidatingWebhookConfiguration,
  type Webhook,
  type WebhookClientConfig,
} from '@slipway/kube';

import type { WebhookDefinition } from './webhook.ts';

/** Where the API server reaches the webhooks: a Service in the cluster, or a URL when they run outside. */
export type WebhookAddress = { service: { namespace: string; name: string; port?: number } } | { url: string };

/** The configuration objects that send the API server to `definitions`. */
export function webhookConfigurations(
  name: string,
  definitions: readonly WebhookDefinition[],
  address: WebhookAddress,
  caBundle?: string,
): (ValidatingWebhookConfiguration | MutatingWebhookConfiguration)[] {
  const rows = (type: 'validating' | 'mutating'): Webhook[] =>
    definitions.flatMap((definition) => (definition.type === type ? [webhookRow(definition, address, caBundle)] : []));
  const validating = rows('validating');
  const mutating = rows('mutating');
  const apiVersion = 'admissionregistration.k8s.io/v1' as const;
  const metadata = { name };
  return [
    ...(mutating.length > 0
      ? [{ apiVersion, kind: 'MutatingWebhookConfiguration' as const, metadata, webhooks: mutating }]
      : []),
    ...(validating.length > 0
      ? [{ apiVersion, kind: 'ValidatingWebhookConfiguration' as const, metadata, webhooks: validating }]
      : []),
  ];
}

function webhookRow(
  definition: Extract<WebhookDefinition, { type: 'validating' | 'mutating' }>,
  address: WebhookAddress,
  caBundle: string | undefined,
): Webhook {
  const {
    kind,
    operations,
    failurePolicy = 'Fail',
    timeoutSeconds = 10,
    objectSelector,
    namespaceSelector,
  } = definition;
  return {
    name: definition.name,
    admissionReviewVersions: ['v1'],
    sideEffects: 'None',
    failurePolicy,
    matchPolicy: 'Equivalent',
    timeoutSeconds,
    ...(objectSelector ? { objectSelector: { matchLabels: { ...objectSelector } } } : {}),
    ...(namespaceSelector ? { namespaceSelector: { matchLabels: { ...namespaceSelector } } } : {}),
    rules: [
      {
        apiGroups: [kind.group],
        apiVersions: [kind.version],
        resources: [kind.plural],
        operations: [...operations],
        scope: kind.scope === 'Cluster' ? 'Cluster' : 'Namespaced',
      },
    ],
    clientConfig: clientConfig(definition.path, address, caBundle),
  };
}

export function clientConfig(path: string, address: WebhookAddress, caBundle?: string): WebhookClientConfig {
  const trust = caBundle === undefined ? {} : { caBundle: Buffer.from(caBundle).toString('base64') };
  if ('url' in address) return { url: `${address.url.replace(/\/$/, '')}${path}`, ...trust };
  const { namespace, name, port } = address.service;
  return { service: { namespace, name, path, ...(port === undefined ? {} : { port }) }, ...trust };
}

/** Objects whose webhooks should trust us. */
export interface TrustTargets {
  /** Names of ValidatingWebhookConfigurations. */
  validating?: readonly string[];
  /** Names of MutatingWebhookConfigurations. */
  mutating?: readonly string[];
  /** Names of CustomResourceDefinitions with a conversion webhook. */
  crds?: readonly string[];
}

/** Writes `caBundle` (PEM) into every target that has another. Returns what is missing, in words. */
export async function injectTrust(
  client: Client,
  targets: TrustTargets,
  caBundle: string,
  signal?: AbortSignal,
): Promise<string[]> {
  const encoded = Buffer.from(caBundle).toString('base64');
  const problems: string[] = [];
  const inject = async (
    kind: typeof ValidatingWebhookConfiguration | typeof MutatingWebhookConfiguration | typeof CustomResourceDefinition,
    name: string,
    operationsFor: (object: never) => JsonPatchOperation[],
  ): Promise<void> => {
    const object = await client.get(kind as typeof CustomResourceDefinition, { name }, { signal });
    if (!object) {
      problems.push(`${kind.kind} ${name} does not exist`);
      return;
    }
    const operations = operationsFor(object as never);
    if (operations.length === 0) return;
    try {
      await client.patch(kind as typeof CustomResourceDefinition, { name }, { type: 'json', operations }, { signal });
    } catch (error) {
      // Changed or gone between reading and writing: the next round sees to it.
      if (!isConflict(error) && !isNotFound(error)) throw error;
      problems.push(`${kind.kind} ${name} changed meanwhile`);
    }
  };
  for (const name of targets.validating ?? []) {
    await inject(ValidatingWebhookConfiguration, name, (object: ValidatingWebhookConfiguration) =>
      rowOperations(object.webhooks, encoded),
    );
  }
  for (const name of targets.mutating ?? []) {
    await inject(MutatingWebhookConfiguration, name, (object: MutatingWebhookConfiguration) =>
      rowOperations(object.webhooks, encoded),
    );
  }
  for (const name of targets.crds ?? []) {
    await inject(CustomResourceDefinition, name, (object: CustomResourceDefinition) => {
      const conversion = (object.spec as { conversion?: Conversion }).conversion;
      const config = conversion?.webhook?.clientConfig;
      if (!config) {
        problems.push(`CustomResourceDefinition ${name} has no conversion webhook`);
        return [];
      }
      if (config.caBundle === encoded) return [];
      return [{ op: 'add', path: '/spec/conversion/webhook/clientConfig/caBundle', value: encoded }];
    });
  }
  return problems;
}

interface Conversion {
  strategy?: string;
  webhook?: { clientConfig?: WebhookClientConfig };
}

/**
 * Makes the API server ask conversion webhooks: writes our address and `caBundle` (PEM) into every CRD that says otherwise.
 * Returns what is missing, in words.
 */
export async function registerConversions(
  client: Client,
  webhooks: readonly WebhookDefinition[],
  address: WebhookAddress,
  caBundle: string,
  signal?: AbortSignal,
): Promise<string[]> {
  const problems: string[] = [];
  for (const webhook of webhooks) {
    if (webhook.type !== 'conversion') continue;
    const name = `${webhook.plural}.${webhook.group}`;
    const definition = await client.get(CustomResourceDefinition, { name }, { signal });
    if (!definition) {
      problems.push(`CustomResourceDefinition ${name} does not exist`);
      continue;
    }
    const wanted = clientConfig(webhook.path, address, caBundle);
    const { conversion } = definition.spec as { conversion?: Conversion };
    if (conversion?.strategy === 'Webhook' && asksUs(conversion.webhook?.clientConfig, wanted)) continue;
    const value = { strategy: 'Webhook', webhook: { conversionReviewVersions: ['v1'], clientConfig: wanted } };
    const operations: JsonPatchOperation[] = [{ op: 'add', path: '/spec/conversion', value }];
    await client.patch(CustomResourceDefinition, { name }, { type: 'json', operations }, { signal });
  }
  return problems;
}

/** The server fills in the port of a Service. */
function asksUs(found: WebhookClientConfig | undefined, wanted: WebhookClientConfig): boolean {
  const service = { port: 443, ...wanted.service };
  return (
    found?.url === wanted.url &&
    found?.caBundle === wanted.caBundle &&
    (wanted.service === undefined || isDeepStrictEqual({ port: 443, ...found?.service }, service))
  );
}

/** The name is tested along, so that a row that moved is not given to another. */
function rowOperations(rows: readonly Webhook[] | undefined, encoded: string): JsonPatchOperation[] {
  return (rows ?? []).flatMap((row, index): JsonPatchOperation[] =>
    row.clientConfig.caBundle === encoded
      ? []
      : [
          { op: 'test', path: `/webhooks/${index}/name`, value: row.name },
          { op: 'add', path: `/webhooks/${index}/clientConfig/caBundle`, value: encoded },
        ],
  );
}
