import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { isAbsolute, resolve } from 'node:path';
import type { TlsSettings } from '@slipway/kube';
import { CommandError, exitCodes, type FlagValues, type Terminal } from '@slipway/kube/command';

import type { Chart } from '../chart/chart.ts';
import { checkInstallable, missingDependencies } from '../chart/installable.ts';
import { loadChart } from '../chart/load.ts';
import type { GoMap } from '../go/values.ts';
import type { ChartReference, ChartRepositories } from '../repository/chart-repositories.ts';
import { tlsSettings } from '../repository/tls-settings.ts';
import { readValueFlags, type valueFlags } from './value-flags.ts';

/** How to speak to repositories and registries. */
export const serverFlags = {
  'plain-http': { type: 'boolean', summary: 'speak HTTP without TLS to registries' },
  'ca-file': { type: 'string', value: 'file', summary: 'certificates the server must lead back to, as PEM' },
  'cert-file': { type: 'string', value: 'file', summary: 'a certificate of our own, as PEM' },
  'key-file': { type: 'string', value: 'file', summary: 'its key' },
  'insecure-skip-tls-verify': { type: 'boolean', summary: 'trust any certificate' },
} as const;

/** Where a chart that is not on this machine comes from. */
export const chartFlags = {
  ...serverFlags,
  repo: { type: 'string', value: 'url', summary: 'address of the repository that has the chart', perCall: true },
  version: {
    type: 'string',
    value: 'range',
    summary: 'version of the chart, or a range of versions; else the newest',
    perCall: true,
  },
  devel: { type: 'boolean', summary: 'take pre-releases, too', perCall: true },
  username: { type: 'string', value: 'user', summary: 'user of the repository or registry' },
  password: {
    type: 'string',
    value: 'password',
    summary: "the user's password; others can see it on the command line, SLIPWAY_PASSWORD they cannot",
    secret: true,
  },
  'pass-credentials': { type: 'boolean', summary: 'send them to other hosts that the repository names, too' },
} as const;

/** What a chart that is to be rendered may lack. */
export const dependencyFlag = {
  'dependency-update': {
    type: 'boolean',
    summary: 'fetch what Chart.yaml asks for when charts/ lacks it',
    perCall: true,
  },
} as const;

/** What the argument `chart` may be. */
export const chartArgument = 'folder or .tgz, repository/name, oci://host/path/name, or a name with --repo';

/** A release and its chart. */
export const releaseArguments = [
  { name: 'name', summary: 'name of the release', required: true },
  { name: 'chart', summary: chartArgument, required: true },
] as const;

/** Repositories as Helm's files and these flags have them. */
export async function openRepositories(
  terminal: Terminal,
  flags: FlagValues<typeof serverFlags> & Partial<FlagValues<typeof chartFlags>>,
): Promise<ChartRepositories> {
  const tls = await readTls(terminal, flags);
  const { username = '', password = '', 'pass-credentials': trustOthers = false } = flags;
  // Most charts are on this machine, and need nobody who speaks to servers.
  const { ChartRepositories } = await import('../repository/chart-repositories.ts');
  return await ChartRepositories.open(terminal.env, {
    plainHttp: flags['plain-http'],
    trustOthers,
    ...(tls ? { tls } : {}),
    ...(username === '' && password === '' ? {} : { credentials: { username, password } }),
  });
}

export function referenceTo(chart: string, flags: FlagValues<typeof chartFlags>): ChartReference {
  const version = flags.version ?? (flags.devel ? '>0.0.0-0' : undefined);
  return { chart, version, repository: flags.repo };
}

/**
 * The chart an argument names. What is on this machine comes first, unless a repository is named.
 *
 * @param hint what may have gone wrong when there is no such chart
 */
export async function openChart(
  chart: string,
  flags: FlagValues<typeof chartFlags>,
  terminal: Terminal,
  hint = 'check the path of the chart',
): Promise<Chart> {
  const path = resolve(terminal.cwd, chart);
  if (flags.repo === undefined) {
    if (existsSync(path)) return await loadChart(path);
    if (isAbsolute(chart) || chart.startsWith('.') || !/[/:]/.test(chart))
      throw new CommandError(`path "${chart}" not found`, { hint, exitCode: exitCodes.usage });
  }
  await using repositories = await openRepositories(terminal, flags);
  return await repositories.load(referenceTo(chart, flags), terminal.signal);
}

/** The chart an argument names, fit to be installed, and the user's values for it. */
export async function readChart(
  chart: string,
  flags: FlagValues<typeof chartFlags> & FlagValues<typeof valueFlags> & Partial<FlagValues<typeof dependencyFlag>>,
  terminal: Terminal,
): Promise<{ readonly chart: Chart; readonly values: GoMap }> {
  const hint = 'check the path of the chart; the name of the release stands before it';
  let opened = await openChart(chart, flags, terminal, hint);
  if (flags['dependency-update'] && missingDependencies(opened).length > 0) {
    const { completeChart } = await import('./complete-chart.ts');
    opened = await completeChart(chart, flags, terminal);
  }
  checkInstallable(opened);
  return { chart: opened, values: await readValueFlags(flags, terminal) };
}

async function readTls(terminal: Terminal, flags: FlagValues<typeof serverFlags>): Promise<TlsSettings | undefined> {
  const read = async (flag: 'ca-file' | 'cert-file' | 'key-file') => {
    const path = flags[flag];
    if (path === undefined) return undefined;
    try {
      return await readFile(resolve(terminal.cwd, path), 'utf8');
    } catch (cause) {
      const { code } = cause as NodeJS.ErrnoException;
      throw new CommandError(`--${flag}: cannot read ${path}: ${code}`, { exitCode: exitCodes.usage, cause });
    }
  };
  const ca = await read('ca-file');
  const cert = await read('cert-file');
  const key = await read('key-file');
  if ((cert === undefined) !== (key === undefined))
    throw new CommandError('--cert-file and --key-file belong together', { exitCode: exitCodes.usage });
  const insecureSkipVerify = flags['insecure-skip-tls-verify'];
  return tlsSettings({ ca, cert, key, insecureSkipVerify });
}
