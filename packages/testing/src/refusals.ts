import {
  createClient,
  type Client,
  ClusterRole,
  ClusterRoleBinding,
  newObject,
  type PolicyRule,
  type Stream,
  type StreamHandler,
  type Transport,
  type TransportRequest,
  type TransportResponse,
} from '@slipway/kube';

import { apartFromWork } from './outside-work.ts';
import type { TestCluster } from './test-cluster.ts';

/** Who an operator is whose role is under test. */
export const underTest = { name: 'operator-under-test', groups: ['system:authenticated'] };

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

export interface RefusalOptions {
  /** Told of everything that was refused, before whoever asked for it. */
  readonly onRefused?: (entry: string) => Promise<void>;
  /** Asks again for what `onRefused` has given meanwhile; the operator never hears of the refusal. Default false. */
  readonly insists?: boolean;
}

/** The way of an operator that is one user of many, on which its refusals are heard. */
export class RefusalTransport implements Transport {
  readonly refused = new Set<string>();
  readonly #inner: Transport;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #options: RefusalOptions;

  constructor({ embedded, transport }: Pick<TestCluster, 'embedded' | 'transport'>, options: RefusalOptions = {}) {
    this.#inner = embedded ? embedded.transportFor({ user: underTest }) : transport();
    this.#headers = embedded ? {} : { 'impersonate-user': underTest.name };
    this.#options = options;
  }

  async send(request: TransportRequest, signal?: AbortSignal) {
    for (;;) {
      const response = await apartFromWork(() => this.#inner.send(this.#marked(request), signal));
      const entries = refusedBy(response);
      const isNew = entries.some((entry) => !this.refused.has(entry));
      await this.#hear(entries);
      if (!isNew || !this.#options.insists) return response;
    }
  }

  open(request: TransportRequest, handler: StreamHandler): Stream {
    let text = '';
    let status = 0;
    return apartFromWork(() =>
      this.#inner.open(this.#marked(this.#options.onRefused ? asOlderServersWantIt(request) : request), {
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
          const heard = status === 403 ? this.#hear(entriesIn(text)) : Promise.resolve();
          void heard.then(() => handler.end());
        },
        error: (error) => handler.error(error),
      }),
    );
  }

  async close(): Promise<void> {
    await this.#inner.close();
  }

  #marked(request: TransportRequest): TransportRequest {
    return { ...request, headers: { ...request.headers, ...this.#headers } };
  }

  async #hear(entries: readonly string[]): Promise<void> {
    for (const entry of entries) {
      this.refused.add(entry);
      await this.#options.onRefused?.(entry);
    }
  }
}

/** What an answer refuses: the request itself, or what somebody who asked first whether he may will not do. */
function refusedBy({ status, body }: TransportResponse): string[] {
  const text = Buffer.from(body).toString();
  if (status === 403) return entriesIn(text);
  if (status !== 201 || !text.includes('SelfSubjectAccessReview')) return [];
  const { spec, status: answer } = JSON.parse(text) as AccessReview;
  const { verb, group = '', resource } = spec?.resourceAttributes ?? {};
  return answer?.allowed === false && resource !== undefined ? [`${verb} ${resource}.${group}`] : [];
}

interface AccessReview {
  readonly spec?: {
    readonly resourceAttributes?: { readonly verb?: string; readonly group?: string; readonly resource?: string };
  };
  readonly status?: { readonly allowed?: boolean };
}

/** The entries a refusal asks for: those of the request, or those of a role that may not be given away. */
export function entriesIn(message: string): string[] {
  // As it is in JSON, too.
  const text = message.replaceAll('\\"', '"');
  const list = (part: string) => [...part.matchAll(/"([^"]*)"/g)].map(([, value]) => value!);
  const asked = text.matchAll(/cannot (\S+) resource "([^"]+)" in API group "([^"]*)"/g);
  const given = text.matchAll(
    /\{APIGroups:\[(.*?)\], Resources:\[(.*?)\](?:, ResourceNames:\[.*?\])?, Verbs:\[(.*?)\]\}/g,
  );
  const entries = [
    ...[...asked].map(([, verb, resource, group]) => `${verb} ${resource}.${group}`),
    ...[...given].flatMap(([, groups, resources, verbs]) =>
      entriesOf([{ apiGroups: list(groups!), resources: list(resources!), verbs: list(verbs!) }]),
    ),
  ];
  if (entries.length === 0) throw new Error(`a refusal that names no permission: ${message}`);
  return entries;
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
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: underTest.name }],
    }),
  );
}

/** Resolves when the last rule of a role counts: a real server notices it a moment later. */
export async function isInForce(
  cluster: TestCluster,
  transport: Transport,
  role: readonly PolicyRule[],
): Promise<void> {
  const entry = entriesOf(role).at(-1);
  if (cluster.embedded || entry === undefined) return;
  const { apiGroups, resources, verbs } = ruleOf(entry);
  const [resource = '', subresource] = resources![0]!.split('/');
  const client = createClient({ transport, fieldManager: 'test', clock: cluster.clock });
  await cluster.eventually(`${entry} is in force`, async () => {
    const asked = { group: apiGroups![0]!, resource, verb: verbs[0]!, namespace: 'default' };
    return (await client.canI({ ...asked, ...(subresource === undefined ? {} : { subresource }) })).allowed;
  });
}
