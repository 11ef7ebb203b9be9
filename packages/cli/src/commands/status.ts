import { outputFlag, sleep, yamlText, type OutputFormat, type Terminal } from '@slipway/kube';

import { listManagedObjects, statusColumns, type ManagedObject } from '../managed-object.ts';
import { LiveView } from '../view/live-view.ts';
import { renderTable } from '../view/table.ts';
import { slipwayCommand } from '../slipway-command.ts';

/** How often a watched status is read again. */
const refreshMs = 1000;

/** `slipway status`: what each operator manages, its state, since when, what it waits for. */
export const command = slipwayCommand({
  connection: true,
  takesOutsideOperators: true,
  flags: { watch: { type: 'boolean', short: 'w', summary: 'keep showing it' }, output: outputFlag },
  examples: [{ line: 'slipway status' }, { line: 'slipway status -w' }, { line: 'slipway status -o json' }],
  async run({ terminal, operators, connect, flags }) {
    const all = await operators();
    await using cluster = await connect();
    const format = flags.output;
    const read = () => listManagedObjects(cluster.client, all, terminal.signal);
    await (flags.watch ? watchStatus(terminal, format, read) : showStatus(terminal, format, read));
  },
});

type ReadStatus = () => ReturnType<typeof listManagedObjects>;

async function showStatus(terminal: Terminal, format: OutputFormat, read: ReadStatus): Promise<void> {
  const { objects, missing } = await read();
  terminal.out(formatStatus(terminal, objects, format));
  if (missing.length > 0 && format === 'table') {
    terminal.err(
      `not installed here: ${missing.map((kind) => `${kind.plural}.${kind.group}`).join(', ')} (slipway run --install-crds)\n`,
    );
  }
}

async function watchStatus(terminal: Terminal, format: OutputFormat, read: ReadStatus): Promise<void> {
  const view = new LiveView(terminal);
  let last = '';
  while (!terminal.signal.aborted) {
    const { objects } = await read();
    const text = formatStatus(terminal, objects, format).trimEnd();
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
      return yamlText(rows);
    case 'name':
      return objects.map((row) => `${row.kind.toLowerCase()}/${row.name}\n`).join('');
    default: {
      if (objects.length === 0) return 'nothing is managed yet\n';
      const width = format === 'wide' ? Number.POSITIVE_INFINITY : terminal.columns();
      return `${renderTable(statusColumns(terminal), objects, width).join('\n')}\n`;
    }
  }
}
