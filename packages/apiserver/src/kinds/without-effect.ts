import type { ApiObject, JsonObject } from '../object.ts';
import type { Resource } from '../resource.ts';

/** Kinds that are stored and that nothing acts on, by `group/plural`, and what therefore does not happen. */
const idleKinds: Readonly<Record<string, string>> = {
  '/limitranges': 'no limit is checked and no default is set',
  '/replicationcontrollers': 'no pods are made',
  '/resourcequotas': 'nothing is counted and nothing is refused',
  'admissionregistration.k8s.io/mutatingadmissionpolicies': 'nothing is changed',
  'admissionregistration.k8s.io/mutatingadmissionpolicybindings': 'nothing is changed',
  'apiregistration.k8s.io/apiservices': 'no request is forwarded',
  'autoscaling/horizontalpodautoscalers': 'nothing is scaled',
  'certificates.k8s.io/certificatesigningrequests': 'nothing is signed',
  'flowcontrol.apiserver.k8s.io/flowschemas': 'no request has to wait',
  'flowcontrol.apiserver.k8s.io/prioritylevelconfigurations': 'no request has to wait',
};

const podSecurity = 'pod-security.kubernetes.io/enforce';

/** Warnings for whoever writes something that has an effect on a real cluster and none here. */
export function withoutEffect(resource: Pick<Resource, 'group' | 'plural'>, object: ApiObject): string[] {
  const { group, plural } = resource;
  const idle = idleKinds[`${group}/${plural}`];
  if (idle) return [`this server stores ${plural} and does not act on them: ${idle}`];
  if (group === 'batch' && plural === 'jobs') {
    const spec = (object['spec'] ?? {}) as JsonObject;
    return ['podFailurePolicy', 'successPolicy']
      .filter((field) => spec[field])
      .map((field) => `spec.${field}: this server stores it and does not act on it`);
  }
  if (group === '' && plural === 'namespaces' && object.metadata.labels?.[podSecurity]) {
    return [`metadata.labels[${podSecurity}]: this server does not check the security of pods`];
  }
  return [];
}
