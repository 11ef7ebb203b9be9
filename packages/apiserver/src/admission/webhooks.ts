import { ApiError, badRequest, forbidden, internalError } from '../api-error.ts';
import type { Authorizer } from '../auth/auth.ts';
import type { StoredObjects } from '../auth/stored-objects.ts';
import type { LabelSelector } from '../label-selector.ts';
import type { Random } from '../random.ts';
import type { Registry } from '../registry.ts';
import type { Resource } from '../resource.ts';
import type { Admission, AdmissionContext } from './admission.ts';
import { applyWebhookPatch } from './apply-webhook-patch.ts';
import { admissionRequest, type AdmissionResponse } from './admission-review.ts';
import { evaluateConditions, type MatchCondition } from './match-conditions.ts';
import { requestName } from './request-name.ts';
import {
  convert,
  isExempt,
  matchedResource,
  namespaceSelected,
  objectSelected,
  type AdmissionRule,
} from './rule-matching.ts';
import type { WebhookClient, WebhookClientConfig } from './webhook-client.ts';

const MUTATING = 'mutatingwebhookconfigurations.admissionregistration.k8s.io';
const VALIDATING = 'validatingwebhookconfigurations.admissionregistration.k8s.io';

interface Webhook {
  readonly name: string;
  readonly clientConfig: WebhookClientConfig;
  readonly rules?: readonly AdmissionRule[];
  readonly failurePolicy?: string;
  readonly matchPolicy?: string;
  readonly namespaceSelector?: LabelSelector;
  readonly objectSelector?: LabelSelector;
  readonly sideEffects?: string;
  readonly timeoutSeconds?: number;
  readonly admissionReviewVersions?: readonly string[];
  readonly reinvocationPolicy?: string;
  readonly matchConditions?: readonly MatchCondition[];
}

interface Call {
  readonly webhook: Webhook;
  /** The version the webhook asked for. */
  readonly as: Resource;
}

export interface WebhooksOptions {
  readonly objects: StoredObjects;
  readonly registry: Registry;
  readonly random: Random;
  readonly client: WebhookClient;
  /** Answers `authorizer` in match conditions. */
  readonly authorizer: Authorizer;
}

/** The webhook could not be asked, or gave no proper answer; `failurePolicy` decides what that means. */
class WebhookFailure extends Error {}

