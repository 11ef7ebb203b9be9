import { resolve } from 'node:path';
import {
  CustomResourceDefinition,
  isConditionTrue,
  sleep,
  toCustomResourceDefinition,
  writeCrds,
  type Client,
} from '@slipway/kube';
import type { OperatorDescription } from '@slipway/runtime';
import { stringify } from 'yaml';

import { CliError, exitCodes } from '../cli-error.ts';
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
    const files = await writeCrds(folder, kinds).catch((error: unknown) => {
      throw new CliError(`cannot write to ${flags.write}: ${error instanceof Error ? error.message : String(error)}`, {
        hint: 'choose another folder with --write DIR',
        cause: error,
      });
    });
    for (const file of files) terminal.out(`${file}\n`);
    return;
  }
  terminal.out(kinds.map((kind) => stringify(toCustomResourceDefinition(kind))).join('---\n'));
}

/** How often a definition is asked whether it is served. */
const establishedPollMs = 50;

/** Applies the definitions and waits until the server serves them. */
export async function installCrds(
  client: Client,
  operators: readonly OperatorDescription[],
  { clock, signal }: Pick<Terminal, 'clock' | 'signal'>,
): Promise<void> {
  const kinds = operators.flatMap((operator) => operator.kinds);
  await Promise.all(
    kinds.map(async (kind) => {
      const definition = toCustomResourceDefinition(kind);
      let live: CustomResourceDefinition | undefined = await client.apply(definition, {
        fieldManager: 'slipway',
        signal,
      });
      while (!isConditionTrue(live, 'Established')) {
        await sleep(clock, establishedPollMs, signal);
        live = await client.get(CustomResourceDefinition, { name: definition.metadata.name! }, { signal });
      }
    }),
  );
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
