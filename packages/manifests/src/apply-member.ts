import { isConflict, type Client, type DeepReadonly, type Kind, type KubeObject } from '@slipway/kube';

import { annotations, driftPolicyOf, mayRecreate, modeOf } from './annotations.ts';
import type { AppliedMemo } from './applied-memo.ts';
import { carriesDriftMark } from './drift-mark.ts';
import { fittedName } from './fitted-name.ts';
import type { HealthRules } from './health-rules.ts';
import { refOf } from './identity.ts';
import { keyOfRef } from './live-state.ts';
import { isMember, isMembershipLabel, isSetLabel, isShared, otherOwner, type Membership } from './membership.ts';
import type { MemberResult } from './member-result.ts';
import { isAppliedAlready } from './owned-fields.ts';
import { isRefusedAsChange, refusalText, refusedMember } from './refusal.ts';

/** Who may be taken into the set when it exists already. */
export type AdoptionPolicy =
  /** Only objects that carry the set's mark. */
  | 'MustMatch'
  /** Also objects nobody else claims (no controller, no other set, no Helm release). */
  | 'AdoptIfUnowned'
  /** Everything. */
  | 'AdoptAll';

export interface MemberContext {
  readonly client: Client;
  readonly fieldManager: string;
  readonly membership: Membership;
  readonly adoption: AdoptionPolicy;
  readonly health: Pick<HealthRules, 'of'>;
  readonly memo: AppliedMemo;
  readonly signal?: AbortSignal;
}

/** Brings one member to what its configuration says, with as few requests as possible. Never throws for what the server refuses. */
export async function applyMember(
  config: KubeObject,
  kind: Kind,
  live: DeepReadonly<KubeObject> | undefined,
  context: MemberContext,
): Promise<MemberResult> {
  const ref = refOf(config);
  try {
    if (live?.metadata.deletionTimestamp) {
      return {
        ref,
        action: 'waiting',
        uid: live.metadata.uid,
        health: context.health.of(live),
        message: 'it is being deleted, and made again when it is gone',
      };
    }
    if (!live) return await create(config, context);
    const refusal = adoptionRefusal(live, context);
    if (refusal) return { ref, action: 'failed', uid: live.metadata.uid, message: refusal };
    if (modeOf(config) === 'EnsureExists') return await keep(config, live, context);
    if (
      isAppliedAlready(config, live, context.fieldManager) ||
      context.memo.knows(live, config, context.fieldManager)
    ) {
      return settled('unchanged', live, context);
    }
    if (driftPolicyOf(config) !== 'Correct' && isMember(live, context.membership) && carriesDriftMark(live, config))
      return await leaveDrifted(config, await withWantedOwners(config, live, context), context);
    return await configure(config, kind, live, context);
  } catch (error) {
    if (context.signal?.aborted) throw error;
    return refusedMember(ref, error, { uid: live?.metadata.uid });
  }
}

/** What the server takes as the name of a field manager, in characters. */
export const longestFieldManager = 128;

/** Who owns the content of objects that are only ensured to exist. */
export function initialManagerOf(fieldManager: string): string {
  return fittedName(`${fieldManager}-initial`, longestFieldManager);
}

async function create(config: KubeObject, context: MemberContext): Promise<MemberResult> {
  // Server-side apply from the first write on: a POST would leave a second ownership entry that keeps dropped fields alive.
  // An object that is only ensured to exist gets its content under a manager of its own, so that later applies, which carry
  // the marks alone, do not take the content away.
  const manager = modeOf(config) === 'EnsureExists' ? initialManagerOf(context.fieldManager) : context.fieldManager;
  const created = await context.client.apply(config, { fieldManager: manager, force: true, signal: context.signal });
  if (manager !== context.fieldManager)
    await context.client.apply(marksOf(config), {
      fieldManager: context.fieldManager,
      force: true,
      signal: context.signal,
    });
  else context.memo.remember(created, config, manager);
  return settled('created', created, context);
}