/** Mutating and validating admission webhooks. */
export function webhookAdmission(options: WebhooksOptions): Admission {
  const { objects, registry, random, client, authorizer } = options;

  function* configured(storageId: string): Generator<Webhook, void, undefined> {
    for (const configuration of objects.scan(storageId)) {
      yield* (configuration['webhooks'] as Webhook[] | undefined) ?? [];
    }
  }

  /** How to ask a webhook about a request, as the object is now; undefined when it does not want to hear of it. */
  function callOf(webhook: Webhook, context: AdmissionContext): Call | undefined {
    const as = matchedResource(webhook.rules ?? [], webhook.matchPolicy ?? 'Equivalent', context, registry);
    const isSelected =
      as &&
      namespaceSelected(webhook.namespaceSelector, context, objects) &&
      objectSelected(webhook.objectSelector, context);
    return isSelected && conditionsHold(webhook, context) ? { webhook, as } : undefined;
  }

  function conditionsHold(webhook: Webhook, context: AdmissionContext): boolean {
    const conditions = webhook.matchConditions ?? [];
    if (conditions.length === 0) {
      return true;
    }
    const { object, oldObject } = context;
    const request = admissionRequest(context, context.resource, context, '');
    const verdict = evaluateConditions(
      conditions,
      { object: object ?? null, oldObject: oldObject ?? null, request },
      { authorizer, context },
    );
    if ('matches' in verdict) {
      return verdict.matches;
    }
    if (webhook.failurePolicy === 'Ignore') {
      return false;
    }
    throw forbidden(context.resource, requestName(context), verdict.error);
  }

  async function ask({ webhook, as }: Call, context: AdmissionContext): Promise<AdmissionResponse> {
    if (context.dryRun && webhook.sideEffects !== 'None' && webhook.sideEffects !== 'NoneOnDryRun') {
      throw badRequest(`admission webhook ${JSON.stringify(webhook.name)} does not support dry run`);
    }
    const version = (webhook.admissionReviewVersions ?? ['v1']).find((each) => each === 'v1' || each === 'v1beta1');
    if (!version) {
      throw new WebhookFailure('webhook does not accept known AdmissionReview versions (v1, v1beta1)');
    }
    const uid = random.uuid();
    const shown = {
      object: await convert(context.object, context.resource, as),
      oldObject: await convert(context.oldObject, context.resource, as),
    };
    const review = {
      kind: 'AdmissionReview',
      apiVersion: `admission.k8s.io/${version}`,
      request: admissionRequest(context, as, shown, uid),
    };
    let answer: unknown;
    try {
      answer = await client.post(webhook.clientConfig, review, (webhook.timeoutSeconds ?? 10) * 1_000);
    } catch (error) {
      throw new WebhookFailure(`failed to call webhook: ${(error as Error).message}`);
    }
    return checked(answer, `admission.k8s.io/${version}`, uid);
  }

  function checked(answer: unknown, apiVersion: string, uid: string): AdmissionResponse {
    const refuse = (why: string): never => {
      throw new WebhookFailure(`received invalid webhook response: ${why}`);
    };
    const review = (answer ?? {}) as { kind?: string; apiVersion?: string; response?: AdmissionResponse };
    if (review.kind !== undefined && review.kind !== 'AdmissionReview') {
      const kind = JSON.stringify(review.kind);
      const version = JSON.stringify(review.apiVersion ?? apiVersion);
      throw new WebhookFailure(
        `failed to call webhook: no kind ${kind} is registered for version ${version} in scheme "pkg/runtime/scheme.go:111"`,
      );
    }
    if (!review.response) {
      return refuse('webhook response was absent');
    }
    const { response } = review;
    // Older reviews need not repeat the uid or their own kind.
    if (apiVersion === 'admission.k8s.io/v1') {
      if (review.kind !== 'AdmissionReview' || review.apiVersion !== apiVersion) {
        const got = `${review.apiVersion ?? ''}, Kind=${review.kind ?? ''}`;
        refuse(`expected webhook response of ${apiVersion}, Kind=AdmissionReview, got ${got}`);
      }
      if (response.uid !== uid) {
        refuse(`expected response.uid=${JSON.stringify(uid)}, got ${JSON.stringify(response.uid ?? '')}`);
      }
      if (response.patch && response.patchType === undefined) {
        refuse('webhook returned response.patch but not response.patchType');
      }
      if (response.patchType !== undefined && !response.patch) {
        refuse('webhook returned response.patchType but not response.patch');
      }
      if (response.patchType !== undefined && response.patchType !== 'JSONPatch') {
        refuse(`unsupported response.patchType ${JSON.stringify(response.patchType)}, expected JSONPatch`);
      }
    }
    return response;
  }

  /** The answer of one webhook; `undefined` when it failed and may be ignored. */
  async function consult(call: Call, context: AdmissionContext): Promise<AdmissionResponse | undefined> {
    const { name, failurePolicy } = call.webhook;
    let response: AdmissionResponse;
    try {
      response = await ask(call, context);
    } catch (error) {
      if (!(error instanceof WebhookFailure)) {
        throw error;
      }
      if (failurePolicy === 'Ignore') {
        return undefined;
      }
      throw internalError(`failed calling webhook ${JSON.stringify(name)}: ${error.message}`);
    }
    for (const warning of response.warnings ?? []) {
      context.warn(warning);
    }
    if (response.allowed !== true) {
      throw denial(name, response.status);
    }
    return response;
  }

  /** Applies the patch of a webhook; true when it changed the object. */
  async function applyPatch(response: AdmissionResponse, call: Call, context: AdmissionContext): Promise<boolean> {
    if (!response.patch) {
      return false;
    }
    if (context.operation === 'DELETE') {
      const name = JSON.stringify(call.webhook.name);
      throw internalError(
        `admission webhook ${name} attempted to modify the object, which is not supported for this operation`,
      );
    }
    if (!context.object) {
      return false;
    }
    const before = JSON.stringify(context.object);
    const shown = (await convert(context.object, context.resource, call.as))!;
    const patched = applyWebhookPatch(shown, response.patch);
    const converted = (await convert(patched, call.as, context.resource))!;
    context.resource.strategy.applyDefaults(converted);
    context.object = converted;
    return JSON.stringify(converted) !== before;
  }

  async function mutateWith(webhooks: readonly Webhook[], context: AdmissionContext): Promise<void> {
    const seen: Webhook[] = [];
    const again = new Set<Webhook>();
    const changes = async (webhook: Webhook) => {
      // Looked at only now: an earlier webhook may have changed whether this one is concerned.
      const call = callOf(webhook, context);
      const response = call && (await consult(call, context));
      return response ? applyPatch(response, call, context) : false;
    };
    for (const webhook of webhooks) {
      if (await changes(webhook)) {
        seen.filter((each) => each.reinvocationPolicy === 'IfNeeded').forEach((each) => again.add(each));
      }
      seen.push(webhook);
    }
    for (const webhook of webhooks) if (again.has(webhook)) await changes(webhook);
  }

  async function validateWith(calls: readonly Call[], context: AdmissionContext): Promise<void> {
    const results = await Promise.allSettled(calls.map((call) => consult(call, context)));
    const refused = results.find((result) => result.status === 'rejected');
    if (refused) {
      throw refused.reason;
    }
  }

  return {
    mutate(context) {
      // All configured ones, not only those that match now: what an earlier webhook changes can make a later one match.
      const webhooks = isExempt(context) ? [] : [...configured(MUTATING)];
      return webhooks.length > 0 ? mutateWith(webhooks, context) : undefined;
    },
    validate(context) {
      const webhooks = isExempt(context) ? [] : [...configured(VALIDATING)];
      const calls = webhooks.map((webhook) => callOf(webhook, context)).filter((call) => call !== undefined);
      return calls.length > 0 ? validateWith(calls, context) : undefined;
    },
  };
}

function denial(name: string, status: AdmissionResponse['status']): ApiError {
  const by = `admission webhook ${JSON.stringify(name)} denied the request`;
  const why = status?.message || status?.reason;
  return new ApiError({
    code: Math.max(400, status?.code ?? 0),
    message: why ? `${by}: ${why}` : `${by} without explanation`,
    ...(status?.reason ? { reason: status.reason } : {}),
    ...(status?.details ? { details: status.details } : {}),
  });
}
