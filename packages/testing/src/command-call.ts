import {
  loadSubcommand,
  systemRandom,
  type Clock,
  type Command,
  type CommandFlags,
  type FlagValues,
} from '@slipway/kube/command';

import type { TestCluster } from './test-cluster.ts';

export interface CommandCall {
  readonly cwd: string;
  readonly clock: Clock;
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Default: a command that wants one fails. */
  readonly cluster?: TestCluster;
  /** The context of the kubeconfig that leads to it. */
  readonly context?: string | undefined;
}

export interface CommandOutcome {
  readonly out: string;
  readonly err: string;
  readonly code: number;
}

/** Runs a command, or one below it (`dependency update`), with these arguments and flags besides the defaults. */
export async function callCommand(
  top: Command,
  path: string,
  args: readonly string[],
  given: object,
  { cwd, clock, env = {}, cluster, context }: CommandCall,
): Promise<CommandOutcome> {
  let command = top;
  for (const name of path.split(' ')) command = await loadSubcommand(command.subcommands![name]!);
  let out = '';
  let err = '';
  const code = await command.run!({
    terminal: {
      out: (text) => void (out += text),
      err: (text) => void (err += text),
      readInput: async () => '',
      interactive: false,
      colours: false,
      columns: () => 120,
      rows: () => 40,
      env,
      cwd,
      clock,
      random: systemRandom,
      signal: new AbortController().signal,
    },
    args,
    flags: { ...flagsOf(command), ...given },
    verbose: false,
    connect: async () => {
      if (!cluster) throw new Error('no cluster here');
      return {
        client: cluster.client,
        context,
        transport: cluster.transport(),
        namespace: 'default',
        origin: 'test',
        openTransport: () => cluster.transport(),
        [Symbol.asyncDispose]: async () => undefined,
      };
    },
  });
  return { out, err, code: code ?? 0 };
}

/** The flags of a command as they are when nobody gives one. */
function flagsOf(command: Command): FlagValues<CommandFlags> {
  return Object.fromEntries(
    Object.entries(command.flags ?? {}).map(([name, flag]) => {
      if ('default' in flag) return [name, flag.default];
      if ('repeated' in flag && flag.repeated) return [name, []];
      return [name, flag.type === 'boolean' ? false : undefined];
    }),
  );
}
