import { readdir, readFile, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import {
  applyDefaults,
  CommandError,
  defineCommand,
  exitCodes,
  isForbidden,
  isNotFound,
  isUnknownKind,
  jsonEqual,
  outputFlag,
  styled,
  validateObject,
  yamlText,
  type ConnectedCluster,
  type KubeObject,
  type OutputFormat,
  type Style,
  type Terminal,
} from '@slipway/kube';
import {
  ManifestError,
  membershipOf,
  parseManifests,
  planSet,
  planText,
  refText,
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

/** `slipway plan`: what applying files would change. Operands are planned by what they hold, other objects as they are. */
export const command = defineCommand({
  connection: true,
  flags: {
    file: {
      type: 'string',
      short: 'f',
      value: 'file',
      summary: 'YAML or JSON; a folder of such files, or - for standard input',
      required: true,
      repeated: true,
      perCall: true,
    },
    output: outputFlag,
  },
  examples: [
    { line: 'slipway plan -f shop.yaml' },
    { line: 'slipway plan -f shop.yaml -f config/ -o json' },
    { line: 'kustomize build . | slipway plan -f -' },
  ],
  async run({ terminal, flags, connect }) {
    const objects: KubeObject[] = [];
    for (const file of flags.file) objects.push(...(await readObjects(terminal, file)));
    await using cluster = await connect();
    const plan = await planObjects(cluster, objects, terminal.signal);
    terminal.out(formatPlan(terminal, plan, flags.output));
    refuse(plan);
  },
});

async function planObjects(
  cluster: ConnectedCluster,
  objects: readonly KubeObject[],
  signal: AbortSignal,
): Promise<PlannedMember[]> {
  const plan: PlannedMember[] = [];
  for (const object of objects.filter(isOperand))
    plan.push(...(await usable(`Operand ${object.metadata.name}: `, () => planOperandObject(cluster, object, signal))));
  const others = objects.filter((object) => !isOperand(object));
  if (others.length > 0) {
    const question = {
      client: cluster.client,
      objects: others,
      fieldManager: 'slipway-plan',
      membership: membershipOf('plan'),
      signal,
    };
    plan.push(...(await usable('', () => planSet(question))));
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
        .filter((member) => member.action !== 'none')
        .map((member) => `${member.action} ${refText(member.ref)}\n`)
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

/** What is wrong with a manifest is the matter of whoever wrote it. */
async function usable<T>(where: string, work: () => Promise<T> | T): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof ManifestError)) throw error;
    throw new CommandError(`${where}${error.message}`, {
      hint: 'nothing was planned',
      exitCode: exitCodes.usage,
      cause: error,
    });
  }
}

async function readObjects(terminal: Terminal, file: string): Promise<KubeObject[]> {
  if (file === '-') return await parse(await terminal.readInput(), 'standard input');
  try {
    const path = resolve(terminal.cwd, file);
    if (!(await stat(path)).isDirectory()) return await parse(await readFile(path, 'utf8'), file);
    const names = (await readdir(path)).filter((name) => /\.(ya?ml|json)$/.test(name)).sort();
    const files = names.map((name) => readObjects(terminal, join(file, name)));
    return (await Promise.all(files)).flat();
  } catch (error) {
    if (error instanceof CommandError) throw error;
    throw new CommandError(`cannot read ${file}: ${error instanceof Error ? error.message : String(error)}`, {
      exitCode: exitCodes.usage,
      cause: error,
    });
  }
}

async function parse(text: string, source: string): Promise<KubeObject[]> {
  const check = (object: KubeObject) =>
    isOperand(object) ? validateObject(Operand, applyDefaults(Operand, object)) : [];
  return await usable('', () => parseManifests(text, { source, check }));
}
