import { sleep } from '@slipway/kube';
import { stringify } from 'yaml';

import { connectCluster, type ConnectionFlags } from '../connect-command.ts';
import { listManagedObjects, statusColumns, type ManagedObject } from '../managed-object.ts';
import type { Terminal } from '../terminal.ts';
import { LiveView } from '../view/live-view.ts';
import { renderTable } from '../view/table.ts';
import type { CommandContext, OutputFormat } from './context.ts';

export interface StatusFlags extends ConnectionFlags {
  readonly watch?: boolean;
  readonly output?: OutputFormat;
}

/** How often a watched status is read again. */
const refreshMs = 1000;

/** `slipway status`: what each operator manages, its state, since when, what it waits for. */
export async function statusCommand({ terminal, operators }: CommandContext, flags: StatusFlags): Promise<void> {
  await using cluster = await connectCluster(terminal, flags);
  const read = () => listManagedObjects(cluster.client, operators, terminal.signal);
  if (!flags.watch) {
    const { objects, missing } = await read();
    terminal.out(formatStatus(terminal, objects, flags.output ?? 'table'));
    if (missing.length > 0 && (flags.output ?? 'table') === 'table') {
      terminal.err(
        `not installed here: ${missing.map((kind) => `${kind.plural}.${kind.group}`).join(', ')} (slipway run --install-crds)\n`,
      );
    }
    return;
  }
  const view = new LiveView(terminal);
  let last = '';
  while (!terminal.signal.aborted) {
    const { objects } = await read();
    const text = formatStatus(terminal, objects, flags.output ?? 'table').trimEnd();
    if (terminal.interactive) view.draw(text.split('\n'));
    else if (text !== last) terminal.out(`${text}\n`);
    last = text;
    await sleep(terminal.clock, refreshMs, terminal.signal).catch(() => undefined);
  }
}

export function formatStatus(terminal: Terminal, objects: readonly ManagedObject[], format: OutputFormat): string {
  const rows = objects.map((row) => ({
    operator: row.operator,
    kind: row.kind,
    name: row.name,
    state: row.state,
    since: row.since === undefined ? undefined : new Date(row.since).toISOString(),
    message: row.message,
  }));
  switch (format) {
    case 'json':
      return `${JSON.stringify(rows, undefined, 2)}\n`;
    case 'yaml':
      return stringify(rows);
    case 'name':
      return objects.map((row) => `${row.kind.toLowerCase()}/${row.name}\n`).join('');
    default: {
      if (objects.length === 0) return 'nothing is managed yet\n';
      const width = format === 'wide' ? Number.POSITIVE_INFINITY : terminal.columns();
      return `${renderTable(statusColumns(terminal), objects, width).join('\n')}\n`;
    }
  }
}
