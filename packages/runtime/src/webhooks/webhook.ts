import type { Cache, Client, Clock, FieldProblem, Kind, KubeObject, ObjectOf } from '@slipway/kube';

import type { Logger } from '../log/logger.ts';

export type Operation = 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT';

/** What the API server asks about. */
export interface AdmissionRequest<T extends KubeObject = KubeObject> {
  readonly uid: string;
  readonly operation: Operation;
  /** Absent for cluster-scoped objects. */
  readonly namespace?: string;
  readonly name: string;
  readonly subresource?: string;
  /** The object as it would be stored. For DELETE: the object that would go. A mutating webhook may change it in place. */
  readonly object: T;
  /** The object as it is, for UPDATE and DELETE. */
  readonly old?: T;
  readonly dryRun: boolean;
  readonly user: { readonly username: string; readonly groups: readonly string[]; readonly uid?: string };
  readonly options: Readonly<Record<string, unknown>>;
}

export interface WebhookContext {
  readonly cache: Cache;
  readonly client: Client;
  readonly log: Logger;
  readonly clock: Clock;
}

/** What a validating webhook says. Nothing means yes. */
export type Verdict = { readonly warnings?: readonly string[]; readonly denial?: Denial };

export interface Denial {
  readonly message: string;
  /** HTTP status the user sees. */
  readonly code: number;
  readonly reason: string;
  readonly causes?: readonly FieldProblem[];
}

/** Yes, with a word of warning. */
export function allow(...warnings: readonly string[]): Verdict {
  return { warnings };
}

/** No: not allowed (403). */
export function deny(message: string): Verdict {
  return { denial: { message, code: 403, reason: 'Forbidden' } };
}

/** No: these fields are wrong (422). An empty list means yes. */
export function invalid(problems: readonly FieldProblem[]): Verdict {
  if (problems.length === 0) return {};
  const message = problems.map(({ field, message: text }) => `${field}: ${text}`).join('; ');
  return { denial: { message, code: 422, reason: 'Invalid', causes: problems } };
}

interface AdmissionOptions<K extends Kind> {
  /** Fully qualified, unique: `validate.websites.example.com`. */
  name: string;
  kind: K;
  /** Default CREATE and UPDATE. */
  operations?: readonly Operation[];
  /** Default: `/validate-…` or `/mutate-…` with group, version and kind. */
  path?: string;
  /** Whether requests are refused while the webhook cannot be asked. Default `Fail`. */
  failurePolicy?: 'Fail' | 'Ignore';
  /** How long the API server waits, in seconds (the unit of the configuration object). Default 10. */
  timeoutSeconds?: number;
  /** Only objects with these labels. */
  objectSelector?: Readonly<Record<string, string>>;
  /** Only in namespaces with these labels. */
  namespaceSelector?: Readonly<Record<string, string>>;
}

export interface ValidatingOptions<K extends Kind> extends AdmissionOptions<K> {
  /** Says whether the object may be stored. What it throws is an internal error to the user. */
  validate: (
    request: AdmissionRequest<ObjectOf<K>>,
    context: WebhookContext,
  ) => Verdict | undefined | void | Promise<Verdict | undefined | void>;
}

export interface MutatingOptions<K extends Kind> extends AdmissionOptions<K> {
  /** Changes `request.object` in place or returns another; the patch is computed. Return a verdict with `deny` to refuse. */
  mutate: (
    request: AdmissionRequest<ObjectOf<K>>,
    context: WebhookContext,
  ) => ObjectOf<K> | Verdict | undefined | void | Promise<ObjectOf<K> | Verdict | undefined | void>;
}

export interface ConversionOptions {
  /** The custom resource, whatever version. */
  group: string;
  kind: string;
  plural: string;
  /** Default `/convert-…` with group and kind. */
  path?: string;
  /** The object in version `apiVersion`. Must keep name, namespace and uid. */
  convert(object: KubeObject, apiVersion: string): KubeObject | Promise<KubeObject>;
}

/** An admission or conversion webhook as declared; a manager serves it. */
export type WebhookDefinition =
  | ({ readonly type: 'validating' } & AdmissionDefinition & Pick<ValidatingOptions<Kind>, 'validate'>)
  | ({ readonly type: 'mutating' } & AdmissionDefinition & Pick<MutatingOptions<Kind>, 'mutate'>)
  | ({ readonly type: 'conversion'; readonly path: string } & Omit<ConversionOptions, 'path'>);

export interface AdmissionDefinition extends Readonly<Omit<AdmissionOptions<Kind>, 'path' | 'operations'>> {
  readonly path: string;
  readonly operations: readonly Operation[];
}

/** Declares a webhook that says yes or no. */
export function validatingWebhook<K extends Kind>(options: ValidatingOptions<K>): WebhookDefinition {
  const validate = options.validate as unknown as ValidatingOptions<Kind>['validate'];
  return { type: 'validating', ...admission(options, 'validate'), validate };
}

/** Declares a webhook that changes objects on their way in. */
export function mutatingWebhook<K extends Kind>(options: MutatingOptions<K>): WebhookDefinition {
  const mutate = options.mutate as unknown as MutatingOptions<Kind>['mutate'];
  return { type: 'mutating', ...admission(options, 'mutate'), mutate };
}

/** Declares the conversion between the versions of a custom resource. */
export function conversionWebhook(options: ConversionOptions): WebhookDefinition {
  const path = options.path ?? `/convert-${options.group.replaceAll('.', '-')}-${options.kind.toLowerCase()}`;
  return { type: 'conversion', ...options, path };
}

function admission<K extends Kind>(options: AdmissionOptions<K>, verb: string): AdmissionDefinition {
  const { kind, name, operations = ['CREATE', 'UPDATE'] } = options;
  if (name.split('.').length < 3) {
    throw new Error(`webhook '${name}': the name needs at least three parts, such as ${verb}.websites.example.com`);
  }
  const group = (kind.group || 'core').replaceAll('.', '-');
  const path = options.path ?? `/${verb}-${group}-${kind.version}-${kind.kind.toLowerCase()}`;
  const { failurePolicy, timeoutSeconds, objectSelector, namespaceSelector } = options;
  return { name, kind, operations, path, failurePolicy, timeoutSeconds, objectSelector, namespaceSelector };
}
