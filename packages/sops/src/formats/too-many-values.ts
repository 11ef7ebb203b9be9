import { SopsError } from '../sops-error.ts';

/** Nobody writes a file of this many values by hand, and each takes its time to encrypt. */
export const maxValues = 500_000;

export function tooManyValues(what: string, more = ''): SopsError {
  return new SopsError('input', `${what} has more than ${maxValues} values${more}`, {
    hint: 'split the file, or encrypt it as binary',
  });
}
