import { createHash } from 'node:crypto';
import { ConfigMap, Secret, type KubeObject } from '@slipway/kube';
import {
  ManifestError,
  orderInWaves,
  parseManifests,
  refKey,
  refOf,
  validateManifest,
  type ManifestProblem,
} from '@slipway/manifests';

import { checkAccount } from '../account.ts';
import { mergedManifest } from '../live-refs.ts';
import { healthRulesOf } from './health-rules.ts';
import { readKeptManifest } from './kept-manifest.ts';
import type { Manifest, OperandReading, OperandRun } from './run.ts';
import { installFailed, writeStatus } from './status.ts';

/** What the Operand asks for. `undefined` when it cannot be used; status says why, and nothing on the cluster is touched. */
export async function calculateManifest(run: OperandRun): Promise<Manifest | undefined> {
  try {
    checkAccount(run.operand, run.accounts);
    const manifest = (await lastReadyManifest(run)) ?? (await wantedManifest(run));
    run.health = healthRulesOf(run.operand);
    return manifest;
  } catch (error) {
    if (!(error instanceof ManifestError)) throw error;
    const problems = error.summary();
    await writeStatus(run, { conditions: [installFailed(problems, false, 'InvalidManifest')] });
    run.context.events.warning(run.operand, 'InvalidManifest', problems);
    return undefined;
  }
}

/** The manifest as the spec and its sources have it. Throws a {@link ManifestError} when it cannot be used. */
export async function wantedManifest(run: OperandReading): Promise<Manifest> {
  const { spec } = run.operand;
  const external = await readSources(run);
  const steadyState = [...((spec.steadyState ?? []) as KubeObject[]), ...external.objects];
  const postInstall = (spec.postInstall ?? []) as KubeObject[];
  checkMembers('spec.steadyState', steadyState);
  checkMembers('spec.postInstall', postInstall);
  const merged = mergedManifest(steadyState, postInstall);
  // Refused here rather than half way: a cycle, a duplicate, a wave that is no number.
  orderInWaves(merged);
  return {
    steadyState: mergedManifest(steadyState, []),
    postInstall,
    merged,
    sourcesHash: external.hash,
    sourceNamespaces: external.sourceNamespaces,
    rolledBack: false,
  };
}

function checkMembers(field: string, objects: readonly unknown[]): void {
  const problems = objects.flatMap((object, index): ManifestProblem[] =>
    validateManifest(object).map((problem) => ({ source: `${field}[${index}]`, ...problem })),
  );
  if (problems.length > 0) throw new ManifestError(problems);
}

/** The last ready manifest, when the wanted one has failed as it is now and the Operand asks to go back. */
async function lastReadyManifest(run: OperandRun): Promise<Manifest | undefined> {
  const { status, spec, metadata } = run.operand;
  if (spec.onFailure !== 'Rollback' || status?.rolledBackGeneration !== metadata.generation) return undefined;
  return (await sourcesChanged(run)) ? undefined : await readKeptManifest(run);
}

/** Whether the sources are others than those that failed: as good as a new generation. Sources that cannot be read are not. */
async function sourcesChanged(run: OperandRun): Promise<boolean> {
  try {
    return (await readSources(run)).hash !== (run.operand.status?.sourcesHash ?? '');
  } catch (error) {
    if (error instanceof ManifestError) return false;
    throw error;
  }
}

interface ExternalObjects {
  readonly objects: KubeObject[];
  readonly hash: string;
  /** See `Manifest.sourceNamespaces`. */
  readonly sourceNamespaces: ReadonlyMap<string, string>;
}

async function readSources(run: OperandReading): Promise<ExternalObjects> {
  const sources = run.operand.spec.steadyStateFrom ?? [];
  const sourceNamespaces = new Map<string, string>();
  if (sources.length === 0) return { objects: [], hash: '', sourceNamespaces };
  const objects: KubeObject[] = [];
  const hash = createHash('sha256');
  for (const [index, source] of sources.entries()) {
    const field = `spec.steadyStateFrom[${index}]`;
    const key = { namespace: source.namespace, name: source.name };
    const found = source.kind === 'Secret' ? await run.client.get(Secret, key) : await run.client.get(ConfigMap, key);
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
      const parsed = parseManifests(text, { source: `${field} ${name}` });
      objects.push(...parsed);
      for (const object of parsed) sourceNamespaces.set(refKey(refOf(object)), source.namespace);
    }
  }
  return { objects, hash: hash.digest('hex').slice(0, 16), sourceNamespaces };
}

function decoded(data: Record<string, string> | undefined): Record<string, string> {
  return Object.fromEntries(
    Object.entries(data ?? {}).map(([key, value]) => [key, Buffer.from(value, 'base64').toString('utf8')]),
  );
}
