import {
  CommandError,
  defineCommand,
  exitCodes,
  givenSelector,
  matchesLabels,
  type OutputFormat,
  outputFlag,
  yamlText,
} from '@slipway/kube';
import { RE2JS } from 're2js';

import { utf8Compare } from '../go/bytes.ts';
import type { Release } from '../release/release.ts';
import { ReleaseStorage } from '../release/storage.ts';
import { goLayout, recordedTimeText } from './recorded-time.ts';
import { explained, namespaceFlag } from './release-flags.ts';
import { chartText } from './release-text.ts';
import { rowsText } from './rows-text.ts';

const status = (what: string) => ({ type: 'boolean', summary: `releases that ${what}`, perCall: true }) as const;

/** `slipway chart list`. */
export const listCommand = defineCommand({
  connection: true,
  flags: {
    ...namespaceFlag,
    'all-namespaces': { type: 'boolean', short: 'A', summary: 'releases of all namespaces' },
    deployed: status('are deployed'),
    failed: status('failed'),
    pending: status('somebody is working on'),
    superseded: status('are older revisions'),
    uninstalled: status('were uninstalled with their history kept'),
    uninstalling: status('are being uninstalled'),
    filter: {
      type: 'string',
      short: 'f',
      value: 'expression',
      summary: 'releases whose name matches this regular expression',
      perCall: true,
    },
    selector: {
      type: 'string',
      short: 'l',
      value: 'labels',
      summary: 'releases with these labels, such as team=shop',
      perCall: true,
    },
    max: { type: 'integer', short: 'm', least: 0, summary: 'how many, 0 for all', default: 256, perCall: true },
    offset: { type: 'integer', least: 0, summary: 'how many to pass over first', default: 0, perCall: true },
    date: { type: 'boolean', short: 'd', summary: 'the longest untouched first', perCall: true },
    reverse: { type: 'boolean', short: 'r', summary: 'the other way round', perCall: true },
    short: { type: 'boolean', short: 'q', summary: 'names only', perCall: true },
    'no-headers': { type: 'boolean', summary: 'no headings above the table' },
    'time-format': { type: 'string', value: 'layout', summary: 'a layout of Go for times', perCall: true },
    output: outputFlag,
  },
  knownElsewhere: {
    '--all': 'releases of every status are listed: leave it out',
    '-a': 'releases of every status are listed: leave it out; -A lists those of all namespaces',
    '--kube-context': 'use --context',
  },
  examples: [{ line: 'slipway chart list -A' }, { line: "slipway chart list --failed --filter '^shop-'" }],
  async run({ terminal, flags, connect }) {
    const isWanted = readFilter(flags.filter);
    const requirements = givenSelector(flags.selector);
    await using cluster = await connect();
    const namespace = flags['all-namespaces'] ? undefined : (flags.namespace ?? cluster.namespace);
    const storage = new ReleaseStorage(cluster.client, () => terminal.clock.now());
    const damaged = ({ message }: Error): void => terminal.err(`${message}\n`);
    const all = (await explained(async () => await storage.all(namespace, damaged))).map(({ release }) => release);
    const states = statusesOf(flags);
    // The last revision of a release is never one that was superseded.
    const listed = states?.size === 1 && states.has('superseded') ? all : newest(all);
    const found = listed.filter(
      (release) =>
        isWanted(release.name) && (states?.has(release.status) ?? true) && matchesLabels(release.labels, requirements),
    );
    found.sort(flags.date ? byDate : byName);
    if (flags.reverse) found.reverse();
    const last = flags.max === 0 ? undefined : flags.offset + flags.max;
    const releases = found.slice(flags.offset, last);
    if (flags.short) return terminal.out(namesText(releases, flags.output));
    const rows = releases.map((release) => ({
      name: release.name,
      namespace: release.namespace,
      revision: String(release.revision),
      updated: recordedTimeText(release.lastDeployed, flags['time-format'] ?? goLayout) || '-',
      status: release.status,
      chart: chartText(release),
      app_version: String(release.chart.metadata.appVersion ?? ''),
    }));
    const headings = ['NAME', 'NAMESPACE', 'REVISION', 'UPDATED', 'STATUS', 'CHART', 'APP VERSION'];
    terminal.out(rowsText(rows, flags['no-headers'] ? [] : headings, flags.output));
  },
});

function namesText(releases: readonly Release[], format: OutputFormat): string {
  const names = releases.map(({ name }) => name);
  if (format === 'json') return `${JSON.stringify(names)}\n`;
  return format === 'yaml' ? yamlText(names) : names.map((name) => `${name}\n`).join('');
}

function readFilter(expression: string | undefined): (name: string) => boolean {
  if (expression === undefined) return () => true;
  try {
    const compiled = RE2JS.compile(expression);
    return (name) => compiled.matcher(name).find();
  } catch (cause) {
    throw new CommandError(`--filter: ${(cause as Error).message}`, { exitCode: exitCodes.usage, cause });
  }
}

const flagStatuses = {
  deployed: ['deployed'],
  failed: ['failed'],
  pending: ['pending-install', 'pending-upgrade', 'pending-rollback'],
  superseded: ['superseded'],
  uninstalled: ['uninstalled'],
  uninstalling: ['uninstalling'],
} as const;

/** Nothing where any status will do. */
function statusesOf(flags: Readonly<Record<keyof typeof flagStatuses, boolean>>): ReadonlySet<string> | undefined {
  const wanted = (Object.keys(flagStatuses) as (keyof typeof flagStatuses)[]).filter((flag) => flags[flag]);
  return wanted.length === 0 ? undefined : new Set(wanted.flatMap((flag) => flagStatuses[flag]));
}

function newest(releases: readonly Release[]): Release[] {
  const latest = new Map<string, Release>();
  for (const release of releases) {
    const key = `${release.namespace}/${release.name}`;
    const known = latest.get(key);
    if (known === undefined || known.revision < release.revision) latest.set(key, release);
  }
  return [...latest.values()];
}

function byName(a: Release, b: Release): number {
  return utf8Compare(a.name, b.name) || utf8Compare(a.namespace, b.namespace) || a.revision - b.revision;
}

function byDate(a: Release, b: Release): number {
  const second = ({ lastDeployed }: Release) => Math.floor((Date.parse(lastDeployed) || 0) / 1000);
  return second(a) - second(b) || byName(a, b);
}
