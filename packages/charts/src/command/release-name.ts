import { basename } from 'node:path';
import { CommandError, exitCodes } from '@slipway/kube/command';

import { makeEnvironment } from '../functions/environment.ts';
import { helmFunctions } from '../functions/index.ts';
import { TemplateSet } from '../template/template-set.ts';

/** What `--name-template` makes. */
export function templatedName(template: string): string {
  const set = new TemplateSet({ functions: helmFunctions, environment: makeEnvironment() });
  try {
    set.add('name-template', template);
    return set.execute('name-template', undefined);
  } catch (cause) {
    throw new CommandError(`--name-template: ${(cause as Error).message}`, { exitCode: exitCodes.usage, cause });
  }
}

/** `web-1700000000`, as Helm names a release of a chart for which nobody has a name. */
function generatedName(chart: string, now: number): string {
  const [word = ''] = basename(chart).split('.');
  return `${word === '' ? 'chart' : word}-${Math.floor(now / 1000)}`;
}

/**
 * Name and chart of `install`: both as arguments, or the chart alone and a flag that says where the name comes from. Where there is a
 * usual name, none is generated.
 */
export function nameAndChart(
  [first, second]: readonly string[],
  flags: { readonly 'generate-name': boolean; readonly 'name-template': string | undefined },
  now: () => number,
  usual?: string,
): { readonly name: string; readonly chart: string } {
  const usage = (message: string) => new CommandError(message, { exitCode: exitCodes.usage });
  if (second !== undefined) {
    if (flags['generate-name']) throw usage('cannot set --generate-name and also specify a name');
    if (flags['name-template'] !== undefined) throw usage('cannot set --name-template and also specify a name');
    return { name: first!, chart: second };
  }
  const chart = first!;
  if (flags['name-template'] !== undefined) return { name: templatedName(flags['name-template']), chart };
  if (usual !== undefined) return { name: usual, chart };
  if (flags['generate-name']) return { name: generatedName(chart, now()), chart };
  throw usage('must either provide a name or specify --generate-name');
}
