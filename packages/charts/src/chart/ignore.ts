import { globToRegExp } from './shell-pattern.ts';
import { ChartError } from './chart-error.ts';

/** The rules of a `.helmignore`. */
export interface IgnoreRules {
  /** Whether a path (with slashes, relative to the chart) is left out. */
  ignores(path: string, isDirectory: boolean): boolean;
}

interface Rule {
  readonly negated: boolean;
  readonly directoriesOnly: boolean;
  readonly matches: (path: string) => boolean;
}

/** Helm itself leaves out hidden files in `templates/`. */
const defaultRule = 'templates/.?*';

export function parseIgnoreRules(text: string): IgnoreRules {
  const rules = [...text.split(/\r?\n/), defaultRule].flatMap(parseRule);
  return {
    ignores(path, isDirectory) {
      if (path === '' || path === '.' || path === './') return false;
      for (const rule of rules) {
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
  if (pattern.startsWith('/')) return [{ negated, directoriesOnly, matches: matcher(pattern.slice(1)) }];
  if (pattern.includes('/')) return [{ negated, directoriesOnly, matches: matcher(pattern) }];
  const matchesName = matcher(pattern);
  return [{ negated, directoriesOnly, matches: (path) => matchesName(path.slice(path.lastIndexOf('/') + 1)) }];
}

function matcher(pattern: string): (path: string) => boolean {
  const expression = globToRegExp(pattern);
  if (!expression) throw new ChartError('InvalidChart', `.helmignore: syntax error in pattern ${pattern}`);
  return (path) => expression.test(path);
}
