import type { Environment } from '@marcbachmann/cel-js';
import type { Schema } from '../schema/schema.ts';
import type * as environment from './environment.ts';
import type { RuleCompiler } from './environment.ts';
import type * as re2 from './re2.ts';
import type { Re2 } from './re2.ts';

let loaded: (typeof environment & typeof re2) | undefined;

/**
 * Loads the expression language and the regular expressions. A cluster without custom resources, policies and webhooks has no expressions, and starts sooner
 * without it; hence whoever brings the first of these waits for this before. Answers nothing when there is nothing to wait for.
 */
export function loadCel(): Promise<void> | undefined {
  if (loaded) return undefined;
  return Promise.all([import('./environment.ts'), import('./re2.ts')]).then(([cel, expressions]) => {
    loaded = { ...cel, ...expressions };
  });
}

/** A {@link RuleCompiler}, after {@link loadCel}. */
export function ruleCompiler(
  schemas: readonly Schema[] = [],
  extend?: (environment: Environment) => void,
): RuleCompiler {
  if (!loaded) throw new Error('the expression language is not loaded');
  return new loaded.RuleCompiler(schemas, extend);
}

/** A compiled regular expression, after {@link loadCel}; throws when the pattern is none. */
export function compilePattern(pattern: string): Re2 {
  if (!loaded) throw new Error('the regular expressions are not loaded');
  return loaded.compileRe2(pattern);
}