/** The part of a configuration that ties the object to its set: labels of the set and owner references. */
function marksOf(config: KubeObject): KubeObject {
  const { name, namespace, labels, ownerReferences } = config.metadata;
  const marks = Object.entries(labels ?? {}).filter(([key]) => isMembershipLabel(key));
  return {
    apiVersion: config.apiVersion,
    kind: config.kind,
    metadata: {
      name,
      ...(namespace ? { namespace } : {}),
      labels: Object.fromEntries(marks),
      ...(ownerReferences ? { ownerReferences } : {}),
    },
  };
}

async function keep(config: KubeObject, live: DeepReadonly<KubeObject>, context: MemberContext): Promise<MemberResult> {
  const marks = marksOf(config);
  if (isAppliedAlready(marks, live, context.fieldManager)) return settled('kept', live, context);
  const marked = await context.client.apply(marks, {
    fieldManager: context.fieldManager,
    force: true,
    signal: context.signal,
  });
  return settled('kept', marked, context);
}

/**
 * Owners are no content: an object whose drift is left gets those of a new set all the same. Under a manager of their own, for
 * an apply that carries them alone would take the content away.
 */
async function withWantedOwners(
  config: KubeObject,
  live: DeepReadonly<KubeObject>,
  context: MemberContext,
): Promise<DeepReadonly<KubeObject>> {
  const { name, namespace, ownerReferences = [] } = config.metadata;
  const present = new Set(live.metadata.ownerReferences?.map(({ uid }) => uid));
  if (ownerReferences.every(({ uid }) => present.has(uid))) return live;
  return await context.client.apply(
    {
      apiVersion: config.apiVersion,
      kind: config.kind,
      metadata: { name, ...(namespace ? { namespace } : {}), uid: live.metadata.uid, ownerReferences },
    },
    { fieldManager: `${context.fieldManager}-owners`, force: true, signal: context.signal },
  );
}

async function leaveDrifted(
  config: KubeObject,
  live: DeepReadonly<KubeObject>,
  context: MemberContext,
): Promise<MemberResult> {
  if (driftPolicyOf(config) === 'Ignore') return settled('unchanged', live, context);
  const wanted = await context.client.apply(config, {
    fieldManager: context.fieldManager,
    force: true,
    dryRun: true,
    signal: context.signal,
  });
  if (sameContent(wanted, live)) {
    context.memo.remember(live, config, context.fieldManager);
    return settled('unchanged', live, context);
  }
  return { ...settled('drifted', live, context), message: 'differs from the manifest and its drift policy is Warn' };
}

async function configure(
  config: KubeObject,
  kind: Kind,
  live: DeepReadonly<KubeObject>,
  context: MemberContext,
): Promise<MemberResult> {
  await adoptOwnUpdates(kind, live, context);
  try {
    const applied = await applyUnlessDisputed(config, live, context);
    context.memo.remember(applied, config, context.fieldManager);
    // The server does not store an apply that changes nothing: the version tells.
    const action = applied.metadata.resourceVersion === live.metadata.resourceVersion ? 'unchanged' : 'configured';
    return settled(action, applied, context);
  } catch (error) {
    if (!(await isRefusedAsChange(error, config, context.client, context))) throw error;
    if (mayRecreate(config)) return await recreate(config, kind, live, context);
    const hint = `(to let it be deleted and created again, annotate it with ${annotations.recreate}: enabled)`;
    return refusedMember(refOf(config), error, {
      uid: live.metadata.uid,
      message: `${refusalText(error)} ${hint}`,
    });
  }
}

/** Another set has the object and wants other values. Over once that set lets go of it, or the two agree. */
export class Disputed extends Error {
  override readonly name = 'Disputed';
}

/** Takes fields over from everybody but other sets: those want their values as much as this one does. */
async function applyUnlessDisputed(
  config: KubeObject,
  live: DeepReadonly<KubeObject>,
  context: MemberContext,
): Promise<KubeObject> {
  const apply = (force: boolean) =>
    context.client.apply(config, { fieldManager: context.fieldManager, force, signal: context.signal });
  if (context.adoption === 'AdoptAll' || !isShared(live, context.membership)) return await apply(true);
  try {
    return await apply(false);
  } catch (error) {
    if (!isConflict(error)) throw error;
    // The answer names the other managers in the texts of its causes and nowhere else.
    const causes = (error.details?.causes ?? []).filter((cause) => cause.reason === 'FieldManagerConflict');
    const others = setManagers(live, context.membership).filter((manager) =>
      causes.some((cause) => cause.message?.includes(`"${manager}"`)),
    );
    // Somebody else's edit of a shared object is drift like any other.
    if (others.length === 0) return await apply(true);
    throw new Disputed(
      `is a member of two sets that want different values, ${context.fieldManager} and ${others.join(', ')}: ${error.message}; take it out of one of them, make them agree, or set the adoption policy to AdoptAll`,
      { cause: error },
    );
  }
}

