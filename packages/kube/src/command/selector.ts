import { InputError } from '../input-error.ts';
import { parseLabelSelector, type LabelRequirement } from '../selectors.ts';
import { CommandError, exitCodes } from './command-error.ts';

/** `-l` of the commands that choose objects, as kubectl has it. */
export const selectorFlag = {
  type: 'string',
  short: 'l',
  value: 'labels',
  summary: 'only objects with these labels, such as app=web',
  perCall: true,
} as const;

/** What `-l` asks for. One that cannot be read is wrong usage, before anything is sent anywhere. */
export function givenSelector(text: string | undefined): readonly LabelRequirement[] {
  try {
    return parseLabelSelector(text ?? '');
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    throw new CommandError(`-l: ${error.message}`, {
      hint: 'write it as kubectl takes it: app=web,tier in (a, b),!draft',
      exitCode: exitCodes.usage,
      cause: error,
    });
  }
}
