import { badRequest, invalid, type FieldError } from '../api-error.ts';
import { kubeTime, type Clock } from '../clock.ts';
import type { ApiObject } from '../object.ts';
import type { Authorizer, RequestAttributes, UserInfo, VirtualHandlers, VirtualRequest } from './auth.ts';
import type { PolicyRule } from './policy-rules.ts';
import type { RoleBindings } from './rbac.ts';
import type { BoundObject, ServiceAccountTokens } from './service-account-tokens.ts';
import type { StoredObjects } from './stored-objects.ts';

export interface ReviewsOptions {
  readonly authorizer: Authorizer;
  /** Absent when everything is allowed. */
  readonly bindings?: RoleBindings;
  readonly serviceAccountTokens: ServiceAccountTokens;
  readonly identifyToken: (token: string) => Promise<UserInfo | undefined>;
  readonly objects: StoredObjects;
  readonly clock: Clock;
}

interface ResourceAttributes {
  namespace?: string;
  verb?: string;
  group?: string;
  version?: string;
  resource?: string;
  subresource?: string;
  name?: string;
}

interface ReviewSpec {
  user?: string;
  uid?: string;
  groups?: string[];
  extra?: Record<string, string[]>;
  resourceAttributes?: ResourceAttributes;
  nonResourceAttributes?: { path?: string; verb?: string };
}

const MIN_EXPIRATION_SECONDS = 600;
const MAX_EXPIRATION_SECONDS = 2 ** 32;

/** Answers the review APIs and token requests. */
export function reviewHandlers(options: ReviewsOptions): VirtualHandlers {
  return new Map<string, (request: VirtualRequest) => ApiObject | Promise<ApiObject>>([
    ['authorization.k8s.io/selfsubjectaccessreviews', (request) => accessReview(options, request, () => request.user)],
    ['authorization.k8s.io/subjectaccessreviews', (request) => accessReview(options, request, subjectOf)],
    ['authorization.k8s.io/localsubjectaccessreviews', (request) => accessReview(options, request, subjectOf)],
    ['authorization.k8s.io/selfsubjectrulesreviews', (request) => rulesReview(options, request)],
    ['authentication.k8s.io/selfsubjectreviews', (request) => selfReview(options, request)],
    ['authentication.k8s.io/tokenreviews', (request) => tokenReview(options, request)],
    ['/serviceaccounts/token', (request) => tokenRequest(options, request)],
  ]);
}

function subjectOf(spec: ReviewSpec): UserInfo {
  return {
    name: spec.user ?? '',
    groups: spec.groups ?? [],
    ...(spec.uid ? { uid: spec.uid } : {}),
    ...(spec.extra ? { extra: spec.extra } : {}),
  };
}

function specErrors(request: VirtualRequest, spec: ReviewSpec): FieldError[] {
  const errors: FieldError[] = [];
  const { plural } = request.resource;
  const { resourceAttributes, nonResourceAttributes } = spec;
  if (resourceAttributes && nonResourceAttributes) {
    errors.push({
      reason: 'FieldValueInvalid',
      field: 'spec.nonResourceAttributes',
      detail: `Invalid value: ${JSON.stringify({ Path: nonResourceAttributes.path ?? '', Verb: nonResourceAttributes.verb ?? '' })}: cannot be specified in combination with resourceAttributes`,
    });
  }
  if (!resourceAttributes && !nonResourceAttributes) {
    errors.push({
      reason: 'FieldValueInvalid',
      field: 'spec.resourceAttributes',
      detail: 'Invalid value: null: exactly one of nonResourceAttributes or resourceAttributes must be specified',
    });
  }
  if (plural !== 'selfsubjectaccessreviews' && !spec.user && (spec.groups ?? []).length === 0) {
    errors.push({
      reason: 'FieldValueInvalid',
      field: 'spec.user',
      detail: 'Invalid value: "": at least one of user or group must be specified',
    });
  }
  if (plural === 'localsubjectaccessreviews' && resourceAttributes?.namespace !== request.namespace) {
    errors.push({
      reason: 'FieldValueInvalid',
      field: 'spec.resourceAttributes.namespace',
      detail: `Invalid value: ${JSON.stringify(resourceAttributes?.namespace ?? '')}: must match metadata.namespace`,
    });
  }
  return errors;
}

