import { equalJson } from './equal-json.ts';
import type { WebhookClient, WebhookClientConfig } from './admission/webhook-client.ts';
import type { Clock } from './clock.ts';
import type { ConvertObjects } from './crd/conversion.ts';
import { acceptNames } from './crd/crd-strategy.ts';
import { resourcesOfCrd } from './crd/custom-resources.ts';
import type { LocalClient } from './local-client.ts';
import type { ApiObject } from './object.ts';
import type { Random } from './random.ts';
import type { Registry } from './registry.ts';
import type { Store } from './store/store.ts';

const crdStorage = 'customresourcedefinitions.apiextensions.k8s.io';
const crds = { group: 'apiextensions.k8s.io', version: 'v1', plural: 'customresourcedefinitions' };
const conversionTimeoutMs = 30_000;

export interface CrdFollowerOptions {
  readonly store: Store;
  readonly registry: Registry;
  /** Writes the conditions. */
  readonly client: LocalClient;
  /** Reaches conversion webhooks. */
  readonly webhooks: WebhookClient;
  readonly clock: Clock;
  readonly random: Random;
}

/** Serves the kinds of stored CRDs, from the very write that stores one to the one that removes it, and says so in their status. */
export function followCrds(options: CrdFollowerOptions): void {
  const { store, registry, clock, client } = options;
  const convert = conversionWebhook(options);

  const settle = (crd: ApiObject) => {
    const others = store
      .list(crdStorage)
      .flatMap(({ object }) => (object.metadata.uid === crd.metadata.uid ? [] : [object]));
    const named = acceptNames(crd, others, clock.now());
    if (isEstablished(named ?? crd)) registry.replace(crd.metadata.name!, resourcesOfCrd(crd, { convert }));
    if (!named || crd.metadata.deletionTimestamp) return;
    // When someone else wrote first, that write brings us here again.
    client.update({ ...crds, name: crd.metadata.name!, subresource: 'status' }, named).catch(() => undefined);
  };

  for (const { object } of store.list(crdStorage)) settle(object);
  store.subscribe(crdStorage, ({ type, entry, previous }) => {
    const { object } = entry;
    if (type === 'DELETED') {
      registry.remove(object.metadata.name!);
      // Names that were taken are free again.
      for (const other of store.list(crdStorage)) if (!isEstablished(other.object)) settle(other.object);
      return;
    }
    // Rebuilding after a status write would throw away every cached encoding for nothing.
    if (!previous || !equalJson(previous.object['spec'], object['spec'])) settle(object);
  });
}

function isEstablished(crd: ApiObject): boolean {
  const { conditions } = (crd['status'] ?? {}) as { conditions?: { type: string; status: string }[] | null };
  return conditions?.some(({ type, status }) => type === 'Established' && status === 'True') ?? false;
}

interface ConversionAnswer {
  readonly response?: {
    readonly uid?: string;
    readonly convertedObjects?: ApiObject[];
    readonly result?: { readonly status?: string; readonly message?: string };
  };
}

function conversionWebhook({ webhooks, random }: CrdFollowerOptions): ConvertObjects {
  return async (objects, desiredAPIVersion, webhook) => {
    const uid = random.uuid();
    const review = {
      kind: 'ConversionReview',
      apiVersion: 'apiextensions.k8s.io/v1',
      request: { uid, desiredAPIVersion, objects },
    };
    const config = (webhook['clientConfig'] ?? {}) as WebhookClientConfig;
    const { response } = (await webhooks.post(config, review, conversionTimeoutMs)) as ConversionAnswer;
    if (response?.uid !== uid) {
      throw new Error(`expected response.uid="${uid}", got "${response?.uid ?? ''}"`);
    }
    if (response.result?.status !== 'Success') {
      throw new Error(response.result?.message || 'the webhook gave no reason');
    }
    return response.convertedObjects ?? [];
  };
}
