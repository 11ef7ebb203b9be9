import type { GoMap, Value } from '../go/values.ts';
import type { Spec } from './decode.ts';
import type { Environment } from './environment.ts';

/** A state file, all its parts and bases merged; its releases are not evaluated yet. */
export interface State {
  /** As it was found, absolute. */
  readonly file: string;
  readonly directory: string;
  readonly spec: Spec;
  readonly environment: Environment;
  /** What `.Values` is. */
  readonly values: GoMap;
}

export function textOf(spec: Spec, key: string): string {
  const value = spec.get(key);
  return typeof value === 'string' ? value : '';
}

/** A flag of a release, else of `helmDefaults`, else the default. */
export function flagOf(spec: Spec, key: string): boolean | undefined {
  const value = spec.get(key);
  return typeof value === 'boolean' ? value : undefined;
}

export function integerIn(spec: Spec, key: string): number | undefined {
  const value = spec.get(key);
  return typeof value === 'bigint' ? Number(value) : undefined;
}

export function listOf(spec: Spec, key: string): readonly Value[] {
  const value = spec.get(key);
  return Array.isArray(value) ? value : [];
}

export function textsOf(spec: Spec, key: string): readonly string[] {
  return listOf(spec, key) as readonly string[];
}

export function specsOf(spec: Spec, key: string): readonly Spec[] {
  return listOf(spec, key) as readonly Spec[];
}

export function groupOf(spec: Spec, key: string): Spec {
  const value = spec.get(key);
  return value instanceof Map ? value : new Map();
}
