import { exitCodes, type Terminal } from '@slipway/kube';

import { problemLine, ValuesError } from '../values/values-error.ts';

/** Tells what is wrong with the files of a user, a line each; any other error goes on. */
export function reportProblems(terminal: Pick<Terminal, 'err'>, error: unknown): number {
  if (!(error instanceof ValuesError) || error.problems.length === 0) throw error;
  for (const problem of error.problems) terminal.err(`${problemLine(problem)}\n`);
  return exitCodes.failed;
}
