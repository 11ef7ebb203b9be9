import { CommandError, type ConnectedCluster, exitCodes, formatDuration, type Terminal } from '@slipway/kube/command';

import { ChartError } from '../chart/chart-error.ts';
import { HelmfileError } from '../helmfile/helmfile-error.ts';
import type { ReleaseContext, ReleaseProgress } from '../release/operation.ts';
import { ReleaseError } from '../release/release-error.ts';
import { RepositoryError } from '../repository/repository-error.ts';
import { YamlError } from '../yaml/yaml-error.ts';
import { localTimeZone } from './local-time-zone.ts';

/** `-n` of every command about releases. */
export const namespaceFlag = {
  namespace: {
    type: 'string',
    short: 'n',
    value: 'namespace',
    summary: 'namespace of the release; else that of the context',
  },
} as const;

/** What work on a release can be told. */
export const workFlags = {
  ...namespaceFlag,
  timeout: { type: 'duration', summary: 'how long each hook and each wait may take; 5m by default' },
  'no-hooks': { type: 'boolean', summary: 'run no hooks' },
} as const;

/** Until when it waits. */
export const waitFlags = {
  wait: { type: 'boolean', summary: 'wait until everything is ready' },
  'wait-for-jobs': { type: 'boolean', summary: 'with --wait: until Jobs have completed, too' },
} as const;

/** `--dry-run`, `--dry-run=server`. */
export const dryRunFlag = {
  'dry-run': {
    type: 'string',
    value: '=where',
    summary: 'write nothing; with =server templates may look at the cluster',
    choices: ['none', 'client', 'server'],
    bare: 'client',
    default: 'none',
    perCall: true,
  },
} as const;

/** For scripts that say how Helm is to write. */
export const serverSideFlag = {
  'server-side': {
    type: 'string',
    value: '=true',
    summary: 'objects are always written by server-side apply',
    choices: ['true'],
    bare: 'true',
    perCall: true,
  },
} as const;

/** What writing objects can be told. */
export const applyFlags = {
  ...workFlags,
  ...waitFlags,
  ...dryRunFlag,
  'hide-secret': { type: 'boolean', summary: 'leave Secrets out of what a dry run prints', perCall: true },
  'rollback-on-failure': { type: 'boolean', summary: 'undo everything when it fails; waits too' },
  atomic: { type: 'boolean', summary: "the same, by Helm 3's name" },
  'force-conflicts': { type: 'boolean', summary: 'take fields over from others who wrote them' },
  'take-ownership': { type: 'boolean', summary: 'take over objects that belong to no release or to another' },
  'create-namespace': { type: 'boolean', summary: 'make the namespace when it is missing' },
  ...serverSideFlag,
  'skip-crds': { type: 'boolean', summary: 'leave out the files under crds/' },
  'skip-schema-validation': { type: 'boolean', summary: 'do not check values against values.schema.json' },
  description: { type: 'string', value: 'text', summary: 'a text for the history', perCall: true },
  labels: {
    type: 'string',
    short: 'l',
    repeated: true,
    value: 'key=value',
    summary: 'labels of the record',
    perCall: true,
  },
  'render-subchart-notes': { type: 'boolean', summary: 'notes of subcharts, too' },
  'hide-notes': { type: 'boolean', summary: 'print no notes' },
  output: {
    type: 'string',
    short: 'o',
    value: 'format',
    summary: 'how to print the release',
    choices: ['table', 'json', 'yaml'],
    default: 'table',
    perCall: true,
  },
} as const;

/** A context whose progress a person can follow on standard error. */
export function releaseContext(terminal: Terminal, cluster: ConnectedCluster): ReleaseContext {
  return {
    client: cluster.client,
    clock: terminal.clock,
    timeZone: localTimeZone(terminal.env),
    signal: terminal.signal,
    progress: (event) => terminal.err(`${progressText(event)}\n`),
  };
}

function progressText(event: ReleaseProgress): string {
  switch (event.type) {
    case 'phase':
      return event.text;
    case 'waiting':
      return `  waiting   ${event.object}: ${event.message}${more(event.others)}${waited(event.waitedMs)}`;
    default:
      return `  ${event.type.padEnd(9)} ${event.object}`;
  }
}

function more(others: readonly string[] = []): string {
  return others.length === 0 ? '' : `, and ${others.length} more`;
}

function waited(waitedMs: number): string {
  return waitedMs < 30_000 ? '' : ` (${formatDuration(Math.floor(waitedMs / 1000) * 1000)})`;
}

/** `a=b,c=d`, repeated. */
export function readLabels(texts: readonly string[]): Record<string, string> {
  const labels: Record<string, string> = {};
  for (const text of texts.flatMap((each) => each.split(','))) {
    const equals = text.indexOf('=');
    if (equals < 1) throw new CommandError(`--labels: '${text}' is not key=value`, { exitCode: exitCodes.usage });
    labels[text.slice(0, equals)] = text.slice(equals + 1);
  }
  return labels;
}

const explains = [ChartError, HelmfileError, ReleaseError, RepositoryError, YamlError];

/** Says what is wrong with a chart, its place, a helmfile or a release in the words of the command line. */
export async function explained<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!explains.some((type) => error instanceof type)) throw error;
    const { message, hint } = error as ChartError;
    throw new CommandError(message, { hint: hint || undefined, cause: error });
  }
}
