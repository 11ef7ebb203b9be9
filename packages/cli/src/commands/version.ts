import { slipwayCommand } from '../slipway-command.ts';

/** `slipway version`. */
export const command = slipwayCommand({
  run: ({ terminal, version }) => terminal.out(`${version}\n`),
});
