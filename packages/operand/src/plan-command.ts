import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import {
  CommandError,
  defineCommand,
  exitCodes,
  isNotFound,
  isUnknownKind,
  outputFlag,
  styled,
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
  type InventoryEntry,
  type PlannedMember,
} from '@slipway/manifests';

import { ClusterActiveOperand, Operand } from './api.ts';
import { mergedManifest } from './live-refs.ts';

/** `slipway plan`: what applying a file would change. Operands are planned by what they hold, other objects as they are. */
export const command = defineCommand({
  connection: true,
  flags: {
    file: { type: 'string', short: 'f', value: 'file', summary: 'YAML or JSON', required: true, perCall: true },
    output: outputFlag,
  },
  examples: [{ line: 'slipway plan -f shop.yaml' }, { line: 'slipway plan -f shop.yaml -o json' }],
  async run({ terminal, flags, connect }) {
    const objects = await readObjects(terminal.cwd, flags.file);
    await using cluster = await connect();
    const plan: PlannedMember[] = [];
    for (const object of objects.filter(isOperand))
      plan.push(...(await planOperandObject(cluster, object, terminal.signal)));
    const others = objects.filter((object) => !isOperand(object));
    if (others.length > 0) {
      plan.push(
        ...(await planSet({
          client: cluster.client,
          objects: others,
          fieldManager: 'slipway-plan',
          membership: membershipOf('plan'),
          signal: terminal.signal,
        })),
      );
    }
    terminal.out(formatPlan(terminal, plan, flags.output));
    refuse(plan);
  },
});

function formatPlan(terminal: Terminal, plan: readonly PlannedMember[], format: OutputFormat): string {
  switch (format) {
    case 'json':
      return `${JSON.stringify(plan, undefined, 2)}\n`;
    case 'yaml':
      return yamlText(plan);
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
  const forbidden = refused.some((member) => /forbidden/i.test(member.message ?? ''));
  throw new CommandError(`the cluster would refuse ${refused.map((member) => refText(member.ref)).join(', ')}`, {
    hint: forbidden ? 'the user of the kubeconfig context may not do this' : 'the plan says why',
    exitCode: forbidden ? exitCodes.notAllowed : exitCodes.failed,
  });
}

function isOperand(object: KubeObject): boolean {
  return object.apiVersion === Operand.apiVersion && object.kind === 'Operand';
}

async function planOperandObject(
  { client }: ConnectedCluster,
  object: KubeObject,
  signal: AbortSignal,
): Promise<PlannedMember[]> {
  const { steadyState = [], postInstall = [] } = object['spec'] as {
    steadyState?: KubeObject[];
    postInstall?: KubeObject[];
  };
  const name = object.metadata.name!;
  // A cluster that does not know Operands yet has none.
  const present = await client.get(Operand, { name }, { signal }).catch((error: unknown) => {
    if (isNotFound(error) || isUnknownKind(error)) return undefined;
    throw error;
  });
  const active = present?.status?.latestReadyActiveOperand;
  const set = active ? await client.get(ClusterActiveOperand, { name: active }, { signal }) : undefined;
  const inventory = (set?.spec.live ?? []).map(({ group, kind, namespace, name: member }): InventoryEntry => ({
    group,
    kind,
    namespace,
    name: member,
  }));
  const reference = set && {
    apiVersion: ClusterActiveOperand.apiVersion,
    kind: ClusterActiveOperand.kind,
    name: set.metadata.name!,
    uid: set.metadata.uid!,
    controller: false,
    blockOwnerDeletion: true,
  };
  const members = mergedManifest(steadyState, postInstall).map((member) =>
    reference ? { ...member, metadata: { ...member.metadata, ownerReferences: [reference] } } : member,
  );
  return await planSet({
    client,
    objects: members,
    fieldManager: `operand-${name}`,
    membership: membershipOf(`Operand.operand.run.cloud.google.com/${name}`),
    inventory,
    signal,
  });
}

async function readObjects(cwd: string, file: string): Promise<KubeObject[]> {
  const path = resolve(cwd, file);
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    throw new CommandError(`cannot read ${file}: ${error instanceof Error ? error.message : String(error)}`, {
      exitCode: exitCodes.usage,
      cause: error,
    });
  });
  try {
    return parseManifests(text, { source: file });
  } catch (error) {
    if (error instanceof ManifestError)
      throw new CommandError(error.message, { hint: 'nothing was planned', exitCode: exitCodes.usage, cause: error });
    throw error;
  }
}
