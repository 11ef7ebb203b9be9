import { createHash } from 'node:crypto';
import {
  findCondition,
  isConflict,
  isForbidden,
  isTransient,
  KubeError,
  Secret,
  type DeepReadonly,
  type KubeObject,
} from '@slipway/kube';
import { groupOf, refKey, refOf, refusalText } from '@slipway/manifests';

import { accountOf } from '../account.ts';
import { ClusterActiveOperand } from '../api.ts';
import { mergedManifest } from '../live-refs.ts';
import { names } from '../names.ts';
import { operandCondition, type OperandReason } from '../reasons.ts';
import { memberReferenceTo } from '../set-references.ts';
import { pack, unpack } from './packed.ts';
import type { Revision } from './revisions.ts';
import type { Manifest, OperandRun } from './run.ts';
import { writeStatus } from './status.ts';

type Kept = NonNullable<NonNullable<DeepReadonly<ClusterActiveOperand>['status']>['lastReadyManifest']>;
type SecretKey = Kept['secrets'] extends readonly (infer Key)[] | undefined ? Key : never;

/** The part of a manifest that is kept in one place. */
interface Part {
  readonly steadyState: readonly DeepReadonly<KubeObject>[];
  readonly postInstall: readonly DeepReadonly<KubeObject>[];
}

const encoding = 'gzip+base64';
const secretType = 'operand.slipway.dev/manifest';
/** What the server stores of one ClusterActiveOperand, with room for its metadata and conditions, in bytes. The limit is 1.5 MiB. */
const largestSet = 1_450_000;
/** What is put into one Secret, in bytes. The limit is 1 MiB. */
const largestSecret = 900_000;

/**
 * For rolling back: the content that was last ready. What is open in the Operand is kept, packed, in the status of the set it
 * belongs to. Secrets, and whatever came from a source, are kept in Secrets owned by the set, in the namespace they are from:
 * whoever may not read the original may not read the copy either.
 */
export async function keepReadyManifest(run: OperandRun, manifest: Manifest, current: Revision): Promise<void> {
  if (run.operand.spec.onFailure !== 'Rollback' || manifest.rolledBack) return;
  const generation = run.operand.metadata.generation ?? 0;
  const before = current.object.status?.lastReadyManifest;
  const isKept =
    before?.generation === generation &&
    (before.sourcesHash ?? '') === manifest.sourcesHash &&
    // Copies of earlier versions have none.
    (before.secrets ?? []).every(({ sha256 }) => sha256 !== undefined);
  const data = isKept ? before.data : pack(partOf(manifest, undefined)).toString('base64');
  const size = data.length + 2 * JSON.stringify(current.live).length;
  if (size > largestSet) {
    // An older manifest is not the last ready one.
    if (before) await storeKept(run, current, null);
    if (before || run.sawAll) await dropKeptSecrets(run, current);
    const remedy = 'move parts of it into ConfigMaps or Secrets named by spec.steadyStateFrom';
    await reportNotKept(run, 'ManifestTooLarge', `it takes ${size} bytes where ${largestSet} fit; ${remedy}`);
    return;
  }
  try {
    let secrets = before?.secrets;
    if (!isKept) {
      // The copies come first, under names of their own: until the set names them, the ones before are in force.
      secrets = await keepInSecrets(run, manifest, current, `${generation}-${manifest.sourcesHash.slice(0, 8)}`);
      await storeKept(run, current, { generation, encoding, data, sourcesHash: manifest.sourcesHash, secrets });
    }
    // Now and then also when all is kept: the process may have died before it took the older copies off.
    if (!isKept || run.sawAll) await dropKeptSecrets(run, current, secrets);
  } catch (error) {
    if (!(error instanceof KubeError) || isConflict(error) || isTransient(error)) throw error;
    await reportNotKept(run, 'ManifestNotKept', refusalText(error));
    return;
  }
  await writeStatus(run, {
    conditions: [
      operandCondition('RollbackPossible', true, 'Kept', `the manifest of generation ${generation} is kept`),
    ],
  });
}

async function keepInSecrets(
  run: OperandRun,
  manifest: Manifest,
  current: Revision,
  version: string,
): Promise<SecretKey[]> {
  const namespaces = [...manifest.steadyState, ...manifest.postInstall].map((object) => homeOf(object, manifest));
  const secrets: SecretKey[] = [];
  for (const namespace of new Set(namespaces.filter((home) => home !== undefined))) {
    const bytes = pack(partOf(manifest, namespace));
    for (let piece = 0; piece * largestSecret < bytes.length; piece += 1) {
      const name = `${current.name}-manifest-${version}-${piece}`;
      const content = bytes.subarray(piece * largestSecret, (piece + 1) * largestSecret);
      await run.client.apply(
        {
          apiVersion: 'v1',
          kind: 'Secret',
          metadata: {
            namespace,
            name,
            labels: { [names.keptManifestLabel]: current.name },
            ownerReferences: [{ ...memberReferenceTo(current.object), blockOwnerDeletion: false }],
          },
          type: secretType,
          data: { manifest: content.toString('base64') },
        },
        { fieldManager: run.fieldManager, force: true, signal: run.context.signal },
      );
      secrets.push({ namespace, name, sha256: sha256(content) });
    }
  }
  return secrets;
}

