import { completionScript, shells, type Shell } from '../completion.ts';
import { slipwayCommand } from '../slipway-command.ts';

/** `slipway completion`: a script that teaches a shell all commands, flags, operators and reasons. */
export const command = slipwayCommand({
  arguments: [{ name: 'shell', required: true, choices: shells }],
  examples: [{ line: 'source <(slipway completion bash)' }, { line: 'slipway completion fish | source' }],
  async run({ terminal, operators, program, args: [shell] }) {
    const known = await operators();
    const words = {
      operator: known.map((operator) => operator.name),
      reason: [...new Set(known.flatMap((operator) => operator.reasons.map((row) => row.reason)))],
      shell: shells,
    };
    terminal.out(completionScript(await program(), shell as Shell, words));
  },
});
