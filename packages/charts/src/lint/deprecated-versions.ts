/**
 * Versions of APIs that Kubernetes gives up: since which minor version of 1 they are deprecated, from which on they are gone (0: not yet said), what to
 * use instead, and the kinds this is said of.
 */
const deprecatedVersions: readonly (readonly [string, number, number, string, string])[] = [
  ['v1', 33, 0, 'discovery.k8s.io/v1 EndpointSlice', 'Endpoints'],
  ['v1', 19, 0, '', 'ComponentStatus'],
  ['admission.k8s.io/v1beta1', 19, 22, 'admission.k8s.io/v1', 'AdmissionReview'],
  ['admissionregistration.k8s.io/v1alpha1', 35, 38, '', 'MutatingAdmissionPolicy MutatingAdmissionPolicyBinding'],
  ['admissionregistration.k8s.io/v1alpha1', 29, 32, '', 'ValidatingAdmissionPolicy ValidatingAdmissionPolicyBinding'],
  [
    'admissionregistration.k8s.io/v1beta1',
    37,
    40,
    'admissionregistration.k8s.io/v1',
    'MutatingAdmissionPolicy MutatingAdmissionPolicyBinding',
  ],
  [
    'admissionregistration.k8s.io/v1beta1',
    16,
    22,
    'admissionregistration.k8s.io/v1',
    'MutatingWebhookConfiguration ValidatingWebhookConfiguration',
  ],
  ['admissionregistration.k8s.io/v1beta1', 31, 34, '', 'ValidatingAdmissionPolicy ValidatingAdmissionPolicyBinding'],
  ['apidiscovery.k8s.io/v2beta1', 32, 35, '', 'APIGroupDiscovery'],
  ['apps/v1beta1', 8, 16, 'apps/v1', 'ControllerRevision Deployment DeploymentRollback StatefulSet'],
  ['apps/v1beta1', 8, 16, 'autoscaling/v1', 'Scale'],
  ['apps/v1beta2', 9, 16, 'apps/v1', 'ControllerRevision DaemonSet Deployment ReplicaSet StatefulSet'],
  ['apps/v1beta2', 9, 16, 'autoscaling/v1', 'Scale'],
  ['authentication.k8s.io/v1alpha1', 29, 32, '', 'SelfSubjectReview'],
  ['authentication.k8s.io/v1beta1', 30, 33, '', 'SelfSubjectReview'],
  ['authentication.k8s.io/v1beta1', 19, 22, 'authentication.k8s.io/v1', 'TokenReview'],
  [
    'authorization.k8s.io/v1beta1',
    19,
    22,
    'authorization.k8s.io/v1',
    'LocalSubjectAccessReview SelfSubjectAccessReview SelfSubjectRulesReview SubjectAccessReview',
  ],
  ['batch/v1beta1', 21, 25, 'batch/v1', 'CronJob'],
  ['certificates.k8s.io/v1alpha1', 34, 37, '', 'ClusterTrustBundle'],
  ['certificates.k8s.io/v1beta1', 19, 22, 'certificates.k8s.io/v1', 'CertificateSigningRequest'],
  ['certificates.k8s.io/v1beta1', 37, 40, 'certificates.k8s.io/v1', 'ClusterTrustBundle PodCertificateRequest'],
  ['coordination.k8s.io/v1alpha2', 35, 38, '', 'LeaseCandidate'],
  ['coordination.k8s.io/v1beta1', 19, 22, 'coordination.k8s.io/v1', 'Lease'],
  ['coordination.k8s.io/v1beta1', 36, 39, '', 'LeaseCandidate'],
  ['discovery.k8s.io/v1beta1', 21, 25, 'discovery.k8s.io/v1', 'EndpointSlice'],
  ['events.k8s.io/v1beta1', 22, 25, '', 'Event'],
  ['extensions/v1beta1', 8, 16, 'apps/v1', 'DaemonSet Deployment ReplicaSet'],
  ['extensions/v1beta1', 8, 16, '', 'DeploymentRollback'],
  ['extensions/v1beta1', 14, 22, 'networking.k8s.io/v1', 'Ingress'],
  ['extensions/v1beta1', 9, 16, 'networking.k8s.io/v1', 'NetworkPolicy'],
  ['extensions/v1beta1', 2, 16, '', 'Scale'],
  [
    'flowcontrol.apiserver.k8s.io/v1beta1',
    23,
    26,
    'flowcontrol.apiserver.k8s.io/v1beta3',
    'FlowSchema PriorityLevelConfiguration',
  ],
  [
    'flowcontrol.apiserver.k8s.io/v1beta2',
    26,
    29,
    'flowcontrol.apiserver.k8s.io/v1beta3',
    'FlowSchema PriorityLevelConfiguration',
  ],
  [
    'flowcontrol.apiserver.k8s.io/v1beta3',
    29,
    32,
    'flowcontrol.apiserver.k8s.io/v1',
    'FlowSchema PriorityLevelConfiguration',
  ],
  ['networking.k8s.io/v1beta1', 34, 37, '', 'IPAddress ServiceCIDR'],
  ['networking.k8s.io/v1beta1', 19, 22, 'networking.k8s.io/v1', 'Ingress IngressClass'],
  ['node.k8s.io/v1beta1', 22, 25, '', 'RuntimeClass'],
  ['policy/v1beta1', 22, 25, '', 'Eviction'],
  ['policy/v1beta1', 21, 25, 'policy/v1', 'PodDisruptionBudget'],
  [
    'rbac.authorization.k8s.io/v1beta1',
    17,
    22,
    'rbac.authorization.k8s.io/v1',
    'ClusterRole ClusterRoleBinding Role RoleBinding',
  ],
  ['resource.k8s.io/v1alpha3', 36, 39, '', 'DeviceTaintRule'],
  ['resource.k8s.io/v1beta1', 35, 38, '', 'DeviceClass ResourceClaim ResourceClaimTemplate ResourceSlice'],
  ['resource.k8s.io/v1beta2', 36, 39, '', 'DeviceClass ResourceClaim ResourceClaimTemplate ResourceSlice'],
  ['scheduling.k8s.io/v1beta1', 14, 22, 'scheduling.k8s.io/v1', 'PriorityClass'],
  ['storage.k8s.io/v1alpha1', 21, 24, 'storage.k8s.io/v1beta1', 'CSIStorageCapacity'],
  ['storage.k8s.io/v1alpha1', 21, 24, 'storage.k8s.io/v1', 'VolumeAttachment'],
  ['storage.k8s.io/v1alpha1', 32, 35, 'storage.k8s.io/v1', 'VolumeAttributesClass'],
  ['storage.k8s.io/v1beta1', 19, 22, 'storage.k8s.io/v1', 'CSIDriver StorageClass VolumeAttachment'],
  ['storage.k8s.io/v1beta1', 17, 22, 'storage.k8s.io/v1', 'CSINode'],
  ['storage.k8s.io/v1beta1', 24, 27, 'storage.k8s.io/v1', 'CSIStorageCapacity'],
  ['storage.k8s.io/v1beta1', 34, 37, 'storage.k8s.io/v1', 'VolumeAttributesClass'],
  ['storagemigration.k8s.io/v1beta1', 37, 40, 'storagemigration.k8s.io/v1', 'StorageVersionMigration'],
];

/** What Kubernetes says of an object of an API that it gives up. Nothing where it does not, up to this minor version. */
export function deprecation(apiVersion: string, kind: string, minor: number): string | undefined {
  const found = deprecatedVersions.find(
    ([version, since, , , kinds]) => version === apiVersion && since <= minor && kinds.split(' ').includes(kind),
  );
  if (found === undefined) return undefined;
  const [, since, gone, instead] = found;
  const until = gone === 0 ? '' : `, unavailable in v1.${gone}+`;
  const use = instead === '' ? '' : `; use ${instead.includes(' ') ? instead : `${instead} ${kind}`}`;
  return `${apiVersion} ${kind} is deprecated in v1.${since}+${until}${use}`;
}
