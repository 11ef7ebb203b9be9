import { CommandError, exitCodes, type FlagValues, type Terminal } from '@slipway/kube/command';

import { mergeMaps } from '../chart/merge-maps.ts';
import { toPlain } from '../go/values.ts';
import { loadHelmfile, type Helmfile } from '../helmfile/helmfile.ts';
import type { NeedsPolicy } from '../helmfile/plan.ts';
import { ChartRepositories } from '../repository/chart-repositories.ts';
import { localTimeZone } from './local-time-zone.ts';
import { givenValues } from './value-flags.ts';

/** Which states and which releases: flags of every helmfile command. */
export const helmfileFlags = {
  file: {
    type: 'string',
    short: 'f',
    value: 'path',
    summary: 'a state file or a directory of them; else helmfile.yaml, helmfile.yaml.gotmpl or helmfile.d',
  },
  environment: { type: 'string', short: 'e', value: 'name', summary: 'the environment', default: 'default' },
  selector: {
    type: 'string',
    short: 'l',
    repeated: true,
    value: 'labels',
    summary: 'only releases with these labels (a=b,c!=d); several: one of them is enough',
    perCall: true,
  },
  'state-values-file': {
    type: 'string',
    repeated: true,
    value: 'file',
    summary: "values over the environment's, in a YAML file",
    perCall: true,
  },
  'state-values-set': {
    type: 'string',
    repeated: true,
    value: 'key=value',
    summary: 'the same on the command line, over the files',
    perCall: true,
  },
  'state-values-set-string': {
    type: 'string',
    repeated: true,
    value: 'key=value',
    summary: 'the same, always as text',
    perCall: true,
  },
  'allow-no-matching-release': {
    type: 'boolean',
    summary: 'selectors may take nothing, which is a mistake otherwise',
    perCall: true,
  },
  'skip-deps': { type: 'boolean', summary: 'update no charts, as without this flag', perCall: true },
  'sequential-helmfiles': {
    type: 'boolean',
    summary: 'work on states one after another, as without this flag',
    perCall: true,
  },
} as const;

/** What becomes of releases that others need and no selector takes. */
export const needsFlags = {
  'include-needs': {
    type: 'boolean',
    summary: 'take releases that the selected ones need, too, and what those need',
    perCall: true,
  },
  'include-transitive-needs': { type: 'boolean', summary: 'the same', perCall: true },
  'skip-needs': { type: 'boolean', summary: 'leave them as they are, as without these flags', perCall: true },
} as const;

export function needsPolicy(flags: FlagValues<typeof needsFlags>): NeedsPolicy {
  const includes = flags['include-needs'] || flags['include-transitive-needs'];
  if (includes && flags['skip-needs'])
    throw new CommandError('--include-needs and --skip-needs cannot be used together', { exitCode: exitCodes.usage });
  return includes ? 'include' : 'skip';
}

/** Loads what the flags name. Templates may not run programs. */
export async function loadFromFlags(terminal: Terminal, flags: FlagValues<typeof helmfileFlags>): Promise<Helmfile> {
  // Unlike with helm, texts lie below what has a type.
  const noFiles = () => Promise.reject(new Error('these flags name no files'));
  const texts = await givenValues({ setString: flags['state-values-set-string'] }, noFiles);
  const set = mergeMaps(texts, await givenValues({ set: flags['state-values-set'] }, noFiles));
  const helmfile = await loadHelmfile({
    cwd: terminal.cwd,
    ...(flags.file === undefined ? {} : { path: flags.file }),
    environment: flags.environment,
    selectors: flags.selector,
    env: terminal.env,
    charts: async (repositories) => await ChartRepositories.open(terminal.env, { repositories }),
    valuesFiles: flags['state-values-file'] ?? [],
    ...(set.size > 0 ? { set: toPlain(set) as Record<string, unknown> } : {}),
    functions: { clock: terminal.clock, random: terminal.random, timeZone: localTimeZone(terminal.env) },
  });
  const mayBeEmpty = !flags.selector?.length || flags['allow-no-matching-release'];
  if (mayBeEmpty || helmfile.releases.length > 0) return helmfile;
  await helmfile[Symbol.asyncDispose]();
  throw new CommandError(
    `no release has the labels ${flags.selector.join(' or ')} in environment ${flags.environment}`,
    { hint: 'slipway helmfile list shows the releases and their labels; --allow-no-matching-release lets it be' },
  );
}
