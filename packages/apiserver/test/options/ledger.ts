/** Outcomes that are known to differ, and why that is accepted. */
export interface Accepted {
  readonly place: RegExp;
  readonly probe: RegExp;
  readonly reason: string;
}

export const accepted: readonly Accepted[] = [
  {
    place: /\/(proxy|exec|attach|portforward|log)$/,
    probe: /./,
    reason: 'There is no kubelet and no network to forward to. We say 501, never that something was done.',
  },
  {
    place: /^v1 pods\/(ephemeralcontainers|resize)$/,
    probe: /./,
    reason: 'Simulated pods cannot be resized or joined. We say 501, never that something was done.',
  },
  {
    place: /\/scale$/,
    probe: /accept (table|metadata)$/,
    reason: 'A Scale is answered as a Scale, or refused with 406. Nobody prints them as tables.',
  },
  {
    place: /\/(status|approval)$/,
    probe: /accept (table|metadata)$/,
    reason:
      'A few subresources of the real server have no tables, and these print one here: apiservices, definitions, claims.',
  },
  {
    place: /\/scale$/,
    probe: /^patch apply accept yaml$/,
    reason: 'A refusal is answered in JSON, whatever was asked for.',
  },
  {
    place: /events$/,
    probe: /^get resourceVersion=(x|-1)$/,
    reason: 'The real server reads events past its cache, which calls a bad version 400 where the cache says 500.',
  },
  {
    place: /^options\.example\.com\/v1 gadgets\/scale$/,
    probe: /^patch (merge other uid|apply force=true)$/,
    reason:
      'The real server takes a foreign uid for the scale of a custom resource, and fails with 500 on a forced apply.',
  },
];