function attributesOf(user: UserInfo, spec: ReviewSpec): RequestAttributes {
  const { resourceAttributes: wanted, nonResourceAttributes } = spec;
  if (!wanted) {
    return { user, verb: nonResourceAttributes?.verb ?? '', path: nonResourceAttributes?.path ?? '' };
  }
  return {
    user,
    verb: wanted.verb ?? '',
    path: '',
    resource: {
      group: wanted.group ?? '',
      version: wanted.version ?? '',
      plural: wanted.resource ?? '',
      subresource: wanted.subresource ?? '',
      namespace: wanted.namespace ?? '',
      name: wanted.name ?? '',
    },
  };
}

async function accessReview(
  options: ReviewsOptions,
  request: VirtualRequest,
  userOf: (spec: ReviewSpec) => UserInfo,
): Promise<ApiObject> {
  const spec = (request.object['spec'] ?? {}) as ReviewSpec;
  const errors = specErrors(request, spec);
  if (errors.length > 0) {
    // The real server forgets to name the kind here.
    const error = invalid({ ...request.resource, kind: '' }, '', errors);
    delete error.status.details?.kind;
    throw error;
  }
  const { allowed, reason } = await options.authorizer.authorize(attributesOf(userOf(spec), spec));
  return { ...request.object, status: { allowed, ...(reason ? { reason } : {}) } };
}

function rulesReview({ bindings }: ReviewsOptions, request: VirtualRequest): ApiObject {
  const spec = (request.object['spec'] ?? {}) as { namespace?: string };
  if (!spec.namespace) {
    throw invalid(request.resource, '', [
      { reason: 'FieldValueRequired', field: 'spec.namespace', detail: 'Required value' },
    ]);
  }
  const everything: PolicyRule[] = [
    { verbs: ['*'], apiGroups: ['*'], resources: ['*'] },
    { verbs: ['*'], nonResourceURLs: ['*'] },
  ];
  const rules = bindings ? [...bindings.grantsOf(request.user, spec.namespace)].map((grant) => grant.rule) : everything;
  const isAboutPaths = (rule: PolicyRule) => (rule.nonResourceURLs ?? []).length > 0;
  const { apiVersion, kind } = request.object;
  return {
    kind,
    apiVersion,
    metadata: {},
    spec: {},
    status: {
      resourceRules: rules
        .filter((rule) => !isAboutPaths(rule))
        .map(({ verbs, apiGroups, resources, resourceNames }) => ({
          verbs,
          apiGroups,
          resources,
          ...(resourceNames?.length ? { resourceNames } : {}),
        })),
      nonResourceRules: rules.filter(isAboutPaths).map(({ verbs, nonResourceURLs }) => ({ verbs, nonResourceURLs })),
      incomplete: false,
    },
  };
}

function userInfo(user: UserInfo): Record<string, unknown> {
  return {
    username: user.name,
    ...(user.uid ? { uid: user.uid } : {}),
    groups: user.groups,
    ...(user.extra ? { extra: user.extra } : {}),
  };
}

function selfReview({ clock }: ReviewsOptions, request: VirtualRequest): ApiObject {
  const { apiVersion, kind } = request.object;
  return {
    kind,
    apiVersion,
    metadata: { creationTimestamp: kubeTime(clock.now()) },
    status: { userInfo: userInfo(request.user) },
  };
}

async function tokenReview(options: ReviewsOptions, request: VirtualRequest): Promise<ApiObject> {
  const spec = (request.object['spec'] ?? {}) as { token?: string; audiences?: string[] };
  if (!spec.token) {
    throw badRequest('token is required for TokenReview in authentication');
  }
  const { serviceAccountTokens } = options;
  const verified = await serviceAccountTokens.verify(spec.token, spec.audiences);
  // Static tokens know no audience: they are meant for this server.
  const audiences = verified?.audiences ?? [serviceAccountTokens.issuer];
  const isForUs = !spec.audiences?.length || spec.audiences.some((audience) => audiences.includes(audience));
  const user = verified?.user ?? (isForUs ? await options.identifyToken(spec.token) : undefined);
  const status = user
    ? { authenticated: true, user: userInfo(user), audiences }
    : { user: {}, error: await refusal(options, spec) };
  return { ...request.object, status };
}

