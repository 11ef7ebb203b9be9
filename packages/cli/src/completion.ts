import type { Command, Option } from 'commander';

export const shells = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof shells)[number];

/** What can be typed after a command. */
interface CompletedCommand {
  readonly name: string;
  readonly description: string;
  readonly options: readonly CompletedOption[];
  /** Words for its arguments. */
  readonly words: readonly string[];
}

interface CompletedOption {
  readonly long: string;
  readonly short?: string;
  readonly description: string;
  readonly takesValue: boolean;
  readonly choices: readonly string[];
}

/** The completion script of a shell. `words` are what an argument can be, by its name. */
export function completionScript(
  program: Command,
  shell: Shell,
  words: Readonly<Record<string, readonly string[]>>,
): string {
  const commands = program.commands.map((command) => ({
    name: command.name(),
    description: command.description(),
    options: [command, ...command.commands].flatMap((each) => each.options).map(completed),
    words: [
      ...command.commands.map((below) => below.name()),
      ...command.registeredArguments.flatMap((argument) => words[argument.name()] ?? argument.argChoices ?? []),
    ],
  }));
  switch (shell) {
    case 'bash':
      return bash(commands);
    case 'zsh':
      return zsh(commands);
    case 'fish':
      return fish(commands);
  }
}

function completed(option: Option): CompletedOption {
  return {
    long: option.long!,
    ...(option.short ? { short: option.short } : {}),
    description: option.description,
    takesValue: option.required || option.optional,
    choices: option.argChoices ?? [],
  };
}

function bash(commands: readonly CompletedCommand[]): string {
  const lists = commands.map((command) => {
    const flags = command.options.flatMap((option) => [option.long, ...(option.short ? [option.short] : [])]);
    return `    ${command.name}) words="${[...flags, '--help', ...command.words].join(' ')}" ;;`;
  });
  const choices = chosenValues(commands).map(
    ([flags, values]) =>
      `    ${flags.join('|')}) COMPREPLY=($(compgen -W "${values.join(' ')}" -- "$current")); return ;;`,
  );
  const files = valueFlags(commands);
  return `# bash completion for slipway: source <(slipway completion bash)
_slipway() {
  local current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD - 1]}" words
  case "$previous" in
${choices.join('\n')}
    ${files.join('|')}) COMPREPLY=($(compgen -f -- "$current")); return ;;
  esac
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "${commands.map((command) => command.name).join(' ')} --help --version" -- "$current"))
    return
  fi
  case "\${COMP_WORDS[1]}" in
${lists.join('\n')}
    *) words="" ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o filenames -F _slipway slipway
`;
}

/** Flags with fixed values, those with the same values together. */
function chosenValues(commands: readonly CompletedCommand[]): [string[], readonly string[]][] {
  const byFlag = new Map<string, CompletedOption>();
  for (const option of commands.flatMap((command) => command.options)) {
    if (option.choices.length > 0) byFlag.set(option.long, option);
  }
  return [...byFlag.values()].map((option) => [[option.long, ...(option.short ? [option.short] : [])], option.choices]);
}

function valueFlags(commands: readonly CompletedCommand[]): string[] {
  const flags = new Set<string>();
  for (const option of commands.flatMap((command) => command.options)) {
    if (!option.takesValue || option.choices.length > 0) continue;
    flags.add(option.long);
    if (option.short) flags.add(option.short);
  }
  return [...flags];
}

function zsh(commands: readonly CompletedCommand[]): string {
  const cases = commands.map((command) => {
    const specs = command.options.flatMap((option) => {
      const value = option.takesValue
        ? `:value:${option.choices.length > 0 ? `(${option.choices.join(' ')})` : '_files'}`
        : '';
      const alias = option.short?.startsWith('--') ? [option.short] : [];
      return [option.long, ...alias].map((name) => `        '${name}[${quoted(option.description)}]${value}'`);
    });
    const rest = command.words.length > 0 ? [`        '*:argument:(${command.words.join(' ')})'`] : [];
    return `      ${command.name})\n        _arguments \\\n${[...specs, ...rest].join(' \\\n')}\n        ;;`;
  });
  return `#compdef slipway
# zsh completion for slipway: slipway completion zsh > "\${fpath[1]}/_slipway"
_slipway() {
  local -a commands
  commands=(
${commands.map((command) => `    '${command.name}:${quoted(command.description)}'`).join('\n')}
  )
  _arguments -C '1: :->command' '*:: :->rest'
  case $state in
    command) _describe command commands ;;
    rest)
      case $words[1] in
${cases.join('\n')}
      esac
      ;;
  esac
}
if [ "$funcstack[1]" = _slipway ]; then _slipway "$@"; else compdef _slipway slipway; fi
`;
}

function quoted(text: string): string {
  return text.replaceAll("'", '’').replaceAll('[', '(').replaceAll(']', ')').replaceAll(':', ' -').replaceAll('$', '');
}

function fish(commands: readonly CompletedCommand[]): string {
  const lines = [
    '# fish completion for slipway: slipway completion fish | source',
    'complete -c slipway -f',
    ...commands.map(
      (command) =>
        `complete -c slipway -n __fish_use_subcommand -a ${command.name} -d ${fishText(command.description)}`,
    ),
  ];
  for (const command of commands) {
    const within = `complete -c slipway -n "__fish_seen_subcommand_from ${command.name}"`;
    for (const option of command.options) {
      const value = option.takesValue
        ? option.choices.length > 0
          ? ` -x -a "${option.choices.join(' ')}"`
          : ' -r'
        : '';
      const short = !option.short
        ? ''
        : option.short.startsWith('--')
          ? ` -l ${option.short.slice(2)}`
          : ` -s ${option.short.slice(1)}`;
      lines.push(`${within} -l ${option.long.slice(2)}${short}${value} -d ${fishText(option.description)}`);
    }
    if (command.words.length > 0) lines.push(`${within} -a "${command.words.join(' ')}"`);
  }
  return `${lines.join('\n')}\n`;
}

function fishText(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}
