import type { Command } from 'commander';

/**
 * The words of a command line with each subcommand before its flags. helm and helmfile take them in any order, so that
 * `helmfile -f helmfile.d list` is what people type; commander would look for `-f` among the flags of `helmfile`.
 */
export function subcommandFirst(program: Command, words: readonly string[]): string[] {
  const [first, ...rest] = words;
  const called = program.commands.find((command) => command.name() === first);
  return called ? [first!, ...ordered(called, rest)] : [...words];
}

function ordered(command: Command, words: readonly string[]): string[] {
  const place = command.commands.length === 0 ? -1 : afterFlags(command, words);
  const below = command.commands.find((each) => each.name() === words[place]);
  if (!below) return [...words];
  return [below.name(), ...ordered(below, [...words.slice(0, place), ...words.slice(place + 1)])];
}

/** The first word that is neither a flag nor the value of one. A flag that no subcommand has ends the search: it may have a value. */
function afterFlags(command: Command, words: readonly string[]): number {
  const options = command.commands.flatMap((each) => each.options);
  let place = 0;
  while (words[place]?.startsWith('-')) {
    const [name] = words[place]!.split('=', 1);
    const option = options.find(({ long, short }) => long === name || short === name);
    if (!option) return -1;
    place += option.required && name === words[place] ? 2 : 1;
  }
  return place;
}
