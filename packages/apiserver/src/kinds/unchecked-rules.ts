/** What the real server checks or does and this one does not, so that nobody has to find out by surprise. */
export const uncheckedRules: readonly string[] = [
  'Pod: affinity, topology spread, security contexts, lifecycle handlers, ephemeral containers, resource claims, host port conflicts, in-place resize, overhead',
  'Pod: the diff in the message about immutable fields names JSON fields, not Go fields',
  'Service: dual stack, load balancer source ranges, traffic distribution, address ranges outside 10.0.0.0/16',
  'PersistentVolume: the fields of each volume source, node affinity; PersistentVolumeClaim: data sources',
  'NetworkPolicy: peers, ports and IP blocks; Ingress: TLS secret names and resource backends',
  'HorizontalPodAutoscaler: metrics and behaviour are defaulted but hardly checked',
  'Job: pod failure and success policies; StatefulSet: the claims in claim templates',
  'ResourceQuota and LimitRange: names and relations of limits',
  'flowcontrol, resource.k8s.io, certificates, storagemigration: defaults and checks beyond the schema',
  'CEL: two-variable comprehensions, JSONPatch and authorizer functions; costs are estimated more coarsely, evaluation has no budget',
  'CRD: a changed CRD is checked in full, old mistakes included; unrecognised string formats raise no warning',
];
