import { CommandError, exitCodes, styled } from '@slipway/kube';
import type { OperatorDescription } from '@slipway/runtime';

import { findInstalled, installedKinds, type InstalledEntry } from '../installed-set.ts';
import { refuseWhileManaged, remove, type Removal } from '../removal.ts';
import { slipwayCommand } from '../slipway-command.ts';
import { defaultTimeoutMs, timeoutFlag } from '../waiting.ts';

/** `slipway uninstall`: takes off what `slipway install` put on, in reverse order. The operators' objects go first, while the operators run. */
export const command = slipwayCommand({
  connection: true,
  takesOutsideOperators: true,
  flags: {
    force: {
      type: 'boolean',
      summary: 'delete the objects the operators manage, and what they installed, too',
      perCall: true,
    },
    timeout: timeoutFlag,
  },
  examples: [{ line: 'slipway uninstall' }],
  async run({ terminal, operators, connect, flags }) {
    const all = await operators();
    await using cluster = await connect();
    const { client } = cluster;
    const entries = await findInstalled(client, all, terminal.signal);
    if (entries.length === 0)
      throw new CommandError('slipway install has put nothing onto this cluster', {
        hint: 'what came with helm or kubectl goes with helm uninstall or kubectl delete -k',
        exitCode: exitCodes.notInstalled,
      });
    refuseUnknown(entries, all);
    const kinds = installedKinds(
      all.flatMap((operator) => operator.kinds),
      entries,
    );
    const removal: Removal = { client, terminal, kinds, entries, timeoutMs: flags.timeout ?? defaultTimeoutMs };
    if (!flags.force) await refuseWhileManaged(removal);
    terminal.out(`uninstalling from ${cluster.origin}\n`);
    await remove(removal);
    terminal.out(`${styled(terminal, 'green', 'uninstalled')}; nothing of slipway is left\n`);
  },
});

/** Its objects would go with its definitions, unseen: nobody here knows its kinds. */
function refuseUnknown(entries: readonly InstalledEntry[], all: readonly OperatorDescription[]): void {
  const unknown = entries.find(
    ({ kind, operator }) => kind === 'Deployment' && operator && !all.some(({ name }) => name === operator),
  );
  if (unknown)
    throw new CommandError(`the operator ${unknown.operator} is installed, and this command does not know it`, {
      hint: 'name its package with --operator PACKAGE, so that its objects are looked after',
      exitCode: exitCodes.usage,
    });
}