/** The field managers of the other sets an object belongs to: they own those sets' labels. */
function setManagers(live: DeepReadonly<KubeObject>, membership: Membership): string[] {
  return (live.metadata.managedFields ?? [])
    .filter((entry) => {
      const fields = entry.fieldsV1 as { 'f:metadata'?: { 'f:labels'?: Record<string, unknown> } } | undefined;
      return Object.keys(fields?.['f:metadata']?.['f:labels'] ?? {}).some(
        (key) => isSetLabel(key.slice(2)) && key.slice(2) !== membership.label,
      );
    })
    .map((entry) => entry.manager ?? '');
}

async function recreate(
  config: KubeObject,
  kind: Kind,
  live: DeepReadonly<KubeObject>,
  context: MemberContext,
): Promise<MemberResult> {
  const ref = refOf(config);
  const deleted = await context.client.delete(kind, keyOfRef(ref), {
    propagationPolicy: 'Background',
    preconditions: { uid: live.metadata.uid! },
    signal: context.signal,
  });
  if (deleted?.state === 'terminating') {
    return { ref, action: 'waiting', uid: live.metadata.uid, message: 'it is being deleted to be created again' };
  }
  const created = await create(config, context);
  return { ...created, action: 'recreated' };
}

/** Fields this manager wrote with PUT or POST would survive an apply that drops them: turn that ownership into apply ownership first. */
async function adoptOwnUpdates(kind: Kind, live: DeepReadonly<KubeObject>, context: MemberContext): Promise<void> {
  const entries = live.metadata.managedFields ?? [];
  const index = entries.findIndex(
    (entry) => entry.manager === context.fieldManager && entry.operation === 'Update' && !entry.subresource,
  );
  if (index < 0 || entries.some((entry) => entry.manager === context.fieldManager && entry.operation === 'Apply'))
    return;
  await context.client.patch(
    kind,
    keyOfRef(refOf({ apiVersion: kind.apiVersion, kind: kind.kind, metadata: live.metadata })),
    {
      type: 'json',
      operations: [
        { op: 'test', path: '/metadata/resourceVersion', value: live.metadata.resourceVersion },
        { op: 'replace', path: `/metadata/managedFields/${index}/operation`, value: 'Apply' },
      ],
    },
    { signal: context.signal },
  );
}

/** Why an existing object is not taken into the set, or `undefined` when it may be. */
export function adoptionRefusal(
  live: DeepReadonly<KubeObject>,
  context: Pick<MemberContext, 'adoption' | 'membership'>,
): string | undefined {
  if (context.adoption === 'AdoptAll' || isMember(live, context.membership)) return undefined;
  if (context.adoption === 'MustMatch') {
    return 'exists already and does not belong to this set; delete it, rename the member, or allow adoption';
  }
  const owner = otherOwner(live);
  return owner
    ? `exists already and belongs to ${owner}; remove it there first, or allow adoption of everything`
    : undefined;
}

function settled(
  action: MemberResult['action'],
  object: DeepReadonly<KubeObject>,
  context: MemberContext,
): MemberResult {
  const { uid, resourceVersion } = object.metadata;
  return { ref: refOf(object), action, uid, resourceVersion, health: context.health.of(object) };
}

function sameContent(a: DeepReadonly<KubeObject>, b: DeepReadonly<KubeObject>): boolean {
  return JSON.stringify(content(a)) === JSON.stringify(content(b));
}

function content(object: DeepReadonly<KubeObject>): unknown {
  const { managedFields: _managed, resourceVersion: _version, generation: _generation, ...metadata } = object.metadata;
  return { ...object, metadata, status: undefined };
}
