import type { Command, Option } from 'commander';

export const shells = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof shells)[number];

/** What only a kubeconfig or a cluster knows: the scripts ask `slipway completion NAME` for it while one types. */
export const askedWords = ['contexts', 'namespaces', 'objects'] as const;
export type AskedWords = (typeof askedWords)[number];

/** Flags whose values are asked for. */
const askedByFlag: Readonly<Record<string, AskedWords>> = { '--context': 'contexts', '--namespace': 'namespaces' };
/** Arguments whose values are asked for, by name. */
const askedByArgument: Readonly<Record<string, AskedWords>> = { what: 'objects' };

/** What can be typed after a command. */
interface CompletedCommand {
  readonly name: string;
  readonly description: string;
  readonly options: readonly CompletedOption[];
  /** Words for its arguments. */
  readonly words: readonly string[];
  /** More words, which are asked for. */
  readonly asked?: AskedWords;
}

interface CompletedOption {
  readonly long: string;
  readonly short?: string;
  readonly description: string;
  readonly takesValue: boolean;
  readonly choices: readonly string[];
  /** Its values are asked for. */
  readonly asked?: AskedWords;
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
    ...found('asked', ...command.registeredArguments.map((argument) => askedByArgument[argument.name()])),
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

/** A field with the first value there is, or none. */
function found<K extends string>(name: K, ...values: (AskedWords | undefined)[]): { readonly [N in K]?: AskedWords } {
  const value = values.find((each) => each !== undefined);
  return value === undefined ? {} : ({ [name]: value } as { readonly [N in K]: AskedWords });
}

function completed(option: Option): CompletedOption {
  return {
    long: option.long!,
    ...(option.short ? { short: option.short } : {}),
    description: option.description,
    takesValue: option.required || option.optional,
    choices: option.argChoices ?? [],
    ...found('asked', askedByFlag[option.long!]),
  };
}

function bash(commands: readonly CompletedCommand[]): string {
  const lists = commands.map((command) => {
    const flags = command.options.flatMap((option) => [option.long, ...(option.short ? [option.short] : [])]);
    const asked = command.asked ? `; asked=${command.asked}` : '';
    return `    ${command.name}) words="${[...flags, '--help', ...command.words].join(' ')}"${asked} ;;`;
  });
  const asking = askingFlags(commands).map(
    ([flag, asked]) =>
      `    ${flag}) COMPREPLY=($(compgen -W "$(slipway completion ${asked} "\${connection[@]}" 2>/dev/null)" -- "$current")); return ;;`,
  );
  const choices = chosenValues(commands).map(
    ([flags, values]) =>
      `    ${flags.join('|')}) COMPREPLY=($(compgen -W "${values.join(' ')}" -- "$current")); return ;;`,
  );
  const files = valueFlags(commands);
  return `# bash completion for slipway: source <(slipway completion bash)
_slipway() {
  local current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD - 1]}" words="" asked="" i
  local -a connection=()
  for ((i = 1; i < COMP_CWORD - 1; i++)); do
    case "\${COMP_WORDS[i]}" in
      --kubeconfig|--context) connection+=("\${COMP_WORDS[i]}" "\${COMP_WORDS[i + 1]}") ;;
    esac
  done
  case "$previous" in
${choices.join('\n')}
${asking.join('\n')}
    ${files.join('|')}) COMPREPLY=($(compgen -f -- "$current")); return ;;
  esac
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "${commands.map((command) => command.name).join(' ')} --help --version" -- "$current"))
    return
  fi
  case "\${COMP_WORDS[1]}" in
${lists.join('\n')}
  esac
  if [ -n "$asked" ]; then words="$words $(slipway completion "$asked" "\${connection[@]}" 2>/dev/null)"; fi
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
    if (!option.takesValue || option.choices.length > 0 || option.asked) continue;
    flags.add(option.long);
    if (option.short) flags.add(option.short);
  }
  return [...flags];
}

/** Flags whose values are asked for, each with its short name. */
function askingFlags(commands: readonly CompletedCommand[]): [string, AskedWords][] {
  const flags = new Map<string, AskedWords>();
  for (const { long, short, asked } of commands.flatMap((command) => command.options))
    if (asked) flags.set(short ? `${short}|${long}` : long, asked);
  return [...flags].filter(
    ([flag]) => flag.includes('|') || ![...flags.keys()].some((each) => each.endsWith(`|${flag}`)),
  );
}

function zsh(commands: readonly CompletedCommand[]): string {
  const cases = commands.map((command) => {
    const specs = command.options.flatMap((option) => {
      const value = option.takesValue
        ? `:value:${option.choices.length > 0 ? `(${option.choices.join(' ')})` : option.asked ? `{_slipway_asked ${option.asked}}` : '_files'}`
        : '';
      const alias = option.short?.startsWith('--') ? [option.short] : [];
      return [option.long, ...alias].map((name) => `        '${name}[${quoted(option.description)}]${value}'`);
    });
    const words = command.asked
      ? `{_slipway_asked ${[command.asked, ...command.words].join(' ')}}`
      : `(${command.words.join(' ')})`;
    const rest = command.asked || command.words.length > 0 ? [`        '*:argument:${words}'`] : [];
    return `      ${command.name})\n        _arguments \\\n${[...specs, ...rest].join(' \\\n')}\n        ;;`;
  });
  return `#compdef slipway
# zsh completion for slipway: slipway completion zsh > "\${fpath[1]}/_slipway"
_slipway_asked() {
  local -a found
  found=(\${(f)"$(slipway completion $1 2>/dev/null)"})
  compadd -- $found "\${@:2}"
}
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
          : option.asked
            ? ` -x -a "(slipway completion ${option.asked} 2>/dev/null)"`
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
    if (command.asked) lines.push(`${within} -a "(slipway completion ${command.asked} 2>/dev/null)"`);
  }
  return `${lines.join('\n')}\n`;
}

function fishText(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}
