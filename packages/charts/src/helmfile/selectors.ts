import { HelmfileError } from './helmfile-error.ts';

interface LabelTerm {
  readonly key: string;
  readonly value: string;
  readonly equal: boolean;
}

/** Decides by labels. Terms of one selector must all hold; one of several selectors is enough; none lets everything pass. */
export type Selector = (labels: ReadonlyMap<string, string>) => boolean;

export function parseSelectors(selectors: readonly string[]): Selector {
  const alternatives = selectors.map(parseTerms);
  if (alternatives.length === 0) return () => true;
  return (labels) => alternatives.some((terms) => terms.every((term) => holds(term, labels)));
}

/** Whether a release could satisfy one selector of each set: no key must have two values at once. */
export function areCompatible(left: readonly string[], right: readonly string[]): boolean {
  if (left.length === 0 || right.length === 0) return true;
  const wanted = (selectors: readonly string[]) =>
    selectors.map((selector) => parseTerms(selector).filter(({ equal }) => equal));
  const others = wanted(right);
  return wanted(left).some((mine) =>
    others.some((theirs) => mine.every((a) => theirs.every((b) => a.key !== b.key || a.value === b.value))),
  );
}

function holds({ key, value, equal }: LabelTerm, labels: ReadonlyMap<string, string>): boolean {
  return equal ? labels.get(key) === value : labels.get(key) !== value;
}

const term = /^([\w./+-]+)(!=|=)([\w./+-]+)$/;

function parseTerms(selector: string): LabelTerm[] {
  return selector.split(',').map((part) => {
    const match = term.exec(part);
    if (!match)
      throw new HelmfileError('InvalidSelector', `malformed label: ${part}. Expected label in form k=v or k!=v`);
    return { key: match[1]!, value: match[3]!, equal: match[2] === '=' };
  });
}
