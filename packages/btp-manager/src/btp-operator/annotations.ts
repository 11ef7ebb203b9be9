import type { names } from '../names.ts';
import type { BtpRun } from './run.ts';

type Wish = (typeof names)['disableNetworkPoliciesAnnotation' | 'distrustPreviousCaAnnotation'];

/** Whether an annotation of the BtpOperator asks for something: `true`, in any case. */
export function isAskedFor(run: BtpRun, annotation: Wish): boolean {
  return run.btp.metadata.annotations?.[annotation]?.toLowerCase() === 'true';
}