async function refusal(
  { serviceAccountTokens }: ReviewsOptions,
  { token = '', audiences }: { token?: string; audiences?: string[] },
): Promise<string> {
  const meant = audiences?.length ? await serviceAccountTokens.verify(token) : undefined;
  if (!meant) return 'invalid bearer token';
  const list = (values: readonly string[]) => `[${values.map((value) => JSON.stringify(value)).join(' ')}]`;
  return `[invalid bearer token, token audiences ${list(meant.audiences)} is invalid for the target audiences ${list(audiences!)}]`;
}

async function tokenRequest(options: ReviewsOptions, request: VirtualRequest): Promise<ApiObject> {
  const { serviceAccountTokens, objects, clock } = options;
  const account = request.parent ?? objects.lookup('serviceaccounts', request.namespace, request.name)!;
  const spec = (request.object['spec'] ?? {}) as {
    audiences?: string[];
    expirationSeconds?: number;
    boundObjectRef?: BoundObject | null;
  };
  const expirationSeconds = spec.expirationSeconds ?? 3_600;
  const errors = expirationErrors(expirationSeconds);
  if (errors.length > 0) {
    throw invalid({ group: 'authentication.k8s.io', plural: 'tokenrequests', kind: 'TokenRequest' }, '', errors);
  }
  const audiences = spec.audiences?.length ? spec.audiences : [serviceAccountTokens.issuer];
  const boundTo = spec.boundObjectRef ? resolveBound(objects, request.namespace, spec.boundObjectRef) : undefined;
  const { token, expirationTimestamp } = await serviceAccountTokens.issue({
    serviceAccount: account,
    audiences,
    expirationSeconds,
    ...(boundTo ? { boundTo } : {}),
  });
  const { name, namespace, uid } = account.metadata;
  const { managedFields } = request.object.metadata;
  return {
    kind: 'TokenRequest',
    apiVersion: 'authentication.k8s.io/v1',
    metadata: {
      name,
      namespace,
      uid,
      creationTimestamp: kubeTime(clock.now()),
      ...(managedFields ? { managedFields } : {}),
    },
    spec: { audiences, expirationSeconds, boundObjectRef: spec.boundObjectRef ?? null },
    status: { token, expirationTimestamp: kubeTime(expirationTimestamp) },
  };
}

function expirationErrors(seconds: number): FieldError[] {
  const field = 'spec.expirationSeconds';
  if (seconds < MIN_EXPIRATION_SECONDS) {
    const detail = `Invalid value: ${seconds}: may not specify a duration less than 10 minutes`;
    return [{ reason: 'FieldValueInvalid', field, detail }];
  }
  if (seconds > MAX_EXPIRATION_SECONDS) {
    const detail = `Invalid value: ${seconds}: may not specify a duration larger than 2^32 seconds`;
    return [{ reason: 'FieldValueInvalid', field, detail }];
  }
  return [];
}

function resolveBound(objects: StoredObjects, namespace: string, reference: BoundObject): BoundObject {
  const storage: Record<string, string> = { Pod: 'pods', Secret: 'secrets', Node: 'nodes' };
  const storageId = storage[reference.kind];
  const kind = { group: 'authentication.k8s.io', plural: 'tokenrequests', kind: 'TokenRequest' };
  if (!storageId) {
    const detail = `Invalid value: ${JSON.stringify(reference.kind)}: cannot bind token to object of this kind`;
    throw invalid(kind, '', [{ reason: 'FieldValueInvalid', field: 'spec.boundObjectRef.kind', detail }]);
  }
  const object = objects.lookup(storageId, reference.kind === 'Node' ? undefined : namespace, reference.name);
  const isRight = object && (!reference.uid || reference.uid === object.metadata.uid);
  if (!isRight) {
    const detail = `Invalid value: ${JSON.stringify(reference.name)}: the object to bind to does not exist`;
    throw invalid(kind, '', [{ reason: 'FieldValueInvalid', field: 'spec.boundObjectRef', detail }]);
  }
  return { ...reference, uid: object.metadata.uid! };
}
