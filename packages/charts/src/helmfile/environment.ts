import { createHash } from 'node:crypto';
import { serialize } from 'node:v8';
import { Struct } from '../go/struct.ts';
import { isMap, type GoMap, type Value } from '../go/values.ts';
import { copyOnDemand } from './copy-on-demand.ts';

/** What `.Values` is made of: the state's own defaults, then the values of its environment, then what was set by hand. */
export interface Environment {
  readonly name: string;
  readonly kubeContext: string;
  readonly values: GoMap;
  readonly defaults: GoMap;
  /** What `--state-values-set` says: here lists are laid over each other item by item. */
  readonly set: GoMap;
}

export function emptyEnvironment(name: string): Environment {
  return { name, kubeContext: '', values: new Map(), defaults: new Map(), set: new Map() };
}

/** One environment over another; without a base the upper one is all there is. */
export function mergeEnvironments(
  base: Environment | undefined,
  over: Environment | undefined,
): Environment | undefined {
  if (!base || !over) return base ?? over;
  return {
    name: over.name === '' ? base.name : over.name,
    kubeContext: over.kubeContext === '' ? base.kubeContext : over.kubeContext,
    values: layer(base.values, over.values),
    defaults: layer(base.defaults, over.defaults),
    set: layer(base.set, over.set, 'by item'),
  };
}

/** `.Values`. Whoever changes it copies it first. */
export function valuesOfEnvironment(environment: Environment): GoMap {
  const { defaults, values, set } = environment;
  return layer(layer(defaults, values), set, 'by item');
}

const digests = new WeakMap<Environment, string>();

/** Equal for environments that templates cannot tell apart. */
export function digestOf(environment: Environment): string {
  let digest = digests.get(environment);
  if (digest === undefined) {
    const { name, kubeContext, values, defaults, set } = environment;
    // Unlike JSON it tells an int from a float64.
    digest = createHash('sha256')
      .update(serialize([name, kubeContext, values, defaults, set]))
      .digest('base64');
    digests.set(environment, digest);
  }
  return digest;
}

type Lists = 'whole' | 'by item';

/**
 * Lays one layer of values over another as helmfile does between layers: tables merge, lists are replaced (one with holes
 * fills in item by item), and a null takes nothing away. Changes neither.
 */
export function layer(base: GoMap, over: GoMap, lists: Lists = 'whole'): GoMap {
  const merged: GoMap = new Map(base);
  for (const [key, value] of over) {
    const present = merged.get(key);
    if (value === null || value === undefined) {
      if (!merged.has(key)) merged.set(key, null);
    } else if (isMap(value) && isMap(present)) merged.set(key, layer(present, value, lists));
    else if (Array.isArray(value) && Array.isArray(present)) merged.set(key, layerList(present, value, lists));
    else merged.set(key, value);
  }
  return merged;
}

function layerList(base: Value[], over: Value[], lists: Lists): Value[] {
  if (lists === 'whole' && !over.includes(null)) return over;
  const length = Math.max(base.length, over.length);
  return Array.from({ length }, (_, index) => {
    const present = base[index] ?? null;
    const value = over[index] ?? null;
    if (value === null) return present;
    return isMap(value) && isMap(present) ? layer(present, value, lists) : value;
  });
}

/** What a state or an environment's values file sees. */
export function environmentData(environment: Environment): Struct {
  const values = copyOnDemand(valuesOfEnvironment(environment));
  // As helmfile has it: only here, not for the expressions of releases, these count among the values of the environment.
  const withSet = { ...environment, values: layer(environment.values, environment.set, 'by item') };
  return new Struct('state.EnvironmentTemplateData', {
    Environment: environmentStruct(withSet),
    Namespace: '',
    Values: values,
    StateValues: values,
  });
}

export function environmentStruct(environment: Environment): Struct {
  return new Struct('environment.Environment', {
    Name: environment.name,
    KubeContext: environment.kubeContext,
    Values: copyOnDemand(environment.values),
    Defaults: copyOnDemand(environment.defaults),
    CLIOverrides: copyOnDemand(environment.set),
  });
}
