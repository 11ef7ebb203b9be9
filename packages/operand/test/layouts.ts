/**
 * Install manifests after the shape of well-known operators: which kinds they hold and who waits for whom once they run. Not
 * their content, which no set looks into.
 */
export interface Layout {
  readonly name: string;
  readonly members: readonly LayoutMember[];
}

export interface LayoutMember {
  /** `Kind/name`. A kind Kubernetes does not have is a custom resource. */
  readonly is: string;
  /** Members and things made by members that have to be there before this one gets healthy; `+` in front: healthy themselves. */
  readonly needs?: readonly string[];
  /** What appears once this member is healthy: a Secret, or the definition of a kind. */
  readonly makes?: readonly string[];
  /** The class of a claim. */
  readonly storageClass?: 'late' | 'immediate';
  /** The definition of this custom resource is not in the manifest: a member makes it. */
  readonly undefinedAtFirst?: true;
}

export const layouts: readonly Layout[] = [
  {
    // A workload mounts the Secret that a Certificate of the same manifest asks for.
    name: 'cert-manager',
    members: [
      { is: 'Deployment/cert-manager' },
      { is: 'Deployment/cainjector' },
      { is: 'Deployment/webhook', needs: ['+Deployment/cainjector'] },
      { is: 'Service/webhook' },
      { is: 'ClusterIssuer/self-signed', needs: ['+Deployment/cert-manager'] },
      { is: 'Certificate/web', needs: ['+ClusterIssuer/self-signed'], makes: ['Secret/web-tls'] },
      { is: 'Deployment/web', needs: ['Secret/web-tls'] },
    ],
  },
  {
    // The controller mounts what a Job writes.
    name: 'ingress-nginx',
    members: [
      { is: 'Job/admission-create', makes: ['Secret/admission'] },
      { is: 'Deployment/controller', needs: ['Secret/admission'] },
      { is: 'Job/admission-patch', needs: ['Secret/admission'] },
      { is: 'Service/controller' },
    ],
  },
  {
    // The operator does not start without its configuration, which is a custom resource.
    name: 'postgres-operator',
    members: [
      { is: 'ConfigMap/pod-environment' },
      { is: 'OperatorConfiguration/default' },
      { is: 'Deployment/postgres-operator', needs: ['OperatorConfiguration/default'] },
    ],
  },
  {
    name: 'prometheus-operator',
    members: [
      { is: 'Deployment/prometheus-operator' },
      { is: 'Prometheus/k8s', needs: ['+Deployment/prometheus-operator'] },
      { is: 'ServiceMonitor/kubelet' },
      { is: 'Deployment/adapter', needs: ['+Prometheus/k8s'] },
    ],
  },
  {
    name: 'strimzi',
    members: [
      { is: 'Deployment/cluster-operator' },
      { is: 'Kafka/events', needs: ['+Deployment/cluster-operator'], makes: ['Secret/events-ca'] },
      { is: 'Deployment/bridge', needs: ['+Kafka/events', 'Secret/events-ca'] },
    ],
  },
  {
    name: 'external-secrets',
    members: [
      { is: 'Deployment/cert-controller', makes: ['Secret/webhook-cert'] },
      { is: 'Deployment/webhook', needs: ['Secret/webhook-cert'] },
      { is: 'Deployment/external-secrets', needs: ['+Deployment/webhook'] },
      { is: 'SecretStore/vault', needs: ['+Deployment/external-secrets'] },
      { is: 'ExternalSecret/database', needs: ['+SecretStore/vault'], makes: ['Secret/database'] },
      { is: 'Deployment/shop', needs: ['Secret/database'] },
    ],
  },
  {
    // Late binding: the claim waits for the pod, the pod's Deployment for nothing but the claim.
    name: 'registry on a volume',
    members: [
      { is: 'PersistentVolumeClaim/data', storageClass: 'late', needs: ['Deployment/registry'] },
      { is: 'Deployment/registry', needs: ['PersistentVolumeClaim/data'] },
      // Nothing mounts this one yet.
      { is: 'PersistentVolumeClaim/spare', storageClass: 'late', needs: ['Deployment/nobody'] },
    ],
  },
  {
    // The volume comes from a storage system that is itself a custom resource of the manifest.
    name: 'rook',
    members: [
      { is: 'Deployment/rook-operator' },
      { is: 'CephCluster/rook', needs: ['+Deployment/rook-operator'] },
      { is: 'PersistentVolumeClaim/files', storageClass: 'immediate', needs: ['+CephCluster/rook'] },
      { is: 'Deployment/files', needs: ['+PersistentVolumeClaim/files'] },
    ],
  },
  {
    // A package brings the kind of another member.
    name: 'crossplane',
    members: [
      { is: 'Deployment/crossplane' },
      { is: 'Provider/storage', needs: ['+Deployment/crossplane'], makes: ['CustomResourceDefinition/Bucket'] },
      { is: 'Bucket/backups', undefinedAtFirst: true },
    ],
  },
  {
    // A template brings the kind of a rule.
    name: 'gatekeeper',
    members: [
      { is: 'Deployment/audit' },
      { is: 'Deployment/controller-manager' },
      {
        is: 'ConstraintTemplate/required-labels',
        needs: ['+Deployment/controller-manager'],
        makes: ['CustomResourceDefinition/RequiredLabels'],
      },
      { is: 'RequiredLabels/owner', undefinedAtFirst: true },
    ],
  },
  {
    name: 'istio',
    members: [
      { is: 'ConfigMap/mesh' },
      { is: 'Deployment/istiod', needs: ['ConfigMap/mesh'] },
      { is: 'Gateway/public' },
      { is: 'Deployment/ingress-gateway', needs: ['+Deployment/istiod', 'Gateway/public'] },
    ],
  },
  {
    name: 'velero',
    members: [
      { is: 'Secret/cloud-credentials' },
      { is: 'BackupStorageLocation/default' },
      { is: 'Deployment/velero', needs: ['Secret/cloud-credentials', 'BackupStorageLocation/default'] },
      { is: 'Schedule/daily', needs: ['+Deployment/velero'] },
    ],
  },
];
