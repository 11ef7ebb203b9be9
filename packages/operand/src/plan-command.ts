import {
  applyDefaults,
  CommandError,
  defineCommand,
  exitCodes,
  isForbidden,
  isNotFound,
  isUnknownKind,
  jsonEqual,
  givenSelector,
  matchesLabels,
  outputFlag,
  selectorFlag,
  styled,
  validateObject,
  yamlText,
  type Client,
  type ConnectedCluster,
  type KubeObject,
  type OutputFormat,
  type Style,
  type Terminal,
} from '@slipway/kube';
import {
  fileFlag,
  planSet,
  planText,
  readManifestFiles,
  refOf,
  refText,
  resourceName,
  usableManifest,
  type PlannedMember,
} from '@slipway/manifests';

import { checkAccount } from './account.ts';
import { Operand } from './api.ts';
import { fieldManagerOf, operandMembership } from './names.ts';
import { healthRulesOf } from './operand/health-rules.ts';
import { wantedManifest } from './operand/manifest.ts';
import { planOf } from './operand/plan.ts';
import { readRevisions } from './operand/revisions.ts';
import type { OperandReading } from './operand/run.ts';

/** With `--exit-code`, as `kubectl diff` ends. */
const changesExitCode = 1;

/** `slipway plan`: what applying files would change. Operands are planned by what they hold, other objects as they are. */
export const command = defineCommand({
  connection: true,
  flags: {
    file: { ...fileFlag, required: true },
    namespace: {
      type: 'string',
      short: 'n',
      value: 'name',
      summary: 'namespace of objects that name none; else that of the context',
      perCall: true,
    },
    selector: selectorFlag,
    'exit-code': {
      type: 'boolean',
      summary: 'end with 0 when nothing would change, 1 when something would, above 1 on errors',
    },
    output: outputFlag,
  },
  examples: [
    { line: 'slipway plan -f shop.yaml' },
    { line: 'slipway plan -f shop.yaml -f config/ -o json' },
    { line: 'slipway plan -f all/ -l app=web' },
    { line: 'kustomize build . | slipway plan -f - --exit-code' },
  ],
  failureCode: ({ 'exit-code': told }) => (told ? exitCodes.failedComparing : exitCodes.failed),
  async run({ terminal, flags, connect }) {
    const check = (object: KubeObject) =>
      isOperand(object) ? validateObject(Operand, applyDefaults(Operand, object)) : [];
    const selector = givenSelector(flags.selector);
    const written = await readManifestFiles(terminal, flags.file, { check });
    const objects = written.filter(({ metadata }) => matchesLabels(metadata.labels, selector));
    if (written.length > objects.length && objects.length === 0)
      terminal.err(`no object of the files has the labels ${flags.selector}\n`);
    await using cluster = await connect();
    const placed = await inNamespace(cluster, objects, flags.namespace, terminal.signal);
    const plan = await planObjects(cluster, placed, terminal.signal);
    terminal.out(formatPlan(terminal, plan, flags.output));
    refuse(plan);
    return flags['exit-code'] && plan.some(isChange) ? changesExitCode : exitCodes.ok;
  },
});

/** Namespaced objects that name no namespace, in the one of `-n` or of the context. */
async function inNamespace(
  { client, namespace: usual }: ConnectedCluster,
  objects: readonly KubeObject[],
  named: string | undefined,
  signal: AbortSignal,
): Promise<KubeObject[]> {
  return await Promise.all(
    objects.map(async (object) => {
      if (isOperand(object) || !(await isNamespaced(client, object, signal))) return object;
      const { namespace = named ?? usual } = object.metadata;
      if (named !== undefined && namespace !== named)
        throw new CommandError(`${refText(refOf(object))} is not in namespace ${named}`, {
          hint: `leave out -n ${named}, or the namespace in the manifest`,
          exitCode: exitCodes.usage,
        });
      return { ...object, metadata: { ...object.metadata, namespace } };
    }),
  );
}

/** A kind the server does not know yet stays as it is written. */
async function isNamespaced(client: Client, { apiVersion, kind }: KubeObject, signal: AbortSignal): Promise<boolean> {
  try {
    return (await client.resolve(apiVersion, kind, { signal })).scope === 'Namespaced';
  } catch (error) {
    if (isNotFound(error) || isUnknownKind(error)) return false;
    throw error;
  }
}

