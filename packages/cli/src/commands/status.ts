import {
  CommandError,
  exitCodes,
  outputFlag,
  sleep,
  type ConnectedCluster,
  type OutputFormat,
  type Terminal,
} from '@slipway/kube';
import { fileFlag, readManifestFiles } from '@slipway/manifests';

import type { ManagedObject } from '../managed-object.ts';
import { readSought, soughtByWords, soughtInFiles, type Sought, type Where } from '../sought-objects.ts';
import { LiveView } from '../view/live-view.ts';
import { StatusLines } from '../view/status-lines.ts';
import { formatStatus } from '../view/status-text.ts';
import { definitionName } from '../installed-set.ts';
import { slipwayCommand, type SlipwayContext } from '../slipway-command.ts';

/** How often a watched status is read again. */
const refreshMs = 1000;

const statusFlags = {
  namespace: {
    type: 'string',
    short: 'n',
    value: 'name',
    summary: 'look into this namespace; else that of the context',
    perCall: true,
  },
  'all-namespaces': { type: 'boolean', short: 'A', summary: 'look into all namespaces' },
  selector: {
    type: 'string',
    short: 'l',
    value: 'labels',
    summary: 'only objects with these labels, such as app=web',
    perCall: true,
  },
  file: { ...fileFlag, summary: `only the objects in these files: ${fileFlag.summary}` },
  watch: { type: 'boolean', short: 'w', summary: 'keep showing it; when piped, a line for each change' },
  output: outputFlag,
} as const;

/** `slipway status`: what each operator manages, its state, since when, what it waits for. */
export const command = slipwayCommand({
  connection: true,
  takesOutsideOperators: true,
  arguments: [{ name: 'what', summary: 'an operator, KIND or KIND/NAME (default: everything)', repeated: true }],
  flags: statusFlags,
  examples: [
    { line: 'slipway status -A' },
    { line: 'slipway status operands/hello -o json' },
    { line: 'slipway status -f shop.yaml -w' },
    { line: 'slipway status -o name | xargs kubectl get' },
  ],
  async run(context) {
    const sought = await soughtBy(context);
    await using cluster = await context.connect();
    const where = placeOf(context, cluster);
    const read = () => readSought(cluster.client, sought, where);
    const nothing = nothingText(context.flags.output, isEverywhere(sought) ? undefined : where.namespace);
    await (context.flags.watch ? watchStatus(context, nothing, read) : showStatus(context, nothing, read));
  },
});

type StatusContext = SlipwayContext<typeof statusFlags>;
type ReadStatus = () => ReturnType<typeof readSought>;

async function soughtBy({ terminal, operators, args, flags }: StatusContext): Promise<Sought[]> {
  const all = await operators();
  if (flags.file.length > 0 && args.length > 0) throw misused('name what to look at, or its files with -f: not both');
  const sought =
    flags.file.length > 0
      ? soughtInFiles(all, await readManifestFiles(terminal, flags.file))
      : soughtByWords(all, args);
  const isNamed = sought.some(({ name }) => name !== undefined);
  if (isNamed && flags.selector !== undefined) throw misused('an object that is named is not selected with -l as well');
  if (isNamed && flags['all-namespaces']) throw misused('an object is named in one namespace: -A does not go with it');
  return sought;
}

function misused(message: string): CommandError {
  return new CommandError(message, { exitCode: exitCodes.usage });
}

function placeOf({ terminal, flags }: StatusContext, cluster: ConnectedCluster): Where {
  return {
    ...(flags['all-namespaces'] ? {} : { namespace: flags.namespace ?? cluster.namespace }),
    ...(flags.selector === undefined ? {} : { labelSelector: flags.selector }),
    signal: terminal.signal,
  };
}

/** No namespace narrows what is in none. */
function isEverywhere(sought: readonly Sought[]): boolean {
  return sought.every(({ kind }) => kind.scope === 'Cluster');
}

function nothingText(format: OutputFormat, namespace: string | undefined): string {
  if (format === 'json' || format === 'yaml') return '[]\n';
  if (format === 'name') return '';
  return namespace === undefined
    ? 'nothing is managed yet\n'
    : `nothing is managed in namespace ${namespace} (-A looks into all)\n`;
}

async function showStatus({ terminal, flags }: StatusContext, nothing: string, read: ReadStatus): Promise<void> {
  const { objects, missing } = await read();
  terminal.out(objects.length === 0 ? nothing : formatStatus(terminal, objects, flags.output));
  if (missing.length > 0 && flags.output === 'table')
    terminal.err(`not installed here: ${missing.map(definitionName).join(', ')} (slipway run --install-crds)\n`);
}

/** On a terminal the table is drawn over itself; whatever else reads it gets a line, or a document, for each change. */
async function watchStatus({ terminal, flags }: StatusContext, nothing: string, read: ReadStatus): Promise<void> {
  const isTable = flags.output === 'table' || flags.output === 'wide';
  const show =
    terminal.interactive && isTable ? drawn(terminal, flags.output, nothing) : written(terminal, flags.output);
  let isFirst = true;
  while (!terminal.signal.aborted) {
    const { objects } = await read().catch((error: unknown) => {
      // Ctrl-C is how a watch ends, also in the middle of a look.
      if (terminal.signal.aborted) return { objects: undefined };
      throw error;
    });
    if (objects === undefined) return;
    if (isFirst && objects.length === 0 && isTable && !terminal.interactive) terminal.err(nothing);
    isFirst = false;
    show(objects);
    await sleep(terminal.clock, refreshMs, terminal.signal).catch(() => undefined);
  }
}

type ShowStatus = (objects: readonly ManagedObject[]) => void;

function drawn(terminal: Terminal, format: OutputFormat, nothing: string): ShowStatus {
  const view = new LiveView(terminal);
  return (objects) => {
    const text = objects.length === 0 ? nothing : formatStatus(terminal, objects, format);
    view.draw(text.trimEnd().split('\n'));
  };
}

function written(terminal: Terminal, format: OutputFormat): ShowStatus {
  const lines = new StatusLines(terminal, format);
  return (objects) => {
    for (const line of lines.changed(objects)) terminal.out(line);
  };
}
