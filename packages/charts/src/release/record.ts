import { constants, gunzipSync, gzipSync } from 'node:zlib';

import type { HookEvent } from '../render/manifests.ts';
import { hasRecordShape } from './record-shape.ts';
import type { ApplyMethod, RecordedChart, Release, ReleaseHook, ReleaseStatus } from './release.ts';
import { ReleaseError } from './release-error.ts';

/** A record as JSON has it. Helm 3 writes times that were never set as empty texts, Helm 4 leaves them out. */
export interface RecordJson {
  name: string;
  namespace: string;
  version: number;
  config?: Record<string, unknown> | null;
  manifest?: string;
  hooks?: HookJson[] | null;
  info?: {
    first_deployed?: string;
    last_deployed?: string;
    deleted?: string;
    description?: string;
    status?: ReleaseStatus;
    notes?: string;
    rollback_revision?: number;
  };
  chart?: RecordedChart;
  apply_method?: ApplyMethod;
}

export interface HookJson {
  name?: string;
  kind?: string;
  path?: string;
  manifest?: string;
  events?: HookEvent[] | null;
  weight?: number;
  delete_policies?: string[] | null;
  output_log_policies?: string[] | null;
  last_run?: { started_at?: string; completed_at?: string; phase?: string };
}

/** Larger records are no charts. */
const mostBytes = 64 * 1024 * 1024;

/** The text a release Secret holds under `release` (the API adds another base64). */
export function encodeRecord(release: Release): string {
  const packed = gzipSync(JSON.stringify(recordJson(release)), { level: constants.Z_BEST_COMPRESSION });
  return packed.toString('base64');
}

/** A revision as JSON has it. */
export function recordJson(release: Release): RecordJson {
  return {
    name: release.name,
    info: {
      first_deployed: release.firstDeployed,
      last_deployed: release.lastDeployed,
      deleted: release.deleted ?? '',
      description: release.description,
      status: release.status,
      ...(release.notes ? { notes: release.notes } : {}),
      ...(release.rollbackRevision ? { rollback_revision: release.rollbackRevision } : {}),
    },
    chart: release.chart,
    // Left out when there are none, as Helm does: its commands tell `null` from `{}`.
    ...(Object.keys(release.config).length === 0 ? {} : { config: release.config as Record<string, unknown> }),
    manifest: release.manifest,
    ...(release.hooks.length === 0 ? {} : { hooks: release.hooks.map(hookJson) }),
    version: release.revision,
    namespace: release.namespace,
    apply_method: release.applyMethod,
  };
}

/** Reads it back. `labels` are those of the Secret, which is called `secret`: a record does not hold its own. */
export function decodeRecord(text: string, labels: Readonly<Record<string, string>>, secret: string): Release {
  try {
    return releaseOf(parseRecord(text), labels);
  } catch (cause) {
    throw new ReleaseError('Damaged', `the record of a release in the Secret ${secret} cannot be read`, {
      hint: 'delete that Secret; older revisions stay',
      cause,
    });
  }
}

function releaseOf(record: RecordJson, labels: Readonly<Record<string, string>>): Release {
  const { info = {} } = record;
  return {
    name: record.name,
    namespace: record.namespace,
    revision: record.version,
    status: info.status ?? 'unknown',
    description: info.description ?? '',
    notes: info.notes ?? '',
    firstDeployed: info.first_deployed ?? '',
    lastDeployed: info.last_deployed ?? '',
    ...(info.deleted ? { deleted: info.deleted } : {}),
    ...(info.rollback_revision ? { rollbackRevision: info.rollback_revision } : {}),
    config: record.config ?? {},
    manifest: record.manifest ?? '',
    hooks: (record.hooks ?? []).map(hookOf),
    chart: { ...record.chart, metadata: record.chart?.metadata ?? { name: 'unknown', version: '' } },
    applyMethod: record.apply_method ?? 'csa',
    labels,
  };
}

function parseRecord(text: string): RecordJson {
  const packed = Buffer.from(text, 'base64');
  const compressed = packed[0] === 0x1f && packed[1] === 0x8b;
  const json = compressed ? gunzipSync(packed, { maxOutputLength: mostBytes }) : packed;
  const record = JSON.parse(json.toString('utf8')) as RecordJson;
  if (!hasRecordShape(record)) throw new TypeError('not the shape of a record');
  if (!record.name || !record.version) throw new TypeError('no name or version');
  return record;
}

function hookJson(hook: ReleaseHook): HookJson {
  const { lastRun } = hook;
  return {
    name: hook.name,
    kind: hook.kind,
    path: hook.path,
    manifest: hook.manifest,
    events: [...hook.events],
    last_run: {
      started_at: lastRun?.startedAt ?? '',
      completed_at: lastRun?.completedAt ?? '',
      phase: lastRun?.phase ?? '',
    },
    ...(hook.weight === 0 ? {} : { weight: hook.weight }),
    ...(hook.deletePolicies.length === 0 ? {} : { delete_policies: [...hook.deletePolicies] }),
    ...(hook.outputLogPolicies?.length ? { output_log_policies: [...hook.outputLogPolicies] } : {}),
  };
}

function hookOf(json: HookJson): ReleaseHook {
  const { last_run: run } = json;
  return {
    name: json.name ?? '',
    kind: json.kind ?? '',
    path: json.path ?? '',
    manifest: json.manifest ?? '',
    events: json.events ?? [],
    weight: json.weight ?? 0,
    deletePolicies: json.delete_policies ?? [],
    ...(json.output_log_policies?.length ? { outputLogPolicies: json.output_log_policies } : {}),
    ...(run?.phase
      ? {
          lastRun: {
            startedAt: run.started_at ?? '',
            completedAt: run.completed_at ?? '',
            phase: run.phase as NonNullable<ReleaseHook['lastRun']>['phase'],
          },
        }
      : {}),
  };
}
