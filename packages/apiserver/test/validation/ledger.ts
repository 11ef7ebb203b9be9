/** Answers that are known to differ, and why that is accepted. */
export interface Accepted {
  readonly place: string;
  readonly probe: RegExp;
  readonly reason: string;
}

export const accepted: readonly Accepted[] = [
  {
    place: 'admissionregistration.k8s.io/v1 mutatingadmissionpolicies',
    probe: / spec\.mutations\.0\.jsonPatch\.expression: /,
    reason: 'Mutations are not run here, and a warning says so; whether they would compile is not looked at.',
  },
];
