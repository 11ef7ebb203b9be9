import { type Clock, createJsonPatch, type KubeObject, mutable, parseJson } from '@slipway/kube';

import type { RuntimeMetrics } from '../metrics/runtime-metrics.ts';
import type { AdmissionRequest, Denial, Operation, Verdict, WebhookContext, WebhookDefinition } from './webhook.ts';

export interface WebhookAnswer {
  status: number;
  body: string;
}

interface ReviewedRequest {
  uid: string;
  operation: Operation;
  namespace?: string;
  name?: string;
  subResource?: string;
  object?: KubeObject | null;
  oldObject?: KubeObject | null;
  dryRun?: boolean;
  userInfo?: { username?: string; groups?: string[]; uid?: string };
  options?: Record<string, unknown> | null;
}

interface Review {
  apiVersion?: string;
  kind?: string;
  request?: unknown;
}

/** Answers review requests; knows nothing of sockets. */
export class WebhookRouter {
  readonly #byPath = new Map<string, WebhookDefinition>();
  readonly #context: WebhookContext;
  readonly #metrics: RuntimeMetrics;
  readonly #clock: Clock;

  constructor(
    definitions: readonly WebhookDefinition[],
    environment: { context: WebhookContext; metrics: RuntimeMetrics; clock: Clock },
  ) {
    for (const definition of definitions) {
      if (this.#byPath.has(definition.path)) throw new Error(`webhooks: two of them have the path ${definition.path}`);
      this.#byPath.set(definition.path, definition);
    }
    this.#context = environment.context;
    this.#metrics = environment.metrics;
    this.#clock = environment.clock;
  }

  async handle(path: string, body: string): Promise<WebhookAnswer> {
    const definition = this.#byPath.get(path);
    if (!definition) return { status: 404, body: `no webhook is served at ${path}\n` };
    const metrics = this.#metrics.webhook(path);
    const startedAt = this.#clock.now();
    metrics.started();
    const answer = await this.#review(definition, body);
    metrics.finished(answer.status, (this.#clock.now() - startedAt) / 1000);
    return answer;
  }

  async #review(definition: WebhookDefinition, body: string): Promise<WebhookAnswer> {
    const group = definition.type === 'conversion' ? 'apiextensions.k8s.io' : 'admission.k8s.io';
    const kind = definition.type === 'conversion' ? 'ConversionReview' : 'AdmissionReview';
    let review: Review;
    try {
      review = parseJson(body) as Review;
    } catch {
      return { status: 400, body: 'the request is not JSON\n' };
    }
    const request = review?.request as { uid?: unknown } | undefined;
    if (review?.apiVersion !== `${group}/v1` || review.kind !== kind || typeof request?.uid !== 'string') {
      return { status: 400, body: `the request is not a ${kind} of ${group}/v1\n` };
    }
    const response =
      definition.type === 'conversion'
        ? await this.#convert(definition, request as unknown as ConversionRequest)
        : await this.#admit(definition, request as unknown as ReviewedRequest);
    return { status: 200, body: JSON.stringify({ apiVersion: `${group}/v1`, kind, response }) };
  }

  async #admit(
    definition: Exclude<WebhookDefinition, { type: 'conversion' }>,
    reviewed: ReviewedRequest,
  ): Promise<Record<string, unknown>> {
    const { uid } = reviewed;
    const log = this.#context.log.with({ webhook: definition.name, requestID: uid });
    const original = reviewed.object ?? reviewed.oldObject;
    if (!original) return { uid, allowed: false, status: failure('the request carries no object', 400, 'BadRequest') };
    const request = toRequest(reviewed, original);
    const context: WebhookContext = { ...this.#context, log };
    try {
      if (definition.type === 'validating') {
        return { uid, ...verdictFields((await definition.validate(request, context)) ?? {}) };
      }
      const result = (await definition.mutate(request, context)) ?? request.object;
      if (isVerdict(result)) return { uid, ...verdictFields(result) };
      const patch = createJsonPatch(original, result);
      if (patch.length === 0) return { uid, allowed: true };
      const encoded = Buffer.from(JSON.stringify(patch)).toString('base64');
      return { uid, allowed: true, patchType: 'JSONPatch', patch: encoded };
    } catch (error) {
      log.error('webhook failed', { error });
      return { uid, allowed: false, status: failure(messageOf(error), 500, 'InternalError') };
    }
  }

  async #convert(
    definition: Extract<WebhookDefinition, { type: 'conversion' }>,
    request: ConversionRequest,
  ): Promise<Record<string, unknown>> {
    const { uid, desiredAPIVersion = '', objects = [] } = request;
    try {
      const convertedObjects: KubeObject[] = [];
      for (const object of objects) {
        const converted =
          object.apiVersion === desiredAPIVersion
            ? object
            : await definition.convert(mutable(object) as KubeObject, desiredAPIVersion);
        if (converted.apiVersion !== desiredAPIVersion) {
          throw new Error(`convert returned ${converted.apiVersion} instead of ${desiredAPIVersion}`);
        }
        convertedObjects.push(converted);
      }
      return { uid, convertedObjects, result: { status: 'Success' } };
    } catch (error) {
      const { kind, group } = definition;
      this.#context.log.error('conversion failed', { kind: `${kind}.${group}`, to: desiredAPIVersion, error });
      return { uid, convertedObjects: [], result: { status: 'Failure', message: messageOf(error) } };
    }
  }
}

interface ConversionRequest {
  uid: string;
  desiredAPIVersion?: string;
  objects?: KubeObject[];
}

function toRequest(reviewed: ReviewedRequest, original: KubeObject): AdmissionRequest {
  const { uid, operation, namespace, name, subResource, oldObject, dryRun, userInfo, options } = reviewed;
  return {
    uid,
    operation,
    ...(namespace ? { namespace } : {}),
    name: name ?? original.metadata?.name ?? '',
    ...(subResource ? { subresource: subResource } : {}),
    // The patch is computed against the original, so the webhook gets a copy it may change.
    object: mutable(original) as KubeObject,
    ...(oldObject ? { old: oldObject } : {}),
    dryRun: dryRun ?? false,
    user: { username: userInfo?.username ?? '', groups: userInfo?.groups ?? [], uid: userInfo?.uid },
    options: options ?? {},
  };
}

function isVerdict(result: KubeObject | Verdict): result is Verdict {
  return !('apiVersion' in result) && !('metadata' in result);
}

function verdictFields(verdict: Verdict): Record<string, unknown> {
  const { warnings, denial } = verdict;
  return {
    allowed: denial === undefined,
    ...(warnings && warnings.length > 0 ? { warnings } : {}),
    ...(denial ? { status: failure(denial.message, denial.code, denial.reason, denial.causes) } : {}),
  };
}

function failure(message: string, code: number, reason: string, causes?: Denial['causes']): Record<string, unknown> {
  const details = causes?.map(({ field, message: text }) => ({ reason: 'FieldValueInvalid', field, message: text }));
  return { status: 'Failure', message, code, reason, ...(details ? { details: { causes: details } } : {}) };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
