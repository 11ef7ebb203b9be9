/**
 * What Helm's versions do differently. The default is Helm 4.3; `helm3` is the last line of Helm 3.
 *
 * | behaviour | since |
 * |---|---|
 * | documents are split where a line begins with `---` | 4.2 |
 * | webhook configurations have a place in the order of kinds | 4.0 |
 */
export type Dialect = 'helm4' | 'helm3';

export interface DialectSwitches {
  readonly documentSeparator: RegExp;
  readonly webhooksInOrder: boolean;
}

export const dialects: Readonly<Record<Dialect, DialectSwitches>> = {
  helm4: { documentSeparator: /^---[ \t]*/m, webhooksInOrder: true },
  helm3: { documentSeparator: /(?:^|\s*\n)---\s*/, webhooksInOrder: false },
};
