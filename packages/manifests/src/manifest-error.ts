import { firstOfMany } from '@slipway/kube';
/** One thing wrong with a manifest, with the place a person has to look at. */
export interface ManifestProblem {
  /** The file, ConfigMap key or field the text came from. */
  readonly source: string;
  /** Which document of the stream, from 1. */
  readonly document?: number;
  /** Line in the source, from 1. */
  readonly line?: number;
  /** The field, such as `metadata.name`. */
  readonly field?: string;
  readonly message: string;
}

/** A manifest that cannot be used. Lists every problem, not only the first. */
export class ManifestError extends Error {
  readonly problems: readonly ManifestProblem[];

  constructor(problems: readonly ManifestProblem[]) {
    super(problems.map(problemText).join('\n'));
    this.name = 'ManifestError';
    this.problems = problems;
  }

  /** The first few problems and how many more there are, for where room is short. */
  summary(limit = 10): string {
    return firstOfMany(this.problems.map(problemText), { shown: limit, separator: '\n' });
  }
}

function problemText(problem: ManifestProblem): string {
  const place = [
    problem.source,
    problem.document === undefined ? undefined : `document ${problem.document}`,
    problem.line === undefined ? undefined : `line ${problem.line}`,
    problem.field,
  ].filter((part) => part !== undefined);
  return `${place.join(', ')}: ${problem.message}`;
}
