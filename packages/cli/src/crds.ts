import {
  CommandError,
  CustomResourceDefinition,
  exitCodes,
  findCondition,
  formatDuration,
  isConditionTrue,
  sleep,
  toCustomResourceDefinition,
  type Client,
  type DefinedKind,
  type Terminal,
} from '@slipway/kube';
import type { OperatorDescription } from '@slipway/runtime';

import type { PackageFlag } from './slipway-command.ts';

/** How often a definition is asked whether it is served. */
const establishedPollMs = 50;
/** Servers need a second or two. */
const establishedWithinMs = 30_000;

/** Applies the definitions, waits until the server serves them, and applies the policies that go with them. */
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
  for (const policy of operators.flatMap((operator) => operator.policies ?? []))
    await client.apply(policy, { fieldManager: 'slipway', signal });
}

function notServed(name: string, why: string): CommandError {
  return new CommandError(`the cluster does not serve ${name}: ${why}`, {
    hint: `kubectl describe customresourcedefinition ${name} says more`,
  });
}

/** Fails with what to do when a kind is not installed. */
export async function requireCrds(
  client: Client,
  operators: readonly OperatorDescription[],
  packageFlag: PackageFlag,
  signal: AbortSignal,
): Promise<void> {
  const served = await client.discover({ signal, fresh: true });
  const missing = operators
    .flatMap((operator) => operator.kinds)
    .filter((kind) => !served.some((row) => row.group === kind.group && row.kind === kind.kind));
  if (missing.length === 0) return;
  throw new CommandError(
    `the cluster does not know ${missing.map((kind) => `${kind.plural}.${kind.group}`).join(', ')}`,
    {
      hint: `run with --install-crds, or apply the output of \`slipway crds${operators.map(packageFlag).join('')}\``,
      exitCode: exitCodes.notInstalled,
    },
  );
}
