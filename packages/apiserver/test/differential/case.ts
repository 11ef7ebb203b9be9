/** One request of a case. `{name}` in path, headers and body stands for a saved variable; `{ns}` is the case's namespace. */
export interface Send {
  readonly does: 'send';
  readonly label: string;
  readonly method: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Objects are sent as JSON, strings as they are. */
  readonly body?: unknown;
  /** Keeps parts of the answer for later requests. */
  readonly save?: Readonly<Record<string, (body: Json) => unknown>>;
  /** Which part of the answer is compared. Default: all of it. */
  readonly pick?: (body: Json) => unknown;
}

/** Sends until the answer is as wanted; nothing of it is compared. Gives a real cluster the time it needs. */
export interface Poll {
  readonly does: 'poll';
  readonly request: Send;
  readonly until: (answer: { readonly status: number; readonly body: Json }) => boolean;
  /** Whether its request also belongs to clusters that need no time. */
  readonly what: string;
}

/** Opens a watch that stays open while the case goes on. */
export interface OpenWatch {
  readonly does: 'open';
  readonly watch: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Waits for so many events, for a certain one or for the end of a watch, closes it and compares what came. */
export interface CollectWatch {
  readonly does: 'collect';
  readonly watch: string;
  readonly events: number | 'end' | ((event: Json) => boolean);
  readonly pick?: (event: Json) => unknown;
}

/** Makes the cluster forget its history, as etcd does every few minutes. */
export interface Compact {
  readonly does: 'compact';
}

export type Step = Send | Poll | OpenWatch | CollectWatch | Compact;

export interface DifferentialCase {
  readonly name: string;
  readonly steps: readonly Step[];
}

/** Cases that run on clusters of the same kind; one golden file each. */
export interface CaseGroup {
  readonly name: string;
  /** Which controllers run on both sides. Default `none`. */
  readonly controllers?: 'none' | 'workloads';
  readonly cases: readonly DifferentialCase[];
  /** Prepares what the cases need besides a cluster, and gives variables to them. */
  readonly prepare?: () => Promise<{ readonly variables: Readonly<Record<string, string>>; stop(): Promise<void> }>;
}

// oxlint-disable-next-line typescript/no-explicit-any -- what a server answers has no type before it is checked
export type Json = any;

type Extra = Pick<Send, 'headers' | 'save' | 'pick'>;

export const mergePatch = 'application/merge-patch+json';
export const jsonPatch = 'application/json-patch+json';
export const strategicPatch = 'application/strategic-merge-patch+json';
export const applyPatch = 'application/apply-patch+yaml';
export const asTable = 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json';

export function send(label: string, method: string, path: string, extra: Partial<Send> = {}): Send {
  return { does: 'send', label, method, path, ...extra };
}

export function get(label: string, path: string, extra: Extra = {}): Send {
  return send(label, 'GET', path, extra);
}

export function post(label: string, path: string, body: unknown, extra: Extra = {}): Send {
  return send(label, 'POST', path, { body, ...extra });
}

export function put(label: string, path: string, body: unknown, extra: Extra = {}): Send {
  return send(label, 'PUT', path, { body, ...extra });
}

export function patch(label: string, path: string, type: string, body: unknown, extra: Extra = {}): Send {
  return send(label, 'PATCH', path, { body, ...extra, headers: { 'content-type': type, ...extra.headers } });
}

export function del(label: string, path: string, body?: unknown, extra: Extra = {}): Send {
  return send(label, 'DELETE', path, { ...(body === undefined ? {} : { body }), ...extra });
}

export function poll(what: string, path: string, until: Poll['until']): Poll {
  return { does: 'poll', what, request: get(what, path), until };
}

export function openWatch(watch: string, path: string, headers: Readonly<Record<string, string>> = {}): OpenWatch {
  return { does: 'open', watch, path, headers };
}

export function collect(watch: string, events: CollectWatch['events'], pick?: CollectWatch['pick']): CollectWatch {
  return { does: 'collect', watch, events, ...(pick ? { pick } : {}) };
}

export function compact(): Compact {
  return { does: 'compact' };
}

export function differentialCase(name: string, ...steps: Step[]): DifferentialCase {
  return { name, steps };
}

/** Path of a namespaced core resource in the case's namespace. */
export function core(rest: string): string {
  return `/api/v1/namespaces/{ns}/${rest}`;
}

/** Path of a namespaced resource of another group, such as `apps/v1`. */
export function grouped(groupVersion: string, rest: string): string {
  return `/apis/${groupVersion}/namespaces/{ns}/${rest}`;
}

export function configMap(name: string, data: Record<string, unknown> | undefined, metadata: object = {}): object {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, ...metadata }, ...(data ? { data } : {}) };
}
