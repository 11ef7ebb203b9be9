import type { Environment } from '@marcbachmann/cel-js';
import type { Schema } from '../schema/schema.ts';
import type * as environment from './environment.ts';
import type { RuleCompiler } from './environment.ts';

let loaded: typeof environment | undefined;

/**
 * Loads the expression language. A cluster without custom resources, policies and webhooks has no expressions, and starts sooner
 * without it; hence whoever brings the first of these waits for this before. Answers nothing when there is nothing to wait for.
 */
export function loadCel(): Promise<void> | undefined {
  return loaded ? undefined : import('./environment.ts').then((module) => void (loaded = module));
}

/** A {@link RuleCompiler}, after {@link loadCel}. */
export function ruleCompiler(
  schemas: readonly Schema[] = [],
  extend?: (environment: Environment) => void,
): RuleCompiler {
  if (!loaded) throw new Error('the expression language is not loaded');
  return new loaded.RuleCompiler(schemas, extend);
}
