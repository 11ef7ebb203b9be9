import type { Command, CommandFlags, FlagValues } from '@slipway/kube';

/** The flags of a command as they are when nobody gives one. */
export function flagsOf(command: Command): FlagValues<CommandFlags> {
  return Object.fromEntries(
    Object.entries(command.flags ?? {}).map(([name, flag]) => {
      if ('default' in flag) return [name, flag.default];
      if ('repeated' in flag && flag.repeated) return [name, []];
      return [name, flag.type === 'boolean' ? false : undefined];
    }),
  );
}
