import { fieldValue, type PodPlace } from './field-path.ts';
import { configMapContents, MissingReference, type PodObjects, secretContents } from './pod-objects.ts';
import type { Container, EnvironmentVariable, RunnablePod } from './running-pod.ts';

/** What every container gets, whatever its pod says. */
export type BaseEnvironment = Readonly<Record<string, string>>;

/** The environment of a container: the base, then `envFrom`, then `env`, each winning over what came before. */
export async function containerEnvironment(
  container: Container,
  pod: RunnablePod,
  place: PodPlace,
  objects: PodObjects,
  base: BaseEnvironment,
): Promise<Record<string, string>> {
  const environment: Record<string, string> = { ...base };
  for (const { prefix = '', secretRef, configMapRef } of container.envFrom ?? []) {
    const contents = secretRef
      ? await secretContents(objects, secretRef.name, secretRef.optional)
      : configMapRef
        ? await configMapContents(objects, configMapRef.name, configMapRef.optional)
        : new Map<string, Buffer>();
    for (const [key, value] of contents) environment[prefix + key] = value.toString();
  }
  for (const variable of container.env ?? []) {
    const value = await variableValue(variable, pod, place, objects, environment);
    if (value !== undefined) environment[variable.name] = value;
  }
  return environment;
}

async function variableValue(
  { value, valueFrom }: EnvironmentVariable,
  pod: RunnablePod,
  place: PodPlace,
  objects: PodObjects,
  before: Readonly<Record<string, string>>,
): Promise<string | undefined> {
  if (!valueFrom) return expandVariables(value ?? '', before);
  const { secretKeyRef, configMapKeyRef, fieldRef } = valueFrom;
  if (fieldRef) return fieldValue(pod, place, fieldRef.fieldPath);
  const reference = secretKeyRef ?? configMapKeyRef;
  if (!reference) throw new Error('a variable takes its value from a Secret, a ConfigMap or a field of the pod');
  const { name, key, optional } = reference;
  const contents = await (secretKeyRef ? secretContents : configMapContents)(objects, name, optional);
  const found = contents.get(key)?.toString();
  if (found === undefined && !optional) {
    throw new MissingReference(`couldn't find key ${key} in ${secretKeyRef ? 'Secret' : 'ConfigMap'} ${name}`);
  }
  return found;
}

/** Replaces `$(NAME)` by what is known; what is not known stays as written, and `$$(NAME)` is `$(NAME)`. */
export function expandVariables(text: string, known: Readonly<Record<string, string>>): string {
  return text.replaceAll(/\$\$|\$\(([^()]*)\)/g, (whole, name?: string) => {
    if (name === undefined) return '$';
    return Object.hasOwn(known, name) ? known[name]! : whole;
  });
}
