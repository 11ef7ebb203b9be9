import type { WorkingCopy } from '../git/working-copy.ts';
import { ValuesError, type ValuesProblem } from '../values/values-error.ts';

/** What Git can have in a tree and a values repository cannot, by mode. */
const foreign: Readonly<Record<string, string>> = {
  '120000': 'is a symbolic link; put the file itself there',
  '160000': 'is a submodule; put its files there',
};

/** What a name becomes whose bytes are no UTF-8. */
const replacement = '\uFFFD';

/** Refuses what is no plain file: it would be read as something else than what whoever pushed it sees. */
export async function refuseForeignEntries(copy: WorkingCopy): Promise<void> {
  const problems = (await copy.entries('env')).flatMap(({ mode, path }): ValuesProblem[] => {
    const message =
      foreign[mode] ?? (path.includes(replacement) ? 'has a name that is not UTF-8; rename it' : undefined);
    return message === undefined ? [] : [{ file: path, path: '', message }];
  });
  if (problems.length > 0) throw new ValuesError('Malformed', 'the values repository cannot be read', problems);
}
