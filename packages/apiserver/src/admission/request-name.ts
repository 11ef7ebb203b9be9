import type { AdmissionContext } from './admission.ts';

/** The name plugins use in their refusals: also for an object whose name is still to be generated. */
export function requestName(context: AdmissionContext): string {
  const metadata = context.object?.metadata ?? context.oldObject?.metadata;
  return context.name || metadata?.name || metadata?.generateName || 'Unknown';
}
