import { resolve } from 'node:path';
import {
  CustomResourceDefinition,
  findCondition,
  formatDuration,
  isConditionTrue,
  sleep,
  toCustomResourceDefinition,
  writeCrds,
  type Client,
  type DefinedKind,
} from '@slipway/kube';
import type { OperatorDescription } from '@slipway/runtime';
import { stringify } from 'yaml';

import { CliError, exitCodes } from '../cli-error.ts';
import { makeFolder, reason } from '../make-folder.ts';
import type { Terminal } from '../terminal.ts';
import type { CommandContext } from './context.ts';

/** `slipway crds`: the definitions of the chosen operators as YAML, or as files. */
export async function crdsCommand(
  { terminal }: CommandContext,
  operators: readonly OperatorDescription[],
  flags: { write?: string },
): Promise<void> {
  const kinds = operators.flatMap((operator) => operator.kinds);
  if (flags.write !== undefined) {
    const folder = resolve(terminal.cwd, flags.write);
    const hint = 'choose another folder with --write DIR';
    await makeFolder(folder, hint);
    const files = await writeCrds(folder, kinds).catch((error: unknown) => {
      throw new CliError(`cannot write to ${folder}: ${reason(error)}`, { hint, cause: error });
    });
    for (const file of files) terminal.out(`${file}\n`);
    return;
  }
  terminal.out(kinds.map((kind) => stringify(toCustomResourceDefinition(kind))).join('---\n'));
}

/** How often a definition is asked whether it is served. */
const establishedPollMs = 50;
/** Servers need a second or two. */
const establishedWithinMs = 30_000;

/** Applies the definitions and waits until the server serves them. */
export async function installCrds(
  client: Client,
  operators: readonly OperatorDescription[],
  { clock, signal }: Pick<Terminal, 'clock' | 'signal'>,
): Promise<void> {
  const end = clock.now() + establishedWithinMs;
  const install = async (kind: DefinedKind): Promise<void> => {
    const definition = toCustomResourceDefinition(kind);
    const name = definition.metadata.name!;
    let live: CustomResourceDefinition | undefined = await client.apply(definition, {
      fieldManager: 'slipway',
      signal,
    });
    while (!isConditionTrue(live, 'Established')) {
      const names = findCondition(live, 'NamesAccepted');
      if (names?.status === 'False') throw notServed(name, names.message ?? names.reason ?? 'its names are taken');
      if (clock.now() >= end) throw notServed(name, `still not after ${formatDuration(establishedWithinMs)}`);
      await sleep(clock, establishedPollMs, signal);
      live = await client.get(CustomResourceDefinition, { name }, { signal });
    }
  };
  await Promise.all(operators.flatMap((operator) => operator.kinds).map(install));
}

function notServed(name: string, why: string): CliError {
  return new CliError(`the cluster does not serve ${name}: ${why}`, {
    hint: `kubectl describe customresourcedefinition ${name} says more`,
  });
}

/** Fails with what to do when a kind is not installed. */
export async function requireCrds(
  client: Client,
  operators: readonly OperatorDescription[],
  signal: AbortSignal,
): Promise<void> {
  const served = await client.discover({ signal, fresh: true });
  const missing = operators
    .flatMap((operator) => operator.kinds)
    .filter((kind) => !served.some((row) => row.group === kind.group && row.kind === kind.kind));
  if (missing.length === 0) return;
  throw new CliError(`the cluster does not know ${missing.map((kind) => `${kind.plural}.${kind.group}`).join(', ')}`, {
    hint: 'run with --install-crds, or apply the output of `slipway crds`',
    exitCode: exitCodes.notInstalled,
  });
}
