import type { Admission, AdmissionContext } from './admission.ts';

/** Plugins one after the other. Stays synchronous as long as they do. */
export function admissionChain(plugins: readonly Admission[]): Admission {
  return {
    mutate: (context) => runAll(plugins, context, (plugin) => plugin.mutate(context)),
    validate: (context) => runAll(plugins, context, (plugin) => plugin.validate(context)),
  };
}

function runAll(
  plugins: readonly Admission[],
  context: AdmissionContext,
  step: (plugin: Admission) => void | Promise<void>,
  from: number = 0,
): void | Promise<void> {
  for (let index = from; index < plugins.length; index++) {
    const waiting = step(plugins[index]!);
    if (waiting) {
      return waiting.then(() => runAll(plugins, context, step, index + 1));
    }
  }
  return undefined;
}
