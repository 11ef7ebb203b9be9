import { createHash } from 'node:crypto';
import { gunzipSync } from 'node:zlib';
import { ConfigMap, Secret, type DeepReadonly, type KubeObject } from '@slipway/kube';
import {
  ManifestError,
  orderInWaves,
  parseManifests,
  validateManifest,
  type ManifestProblem,
} from '@slipway/manifests';

import { ClusterActiveOperand } from '../api.ts';
import { mergedManifest } from '../live-refs.ts';
import { healthRulesOf } from './health-rules.ts';
import type { Manifest, OperandRun } from './run.ts';
import { installFailed, writeStatus } from './status.ts';

/** What the Operand asks for. `undefined` when it cannot be used; status says why, and nothing on the cluster is touched. */
export async function calculateManifest(run: OperandRun): Promise<Manifest | undefined> {
  try {
    const manifest = (await lastReadyManifest(run)) ?? (await wantedManifest(run));
    run.health = healthRulesOf(run.operand);
    // Refused here rather than half way: a cycle, a duplicate, a wave that is no number.
    orderInWaves(manifest.merged as KubeObject[]);
    return manifest;
  } catch (error) {
    if (!(error instanceof ManifestError)) throw error;
    await writeStatus(run, { conditions: [installFailed(error.message, false, 'InvalidManifest')] });
    run.context.events.warning(run.operand, 'InvalidManifest', error.message);
    return undefined;
  }
}

async function wantedManifest(run: OperandRun): Promise<Manifest> {
  const { spec } = run.operand;
  const external = await readSources(run);
  const steadyState = [...((spec.steadyState ?? []) as KubeObject[]), ...external.objects];
  const postInstall = (spec.postInstall ?? []) as KubeObject[];
  checkMembers('spec.steadyState', steadyState);
  checkMembers('spec.postInstall', postInstall);
  return {
    steadyState: mergedManifest(steadyState, []),
    postInstall,
    merged: mergedManifest(steadyState, postInstall),
    sourcesHash: external.hash,
    rolledBack: false,
  };
}

function checkMembers(field: string, objects: readonly unknown[]): void {
  const problems = objects.flatMap((object, index): ManifestProblem[] =>
    validateManifest(object).map((problem) => ({
      source: `${field}[${index}]`,
      field: problem.field,
      message: problem.message,
    })),
  );
  if (problems.length > 0) throw new ManifestError(problems);
}

/** The manifest kept with the active set, when the wanted generation has failed and the Operand asks to go back. */
async function lastReadyManifest(run: OperandRun): Promise<Manifest | undefined> {
  const { status, spec, metadata } = run.operand;
  if (spec.onFailure !== 'Rollback' || status?.rolledBackGeneration !== metadata.generation) return undefined;
  const name = status?.latestReadyActiveOperand;
  const set = name ? await run.context.client.get(ClusterActiveOperand, { name }) : undefined;
  const kept = set?.status?.lastReadyManifest;
  if (!kept) return undefined;
  const { steadyState, postInstall } = JSON.parse(gunzipSync(Buffer.from(kept.data, 'base64')).toString('utf8')) as {
    steadyState: DeepReadonly<KubeObject>[];
    postInstall: DeepReadonly<KubeObject>[];
  };
  return {
    steadyState,
    postInstall,
    merged: mergedManifest(steadyState, postInstall),
    sourcesHash: status?.sourcesHash ?? '',
    rolledBack: true,
  };
}

async function readSources(run: OperandRun): Promise<{ objects: KubeObject[]; hash: string }> {
  const sources = run.operand.spec.steadyStateFrom ?? [];
  if (sources.length === 0) return { objects: [], hash: '' };
  const objects: KubeObject[] = [];
  const hash = createHash('sha256');
  for (const [index, source] of sources.entries()) {
    const field = `spec.steadyStateFrom[${index}]`;
    const key = { namespace: source.namespace, name: source.name };
    const found =
      source.kind === 'Secret'
        ? await run.context.client.get(Secret, key)
        : await run.context.client.get(ConfigMap, key);
    if (!found)
      throw new ManifestError([
        { source: field, message: `${source.kind} ${source.namespace}/${source.name} does not exist` },
      ]);
    const texts = source.kind === 'Secret' ? decoded(found.data) : (found.data ?? {});
    const keys = source.key === undefined ? Object.keys(texts).sort() : [source.key];
    for (const name of keys) {
      const text = texts[name];
      if (text === undefined)
        throw new ManifestError([
          { source: field, message: `${source.kind} ${source.namespace}/${source.name} has no key ${name}` },
        ]);
      hash.update(name).update('\0').update(text).update('\0');
      objects.push(...parseManifests(text, { source: `${field} ${name}` }));
    }
  }
  return { objects, hash: hash.digest('hex').slice(0, 16) };
}

function decoded(data: Record<string, string> | undefined): Record<string, string> {
  return Object.fromEntries(
    Object.entries(data ?? {}).map(([key, value]) => [key, Buffer.from(value, 'base64').toString('utf8')]),
  );
}