function isChange({ action }: PlannedMember): boolean {
  return action !== 'none' && action !== 'keep';
}

async function planObjects(
  cluster: ConnectedCluster,
  objects: readonly KubeObject[],
  signal: AbortSignal,
): Promise<PlannedMember[]> {
  const plan: PlannedMember[] = [];
  for (const object of objects.filter(isOperand))
    plan.push(
      ...(await usableManifest(`Operand ${object.metadata.name}: `, () => planOperandObject(cluster, object, signal))),
    );
  const others = objects.filter((object) => !isOperand(object));
  if (others.length > 0) {
    const question = {
      client: cluster.client,
      objects: others,
      fieldManager: 'slipway-plan',
      signal,
    };
    plan.push(...(await usableManifest('', () => planSet(question))));
  }
  return plan;
}

function formatPlan(terminal: Terminal, plan: readonly PlannedMember[], format: OutputFormat): string {
  switch (format) {
    case 'json':
      return `${JSON.stringify(plan.map(asData), undefined, 2)}\n`;
    case 'yaml':
      return yamlText(plan.map(asData));
    case 'name':
      return plan
        .filter(isChange)
        .map((member) => `${resourceName(member.ref)}\n`)
        .join('');
    default:
      return `${planText(plan)
        .split('\n')
        .map((line) => painted(terminal, line))
        .join('\n')}\n`;
  }
}

/** What people and programs read; the error behind a refusal is for decisions in here. */
function asData({ error: _error, ...member }: PlannedMember): Omit<PlannedMember, 'error'> {
  return member;
}

const colours: Readonly<Record<string, Style>> = { '+': 'green', '-': 'red', '~': 'yellow', '!': 'red' };

/** A line of the plan in the colour of its sign. */
function painted(terminal: Terminal, line: string): string {
  const colour = /^\S /.test(line) ? colours[line[0]!] : undefined;
  return colour ? styled(terminal, colour, line) : line;
}

/** A plan the server refuses is printed all the same, and is a failure to whoever asks for the exit code. */
function refuse(plan: readonly PlannedMember[]): void {
  const refused = plan.filter((member) => member.action === 'refused');
  if (refused.length === 0) return;
  const forbidden = refused.some((member) => isForbidden(member.error));
  throw new CommandError(`the cluster would refuse ${refused.map((member) => refText(member.ref)).join(', ')}`, {
    hint: forbidden ? 'the user of the kubeconfig context may not do this' : 'the plan says why',
    exitCode: forbidden ? exitCodes.notAllowed : exitCodes.failed,
  });
}

function isOperand(object: KubeObject): boolean {
  return object.apiVersion === Operand.apiVersion && object.kind === Operand.kind;
}

/** With the rights of whoever asks, not of the Operand's account: planning needs no right to act as somebody else. */
async function planOperandObject(
  { client }: ConnectedCluster,
  object: KubeObject,
  signal: AbortSignal,
): Promise<PlannedMember[]> {
  const name = object.metadata.name!;
  // A cluster that does not know Operands yet has none.
  const present = await client.get(Operand, { name }, { signal }).catch((error: unknown) => {
    if (isNotFound(error) || isUnknownKind(error)) return undefined;
    throw error;
  });
  const operand = asApplied(object, present as Operand | undefined);
  const run: OperandReading = {
    context: { client, signal },
    client,
    accounts: {},
    operand,
    fieldManager: fieldManagerOf(name),
    membership: operandMembership(name),
  };
  checkAccount(operand, run.accounts);
  healthRulesOf(operand);
  const manifest = await wantedManifest(run);
  return await planOf(run, manifest, await readRevisions(run, manifest));
}

/** The Operand as it would be once the file is applied: its status stays, its generation counts on when its spec changes. */
function asApplied(object: KubeObject, present: Operand | undefined): Operand {
  const wanted = applyDefaults(Operand, object) as Operand;
  const { uid = '', generation = 0 } = present?.metadata ?? {};
  const isChanged = !jsonEqual(wanted.spec, present?.spec);
  return {
    ...wanted,
    metadata: { ...wanted.metadata, uid, generation: isChanged ? generation + 1 : generation },
    ...(present?.status ? { status: present.status } : {}),
  };
}