async function storeKept(run: OperandRun, current: Revision, kept: Kept | null): Promise<void> {
  await run.context.client.patch(
    ClusterActiveOperand,
    { name: current.name },
    { type: 'merge', body: { status: { lastReadyManifest: kept } } },
    { subresource: 'status', signal: run.context.signal },
  );
}

async function reportNotKept(run: OperandRun, reason: OperandReason, why: string): Promise<void> {
  const message = `the manifest is not kept, a failure will not be rolled back: ${why}`;
  if (findCondition(run.operand, 'RollbackPossible')?.message !== message)
    run.context.events.warning(run.operand, reason, message);
  await writeStatus(run, { conditions: [operandCondition('RollbackPossible', false, reason, message)] });
}

/**
 * Takes off the copies a set has in Secrets, all but those to `stay`. The garbage collector takes them with their set, but not
 * when the set is deleted without its objects.
 */
export async function dropKeptSecrets(
  run: OperandRun,
  set: Revision,
  stay: readonly DeepReadonly<SecretKey>[] = [],
): Promise<void> {
  const { signal } = run.context;
  const staying = new Set(stay.map((key) => `${key.namespace}/${key.name}`));
  const labelSelector = { [names.keptManifestLabel]: set.name };
  const account = accountOf(run.operand, run.accounts);
  for (const namespace of account ? homesOf(set) : [undefined]) {
    try {
      for await (const { metadata, type } of run.client.list(Secret, { namespace, labelSelector, signal })) {
        if (type !== secretType || staying.has(`${metadata.namespace}/${metadata.name}`)) continue;
        await run.client.delete(Secret, { namespace: metadata.namespace!, name: metadata.name! }, { signal });
      }
    } catch (error) {
      // An account that may not see Secrets somewhere keeps none there.
      if (!account || !isForbidden(error)) throw error;
    }
  }
}

/** The namespaces a set can have copies in, for an account that may not look everywhere. */
function homesOf({ live, object }: Revision): Set<string> {
  const kept = object.status?.lastReadyManifest?.secrets ?? [];
  return new Set([...live, ...kept].map(({ namespace }) => namespace).filter((namespace) => namespace !== ''));
}

/**
 * The manifest kept with the active set, or `undefined` when there is none, or part of it is gone or is not what was kept:
 * whoever may write Secrets in a namespace must not decide what the operator applies. Status says which.
 */
export async function readKeptManifest(run: OperandRun): Promise<Manifest | undefined> {
  const { client, signal } = run.context;
  const { status } = run.operand;
  const name = status?.latestReadyActiveOperand;
  const set = name ? await client.get(ClusterActiveOperand, { name }, { signal }) : undefined;
  const kept: Kept | undefined = set?.status?.lastReadyManifest;
  if (!kept) return undefined;
  const parts = [unpack(Buffer.from(kept.data, 'base64'), `status.lastReadyManifest of ${set!.metadata.name}`) as Part];
  const sourceNamespaces = new Map<string, string>();
  for (const [namespace, pieces] of Map.groupBy(kept.secrets ?? [], (piece) => piece.namespace)) {
    const bytes: Buffer[] = [];
    for (const piece of pieces) {
      const data = (await run.client.get(Secret, { namespace, name: piece.name }, { signal }))?.data?.['manifest'];
      const content = data === undefined ? undefined : Buffer.from(data, 'base64');
      if (content === undefined || sha256(content) !== piece.sha256) {
        await reportUnusable(run, `${namespace}/${piece.name}`, content !== undefined);
        return undefined;
      }
      bytes.push(content);
    }
    const part = unpack(Buffer.concat(bytes), `the manifest kept in namespace ${namespace}`) as Part;
    for (const object of part.steadyState) sourceNamespaces.set(refKey(refOf(object)), namespace);
    parts.push(part);
  }
  const steadyState = parts.flatMap((part) => part.steadyState);
  const postInstall = parts.flatMap((part) => part.postInstall);
  return {
    steadyState,
    postInstall,
    merged: mergedManifest(steadyState, postInstall),
    sourcesHash: status?.sourcesHash ?? '',
    sourceNamespaces,
    rolledBack: true,
  };
}

async function reportUnusable(run: OperandRun, secret: string, present: boolean): Promise<void> {
  const reason = present ? 'KeptManifestTampered' : 'KeptManifestGone';
  const what = present
    ? 'is not what was kept there; it is not applied. Find out who may write Secrets there'
    : 'is gone';
  const message = `the last ready manifest cannot be brought back: Secret ${secret} ${what}; correct the manifest instead`;
  if (findCondition(run.operand, 'RollbackPossible')?.message !== message)
    run.context.events.warning(run.operand, reason, message);
  await writeStatus(run, { conditions: [operandCondition('RollbackPossible', false, reason, message)] });
}

/** The namespace whose Secrets an object is kept in; `undefined` when it may stand in a status. */
function homeOf(object: DeepReadonly<KubeObject>, manifest: Manifest): string | undefined {
  const source = manifest.sourceNamespaces.get(refKey(refOf(object)));
  if (source !== undefined) return source;
  return object.kind === 'Secret' && groupOf(object.apiVersion) === '' ? object.metadata.namespace : undefined;
}

function partOf(manifest: Manifest, home: string | undefined): Part {
  const isHere = (object: DeepReadonly<KubeObject>) => homeOf(object, manifest) === home;
  return { steadyState: manifest.steadyState.filter(isHere), postInstall: manifest.postInstall.filter(isHere) };
}

function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
