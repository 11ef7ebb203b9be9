import {
  isForbidden,
  isNotFound,
  isTransient,
  isUnknownKind,
  type Client,
  type DeepReadonly,
  type Kind,
  type KubeObject,
  type ObjectMeta,
} from '@slipway/kube';

import { refKey, refOf, type ObjectRef } from './identity.ts';
import { inParallel } from './in-parallel.ts';
import type { Membership } from './membership.ts';

/** A member to look for: what it is and which resource serves it. */
export interface Sought {
  readonly ref: ObjectRef;
  readonly kind: Kind;
}

/** Below this many members of a kind, single reads are cheaper than a list. */
const listFrom = 3;

export interface ReadMembersOptions {
  /** Requests at a time. */
  readonly concurrency: number;
  /** Told of a member that cannot be read: it may not be, its kind is not served, its conversion fails. Default: the refusal is thrown. */
  readonly onUnreadable?: (ref: ObjectRef, error: unknown) => void;
  readonly signal?: AbortSignal;
}

/**
 * The members as they are on the server: one list per kind by the set's label, then single reads (or, when many are
 * missing, one metadata list) for those without the label. Returns nothing for what does not exist.
 */
export async function readLiveMembers(
  client: Client,
  sought: readonly Sought[],
  membership: Membership,
  options: ReadMembersOptions,
): Promise<Map<string, DeepReadonly<KubeObject>>> {
  const found = new Map<string, DeepReadonly<KubeObject>>();
  const byKind = Map.groupBy(sought, ({ kind }) => `${kind.apiVersion}/${kind.plural}`);
  await inParallel([...byKind.values()], options.concurrency, async (members) => {
    const missing = await readByLabel(client, members, membership, found, options);
    const rest = missing.length > listFrom ? await existing(client, missing, options) : missing;
    await readSingly(client, rest, found, options);
  });
  return found;
}

async function readSingly(
  client: Client,
  members: readonly Sought[],
  found: Map<string, DeepReadonly<KubeObject>>,
  options: ReadMembersOptions,
): Promise<void> {
  await inParallel(members, options.concurrency, async ({ kind, ref }) => {
    try {
      const object = await client.get(kind, keyOfRef(ref), { signal: options.signal });
      if (object) found.set(refKey(ref), object);
    } catch (error) {
      const isAboutMember = isForbidden(error) || isUnknownKind(error) || (isTransient(error) && error.code === 500);
      if (!options.onUnreadable || !isAboutMember) throw error;
      options.onUnreadable(ref, error);
    }
  });
}

export function keyOfRef(ref: ObjectRef): { namespace?: string; name: string } {
  return ref.namespace ? { namespace: ref.namespace, name: ref.name } : { name: ref.name };
}

async function readByLabel(
  client: Client,
  members: readonly Sought[],
  membership: Membership,
  found: Map<string, DeepReadonly<KubeObject>>,
  options: { signal?: AbortSignal },
): Promise<readonly Sought[]> {
  if (members.length < listFrom) return members;
  const wanted = new Set(members.map(({ ref }) => refKey(ref)));
  const { kind } = members[0]!;
  try {
    for await (const item of client.list(kind, {
      namespace: commonNamespace(members),
      labelSelector: membership.label,
      signal: options.signal,
    })) {
      const key = refKey(refOf({ ...item, apiVersion: kind.apiVersion, kind: kind.kind }));
      if (wanted.has(key)) found.set(key, item);
    }
  } catch (error) {
    if (!isForbidden(error) && !isNotFound(error)) throw error;
    return members;
  }
  return members.filter(({ ref }) => !found.has(refKey(ref)));
}

/** Which of many members exist, from one metadata-only list: a first apply of a thousand objects must not cost a thousand reads. */
async function existing(
  client: Client,
  members: readonly Sought[],
  options: { signal?: AbortSignal },
): Promise<readonly Sought[]> {
  const names = new Set<string>();
  try {
    for await (const { name, namespace } of listMetadata(client, members, options))
      names.add(`${namespace ?? ''}/${name}`);
  } catch (error) {
    if (!isForbidden(error)) throw error;
    return members;
  }
  return members.filter(({ ref }) => names.has(`${ref.namespace}/${ref.name}`));
}

/**
 * At least the metadata of members, all of one kind: by single reads when they are few or not marked, otherwise from one
 * metadata-only list by the set's label. Whoever has lost the label is read singly.
 */
export async function readMetadata(
  client: Client,
  members: readonly Sought[],
  membership: Membership | undefined,
  options: ReadMembersOptions,
): Promise<Map<string, DeepReadonly<KubeObject>>> {
  const found = new Map<string, DeepReadonly<KubeObject>>();
  const { apiVersion, kind } = members[0]!.kind;
  if (!membership) {
    await readSingly(client, members, found, options);
    return found;
  }
  if (members.length >= listFrom) {
    const wanted = new Set(members.map(({ ref }) => refKey(ref)));
    try {
      for await (const metadata of listMetadata(client, members, { ...options, labelSelector: membership.label })) {
        const key = refKey(refOf({ apiVersion, kind, metadata }));
        if (wanted.has(key)) found.set(key, { apiVersion, kind, metadata });
      }
    } catch (error) {
      if (!isForbidden(error) && !isNotFound(error)) throw error;
    }
  }
  const missing = members.filter(({ ref }) => !found.has(refKey(ref)));
  const rest = missing.length > listFrom ? await existing(client, missing, options) : missing;
  await readSingly(client, rest, found, options);
  return found;
}

async function* listMetadata(
  client: Client,
  members: readonly Sought[],
  options: { signal?: AbortSignal; labelSelector?: string },
): AsyncGenerator<ObjectMeta> {
  const { kind } = members[0]!;
  const namespace = commonNamespace(members);
  const base = kind.group ? `/apis/${kind.group}/${kind.version}` : `/api/${kind.version}`;
  const path = namespace ? `${base}/namespaces/${namespace}/${kind.plural}` : `${base}/${kind.plural}`;
  let token: string | undefined;
  do {
    const page = (await client.request(
      {
        method: 'GET',
        path,
        query: { limit: 500, continue: token, labelSelector: options.labelSelector },
        accept: 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io,application/json',
      },
      { signal: options.signal },
    )) as { metadata?: { continue?: string }; items?: { metadata: ObjectMeta }[] };
    for (const { metadata } of page.items ?? []) yield metadata;
    token = page.metadata?.continue || undefined;
  } while (token);
}

function commonNamespace(members: readonly Sought[]): string | undefined {
  const first = members[0]!.ref.namespace;
  return first && members.every(({ ref }) => ref.namespace === first) ? first : undefined;
}
