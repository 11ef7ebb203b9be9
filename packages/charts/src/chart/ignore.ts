import { ChartError } from './chart-error.ts';
import { shellPattern } from './shell-pattern.ts';

/** The rules of a `.helmignore`. */
export interface IgnoreRules {
  /** Whether a path (with slashes, relative to the chart) is left out. */
  ignores(path: string, isDirectory: boolean): boolean;
}

interface Rule {
  readonly negated: boolean;
  /** What a look at a character of a path costs: every star may or may not take it. */
  readonly cost: number;
  readonly directoriesOnly: boolean;
  readonly matches: (path: string) => boolean;
}

/** Characters of paths that are looked at. A chart of thousands of files and dozens of rules takes some millions. */
const mostWork = 30_000_000;

/** Helm itself leaves out hidden files in `templates/`. */
const defaultRule = 'templates/.?*';

export function parseIgnoreRules(text: string): IgnoreRules {
  const rules = [...text.split(/\r?\n/), defaultRule].flatMap(parseRule);
  let taken = 0;
  return {
    ignores(path, isDirectory) {
      if (path === '' || path === '.' || path === './') return false;
      for (const rule of rules) {
        taken += 10 + path.length * rule.cost;
        if (taken > mostWork)
          throw new ChartError('UnsafeArchive', '.helmignore has too many rules for so many files', {
            hint: 'leave out whole folders, or move the chart away from what is no part of it',
          });
        if (rule.negated) {
          // What a negated rule does not name is out.
          if ((rule.directoriesOnly && !isDirectory) || !rule.matches(path)) return true;
        } else if (!(rule.directoriesOnly && !isDirectory) && rule.matches(path)) return true;
      }
      return false;
    },
  };
}

function parseRule(line: string): Rule[] {
  let pattern = line.trim();
  if (pattern === '' || pattern.startsWith('#')) return [];
  if (pattern.includes('**')) throw new ChartError('InvalidChart', 'double-star (**) syntax is not supported');
  const negated = pattern.startsWith('!');
  if (negated) pattern = pattern.slice(1);
  const directoriesOnly = pattern.endsWith('/');
  if (directoriesOnly) pattern = pattern.slice(0, -1);
  const cost = pattern.split('*').length;
  const rule = { negated, directoriesOnly, cost };
  if (pattern.startsWith('/')) return [{ ...rule, matches: matcher(pattern.slice(1)) }];
  if (pattern.includes('/')) return [{ ...rule, matches: matcher(pattern) }];
  const matchesName = matcher(pattern);
  return [{ ...rule, matches: (path) => matchesName(path.slice(path.lastIndexOf('/') + 1)) }];
}

function matcher(pattern: string): (path: string) => boolean {
  const matches = shellPattern(pattern);
  if (!matches) throw new ChartError('InvalidChart', `.helmignore: syntax error in pattern ${pattern}`);
  return matches;
}
