import type { Environment } from '@marcbachmann/cel-js';
import type { Authorizer, Decision, RequestAttributes, UserInfo } from '../auth/auth.ts';
import type { AdmissionContext } from './admission.ts';

/** Whom expressions may ask about permissions, and on whose behalf. */
export interface Access {
  readonly authorizer: Authorizer;
  readonly context: AdmissionContext;
}

type ResourceAttributes = NonNullable<RequestAttributes['resource']>;

/** What the running expression asks. Evaluation never waits, so one place for all is enough. */
let current: Access | undefined;

function decide(user: UserInfo, rest: Omit<RequestAttributes, 'user'>): DecisionValue {
  const decision = current!.authorizer.authorize({ user, ...rest });
  if (decision instanceof Promise) {
    throw new Error('this authorizer cannot be asked in an expression');
  }
  return new DecisionValue(decision);
}

class DecisionValue {
  readonly decision: Decision;

  constructor(decision: Decision) {
    this.decision = decision;
  }
}

class PathCheck {
  readonly user: UserInfo;
  readonly path: string;

  constructor(user: UserInfo, path: string) {
    this.user = user;
    this.path = path;
  }
}

class GroupCheck {
  readonly user: UserInfo;
  readonly group: string;

  constructor(user: UserInfo, group: string) {
    this.user = user;
    this.group = group;
  }
}

class ResourceCheck {
  readonly user: UserInfo;
  readonly resource: ResourceAttributes;

  constructor(user: UserInfo, resource: ResourceAttributes) {
    this.user = user;
    this.resource = resource;
  }

  with(change: Partial<ResourceAttributes>): ResourceCheck {
    return new ResourceCheck(this.user, { ...this.resource, ...change });
  }
}

class AuthorizerValue {
  readonly other: UserInfo | undefined;

  constructor(other?: UserInfo) {
    this.other = other;
  }

  get user(): UserInfo {
    return this.other ?? current!.context.user;
  }

  /** The resource of the request itself. */
  get requestResource(): ResourceCheck {
    const { resource, subresource, namespace, name } = current!.context;
    const { group, version, plural } = resource;
    return new ResourceCheck(this.user, { group, version, plural, subresource, namespace, name });
  }
}

const theAuthorizer = new AuthorizerValue();

/** Adds the variable `authorizer` of webhooks and admission policies to an environment. */
export function registerAuthorizer(environment: Environment): void {
  environment
    .registerType('kubernetes.authorization.Decision', { ctor: DecisionValue, fields: {} })
    .registerType('kubernetes.authorization.PathCheck', { ctor: PathCheck, fields: {} })
    .registerType('kubernetes.authorization.GroupCheck', { ctor: GroupCheck, fields: {} })
    .registerType('kubernetes.authorization.ResourceCheck', { ctor: ResourceCheck, fields: {} })
    .registerType('kubernetes.authorization.Authorizer', {
      ctor: AuthorizerValue,
      fields: { requestResource: 'kubernetes.authorization.ResourceCheck' },
    })
    .registerConstant('authorizer', 'kubernetes.authorization.Authorizer', theAuthorizer);
  const on = (type: string, signature: string, handler: (...values: never[]) => unknown) =>
    environment.registerFunction(
      `kubernetes.authorization.${type}.${signature.replace(/@/g, 'kubernetes.authorization.')}`,
      handler as never,
    );
  on('Authorizer', 'path(string): @PathCheck', (self: AuthorizerValue, path: string) => new PathCheck(self.user, path));
  on(
    'Authorizer',
    'group(string): @GroupCheck',
    (self: AuthorizerValue, group: string) => new GroupCheck(self.user, group),
  );
  on(
    'Authorizer',
    'serviceAccount(string, string): @Authorizer',
    (_: AuthorizerValue, namespace: string, name: string) =>
      new AuthorizerValue({
        name: `system:serviceaccount:${namespace}:${name}`,
        groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, 'system:authenticated'],
      }),
  );
  on('PathCheck', 'check(string): @Decision', (self: PathCheck, verb: string) =>
    decide(self.user, { verb, path: self.path }),
  );
  on(
    'GroupCheck',
    'resource(string): @ResourceCheck',
    ({ user, group }: GroupCheck, plural: string) =>
      new ResourceCheck(user, { group, version: '*', plural, subresource: '', namespace: '', name: '' }),
  );
  for (const field of ['subresource', 'namespace', 'name'] as const) {
    on('ResourceCheck', `${field}(string): @ResourceCheck`, (self: ResourceCheck, value: string) =>
      self.with({ [field]: value }),
    );
  }
  on('ResourceCheck', 'check(string): @Decision', (self: ResourceCheck, verb: string) =>
    decide(self.user, { verb, path: '', resource: self.resource }),
  );
  on('Decision', 'allowed(): bool', (self: DecisionValue) => self.decision.allowed);
  on('Decision', 'reason(): string', (self: DecisionValue) => self.decision.reason ?? '');
  on('Decision', 'errored(): bool', () => false);
  on('Decision', 'error(): string', () => '');
}

/** Runs `evaluate` so that `authorizer` in its expressions asks about this request. */
export function withAccess<T>(access: Access, evaluate: () => T): T {
  const before = current;
  current = access;
  try {
    return evaluate();
  } finally {
    current = before;
  }
}
