import { gunzipSync, gzipSync } from 'node:zlib';
import { Secret, type DeepReadonly, type KubeObject } from '@slipway/kube';
import { refKey, refOf } from '@slipway/manifests';

import { ClusterActiveOperand } from '../api.ts';
import { mergedManifest } from '../live-refs.ts';
import { ownerReferenceTo, type Revision } from './revisions.ts';
import type { Manifest, OperandRun } from './run.ts';

type Objects = readonly DeepReadonly<KubeObject>[];
type Kept = NonNullable<NonNullable<DeepReadonly<ClusterActiveOperand>['status']>['lastReadyManifest']>;

const encoding = 'gzip+base64';
const secretType = 'operand.slipway.dev/manifest';
/** What a ClusterActiveOperand can hold besides its list of members, in characters. The server's limit is 1.5 MB for all of it. */
const largestData = 1_300_000;

/**
 * For rolling back: the content that was last ready, packed, on the set it belongs to. What came from a Secret is kept in a
 * Secret beside it, owned by the set: whoever may not read the source may not read the copy either.
 */
export async function keepReadyManifest(run: OperandRun, manifest: Manifest, current: Revision): Promise<void> {
  if (run.operand.spec.onFailure !== 'Rollback' || manifest.rolledBack) return;
  const { client, signal } = run.context;
  const generation = run.operand.metadata.generation ?? 0;
  const before = current.object.status?.lastReadyManifest;
  if (before?.generation === generation && (before.sourcesHash ?? '') === manifest.sourcesHash) return;

  const open = manifest.steadyState.filter((object) => originOf(object, manifest) === undefined);
  const data = pack({ steadyState: open, postInstall: manifest.postInstall });
  if (data.length > largestData) {
    run.context.events.warning(
      run.operand,
      'ManifestNotKept',
      `the manifest is too large to be kept for a roll-back (${data.length} characters packed); move parts of it into Secrets named by spec.steadyStateFrom`,
    );
    return;
  }
  // The copies come first, under names of their own: until the set names them, the ones before are in force.
  const secrets: { namespace: string; name: string }[] = [];
  for (const namespace of new Set(manifest.secretOrigins.values())) {
    const name = `${current.name}-manifest-${generation}-${manifest.sourcesHash.slice(0, 8)}`;
    const closed = manifest.steadyState.filter((object) => originOf(object, manifest) === namespace);
    await client.apply(
      {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: {
          namespace,
          name,
          ownerReferences: [{ ...ownerReferenceTo(current), blockOwnerDeletion: false }],
        },
        type: secretType,
        data: { manifest: pack({ steadyState: closed, postInstall: [] }) },
      },
      { fieldManager: run.fieldManager, force: true, signal },
    );
    secrets.push({ namespace, name });
  }
  await client.patch(
    ClusterActiveOperand,
    { name: current.name },
    {
      type: 'merge',
      body: {
        status: { lastReadyManifest: { generation, encoding, data, sourcesHash: manifest.sourcesHash, secrets } },
      },
    },
    { subresource: 'status', signal },
  );
  const kept = new Set(secrets.map(({ namespace, name }) => `${namespace}/${name}`));
  for (const old of before?.secrets ?? []) {
    if (!kept.has(`${old.namespace}/${old.name}`)) await client.delete(Secret, old, { signal });
  }
}

/** The copies in Secrets go with a set that is deleted without its objects; otherwise the garbage collector takes them. */
export async function dropKeptSecrets(run: OperandRun, revision: Revision): Promise<void> {
  for (const { namespace, name } of revision.object.status?.lastReadyManifest?.secrets ?? [])
    await run.context.client.delete(Secret, { namespace, name }, { signal: run.context.signal });
}

/** The manifest kept with the active set, or `undefined` when there is none or part of it is gone. */
export async function readKeptManifest(run: OperandRun): Promise<Manifest | undefined> {
  const { client, signal } = run.context;
  const { status } = run.operand;
  const name = status?.latestReadyActiveOperand;
  const set = name ? await client.get(ClusterActiveOperand, { name }, { signal }) : undefined;
  const kept: Kept | undefined = set?.status?.lastReadyManifest;
  if (!kept) return undefined;
  const { steadyState, postInstall } = unpack(kept.data);
  const closed: DeepReadonly<KubeObject>[] = [];
  const secretOrigins = new Map<string, string>();
  for (const at of kept.secrets ?? []) {
    const secret = await client.get(Secret, { namespace: at.namespace, name: at.name }, { signal });
    const data = secret?.data?.['manifest'];
    if (data === undefined) return undefined;
    for (const object of unpack(data).steadyState) {
      closed.push(object);
      secretOrigins.set(refKey(refOf(object)), at.namespace);
    }
  }
  const whole = [...steadyState, ...closed];
  return {
    steadyState: whole,
    postInstall,
    merged: mergedManifest(whole, postInstall),
    sourcesHash: status?.sourcesHash ?? '',
    secretOrigins,
    rolledBack: true,
  };
}

function originOf(object: DeepReadonly<KubeObject>, manifest: Manifest): string | undefined {
  return manifest.secretOrigins.get(refKey(refOf(object)));
}

function pack(content: { steadyState: Objects; postInstall: Objects }): string {
  return gzipSync(JSON.stringify(content)).toString('base64');
}

function unpack(data: string): { steadyState: Objects; postInstall: Objects } {
  return JSON.parse(gunzipSync(Buffer.from(data, 'base64')).toString('utf8')) as {
    steadyState: Objects;
    postInstall: Objects;
  };
}
