import { type FieldProblem, problemText } from '@slipway/kube';

/** A file with settings that cannot be used. It names the fields. */
export class SettingsError extends Error {
  readonly problems: readonly FieldProblem[];

  constructor(where: string, problems: readonly FieldProblem[]) {
    super(`${where}: ${problemText(problems)}`);
    this.name = 'SettingsError';
    this.problems = problems;
  }
}
