import {
  type Client,
  ClusterRole,
  ClusterRoleBinding,
  newObject,
  type PolicyRule,
  type Stream,
  type StreamHandler,
  type Transport,
  type TransportRequest,
} from '@slipway/kube';
import type { TestCluster } from '@slipway/testing';

const user = { name: 'control-plane-under-test', groups: ['system:authenticated'] };
/** `verb resource.group`: the smallest thing a role can give. */
export function entriesOf(rules: readonly PolicyRule[]): string[] {
  return rules.flatMap(({ apiGroups = [], resources = [], verbs }) =>
    apiGroups.flatMap((group) => resources.flatMap((resource) => verbs.map((verb) => `${verb} ${resource}.${group}`))),
  );
}

export function ruleOf(entry: string): PolicyRule {
  const [, verb, resource, group] = /^(\S+) ([^.]+)\.(.*)$/.exec(entry)!;
  return { apiGroups: [group!], resources: [resource!], verbs: [verb!] };
}

/** The way of an operator that is one user of many, on which its refusals are heard. */
export class RefusalTransport implements Transport {
  readonly refused = new Set<string>();
  readonly #inner: Transport;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #onRefused: (entry: string) => Promise<void>;

  constructor(
    { embedded, transport }: Pick<TestCluster, 'embedded' | 'transport'>,
    onRefused: (entry: string) => Promise<void> = async () => undefined,
  ) {
    this.#inner = embedded ? embedded.transportFor({ user }) : transport();
    this.#headers = embedded ? {} : { 'impersonate-user': user.name };
    this.#onRefused = onRefused;
  }

  async send(request: TransportRequest, signal?: AbortSignal) {
    const response = await this.#inner.send(this.#marked(request), signal);
    if (response.status === 403) await this.#hear(Buffer.from(response.body).toString());
    return response;
  }

  open(request: TransportRequest, handler: StreamHandler): Stream {
    let text = '';
    let status = 0;
    return this.#inner.open(this.#marked(asOlderServersWantIt(request)), {
      ...handler,
      head: (code, headers) => {
        status = code;
        handler.head(code, headers);
      },
      data: (chunk) => {
        if (status === 403) text += Buffer.from(chunk).toString();
        handler.data(chunk);
      },
      end: () => {
        const heard = status === 403 ? this.#hear(text) : Promise.resolve();
        void heard.then(() => handler.end());
      },
      error: (error) => handler.error(error),
    });
  }

  async close(): Promise<void> {
    await this.#inner.close();
  }

  #marked(request: TransportRequest): TransportRequest {
    return { ...request, headers: { ...request.headers, ...this.#headers } };
  }

  async #hear(body: string): Promise<void> {
    const { message = '' } = JSON.parse(body) as { message?: string };
    const found = /cannot (\S+) resource "([^"]+)" in API group "([^"]*)"/.exec(message);
    if (!found) throw new Error(`a refusal that names no permission: ${message}`);
    const entry = `${found[1]} ${found[2]}.${found[3]}`;
    this.refused.add(entry);
    await this.#onRefused(entry);
  }
}

/** Whoever begins with nothing on a cluster and is given what it was refused, one right after another. */
export async function givenWhenRefused(where: { readonly client: Client }, given = new Set<string>()) {
  await grant(where, []);
  return {
    given,
    give: async (entry: string) => {
      given.add(entry);
      await grant(where, [...given].map(ruleOf));
    },
  };
}

/** What it was given that the rules do not name. */
export function unexpected(given: ReadonlySet<string>, rules: readonly PolicyRule[]): string[] {
  return [...given].filter((entry) => !new Set(entriesOf(rules)).has(entry));
}

/** What the rules name that it was never refused. */
export function unneeded(given: ReadonlySet<string>, rules: readonly PolicyRule[]): string[] {
  return entriesOf(rules).filter((entry) => !given.has(entry));
}

/** A server that cannot stream a list refuses to; then the informers list first, for which they need the right. */
function asOlderServersWantIt(request: TransportRequest): TransportRequest {
  return {
    ...request,
    path: request.path.replace('resourceVersionMatch=NotOlderThan', 'resourceVersionMatch=Unknown'),
  };
}

export async function grant({ client }: { readonly client: Client }, rules: readonly PolicyRule[]): Promise<void> {
  const metadata = { name: 'under-test' };
  await client.apply(newObject(ClusterRole, { metadata, rules: rules as PolicyRule[] }));
  await client.apply(
    newObject(ClusterRoleBinding, {
      metadata,
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'under-test' },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: user.name }],
    }),
  );
}
