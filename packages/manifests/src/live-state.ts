import { isForbidden, isNotFound, type Client, type DeepReadonly, type Kind, type KubeObject } from '@slipway/kube';

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
  /** Told of a member that may not be read. Default: the refusal is thrown. */
  readonly onForbidden?: (ref: ObjectRef, error: unknown) => void;
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
    await inParallel(rest, options.concurrency, async ({ kind, ref }) => {
      try {
        const object = await client.get(kind, keyOfRef(ref), { signal: options.signal });
        if (object) found.set(refKey(ref), object);
      } catch (error) {
        if (!options.onForbidden || !isForbidden(error)) throw error;
        options.onForbidden(ref, error);
      }
    });
  });
  return found;
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
  const { kind } = members[0]!;
  const namespace = commonNamespace(members);
  const base = kind.group ? `/apis/${kind.group}/${kind.version}` : `/api/${kind.version}`;
  const path = namespace ? `${base}/namespaces/${namespace}/${kind.plural}` : `${base}/${kind.plural}`;
  const names = new Set<string>();
  let token: string | undefined;
  try {
    do {
      const page = (await client.request(
        {
          method: 'GET',
          path,
          query: { limit: 500, continue: token },
          accept: 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io,application/json',
        },
        { signal: options.signal },
      )) as { metadata?: { continue?: string }; items?: { metadata: { name: string; namespace?: string } }[] };
      for (const { metadata } of page.items ?? []) names.add(`${metadata.namespace ?? ''}/${metadata.name}`);
      token = page.metadata?.continue || undefined;
    } while (token);
  } catch (error) {
    if (!isForbidden(error)) throw error;
    return members;
  }
  return members.filter(({ ref }) => names.has(`${ref.namespace}/${ref.name}`));
}

function commonNamespace(members: readonly Sought[]): string | undefined {
  const first = members[0]!.ref.namespace;
  return first && members.every(({ ref }) => ref.namespace === first) ? first : undefined;
}
