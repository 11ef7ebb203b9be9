import {
  CommandError,
  exitCodes,
  givenSelector,
  outputFlag,
  selectorFlag,
  type ConnectedCluster,
  type OutputFormat,
} from '@slipway/kube';
import { fileFlag, readManifestFiles } from '@slipway/manifests';

import { readSought, soughtByWords, soughtInFiles, type Found, type Sought, type Where } from '../sought-objects.ts';
import { formatStatus } from '../view/status-text.ts';
import { definitionName } from '../installed-set.ts';
import { slipwayCommand, type SlipwayContext } from '../slipway-command.ts';
import { watchStatus } from '../watch-status.ts';
import { WatchedObjects } from '../watched-objects.ts';

const statusFlags = {
  namespace: {
    type: 'string',
    short: 'n',
    value: 'name',
    summary: 'look into this namespace; else that of the context',
    perCall: true,
  },
  'all-namespaces': { type: 'boolean', short: 'A', summary: 'look into all namespaces' },
  selector: selectorFlag,
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
    const found = await readSought(cluster.client, sought, where);
    const nothing = nothingText(context.flags.output, isEverywhere(sought) ? undefined : where.namespace);
    if (!context.flags.watch) return showStatus(context, sought, nothing, found);
    const readable = sought.filter((each) => !found.denied.includes(each));
    await using watched = new WatchedObjects(cluster, context.terminal, readable, where);
    const missing = found.missing.map(({ kind }) => kind);
    await watchStatus(context.terminal, { watched, missing, format: context.flags.output, nothing });
  },
});

type StatusContext = SlipwayContext<typeof statusFlags>;

async function soughtBy({ terminal, operators, choice, args, flags }: StatusContext): Promise<Sought[]> {
  // A package that is named alone is what is meant; a kind may be of any operator.
  const all = args.length === 0 ? (await choice()).operators : await operators();
  givenSelector(flags.selector);
  if (flags.file.length > 0 && args.length > 0) throw misused('name what to look at, or its files with -f: not both');
  const sought =
    flags.file.length > 0
      ? soughtInFiles(all, await readManifestFiles(terminal, flags.file))
      : soughtByWords(all, args);
  const isNamed = sought.some(({ name, expected }) => expected && name !== undefined);
  if (isNamed && flags.selector !== undefined) throw misused('an object that is named is not selected with -l as well');
  if (isNamed && flags['all-namespaces']) throw misused('an object is named in one namespace: -A does not go with it');
  return sought.filter((each) => !each.shown || isWithin(each, flags));
}

/** What an operator keeps its state in has a place of its own; it is shown unless somebody asks for less. */
function isWithin({ namespace, name }: Sought, { namespace: asked, selector }: StatusContext['flags']): boolean {
  return (asked === undefined || asked === namespace) && (name === undefined || selector === undefined);
}

function misused(message: string): CommandError {
  return new CommandError(message, { exitCode: exitCodes.usage });
}

function placeOf({ terminal, flags, packageFlag }: StatusContext, cluster: ConnectedCluster): Where {
  return {
    ...(flags['all-namespaces'] ? {} : { namespace: flags.namespace ?? cluster.namespace }),
    ...(flags.selector === undefined ? {} : { labelSelector: flags.selector }),
    packageFlag,
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

function showStatus(
  { terminal, flags, packageFlag }: StatusContext,
  sought: readonly Sought[],
  nothing: string,
  { objects, missing }: Found,
): void {
  terminal.out(objects.length === 0 ? nothing : formatStatus(terminal, objects, flags.output));
  const absent = absentNames(sought, missing);
  if (absent.length === 0 || flags.output !== 'table') return;
  const packages = new Set(sought.map(({ operator }) => packageFlag(operator)));
  const installing = `slipway run --install-crds${[...packages].join('')}`;
  terminal.err(`not installed here: ${absent.join(', ')} (${installing})\n`);
}

/** An operator by its name when the cluster has none of its kinds, else the definitions that are missing. */
function absentNames(sought: readonly Sought[], missing: Found['missing']): string[] {
  const defined = sought.filter(({ shown }) => !shown);
  return [...Map.groupBy(defined, ({ operator }) => operator)].flatMap(([{ name }, ofIt]) => {
    const absent = ofIt.filter((each) => missing.includes(each));
    return absent.length === ofIt.length ? [name] : absent.map(({ kind }) => definitionName(kind));
  });
}
