/** First address of the range below; the API server gives it to the Service `default/kubernetes`. */
export const kubernetesServiceAddress = '10.96.0.1';
const serviceAddressRange = '10.96.0.0/16';

export interface EtcdSettings {
  dataDir: string;
  clientUrl: string;
  peerUrl: string;
}

export function etcdArguments({ dataDir, clientUrl, peerUrl }: EtcdSettings): string[] {
  return [
    '--name=reference',
    `--data-dir=${dataDir}`,
    `--listen-client-urls=${clientUrl}`,
    `--advertise-client-urls=${clientUrl}`,
    `--listen-peer-urls=${peerUrl}`,
    `--initial-advertise-peer-urls=${peerUrl}`,
    `--initial-cluster=reference=${peerUrl}`,
    // The data does not outlive the cluster.
    '--unsafe-no-fsync',
    '--log-level=warn',
  ];
}

export interface ApiServerSettings {
  port: number;
  etcdUrl: string;
  /** Folder with the files that `start-reference-cluster.ts` writes. */
  dir: string;
  serviceAccountAdmission: boolean;
  /** Call webhooks at the endpoints of their Service: nobody here gives cluster addresses a meaning. */
  endpointRouting: boolean;
  /** Default 10.96.0.0/16. */
  serviceAddresses?: string;
  /** Appended, so that they win over what is set here. */
  extra: readonly string[];
}

export function apiServerArguments({
  port,
  etcdUrl,
  dir,
  serviceAccountAdmission,
  endpointRouting,
  serviceAddresses = serviceAddressRange,
  extra,
}: ApiServerSettings): string[] {
  return [
    '--bind-address=127.0.0.1',
    `--secure-port=${port}`,
    // A loopback address is refused here. This one is reserved for documentation, so nothing can answer on it.
    '--advertise-address=192.0.2.10',
    `--etcd-servers=${etcdUrl}`,
    `--cert-dir=${dir}`,
    `--tls-cert-file=${dir}/apiserver.crt`,
    `--tls-private-key-file=${dir}/apiserver.key`,
    `--client-ca-file=${dir}/ca.crt`,
    `--token-auth-file=${dir}/tokens.csv`,
    '--service-account-issuer=https://kubernetes.default.svc.cluster.local',
    `--service-account-key-file=${dir}/service-account.pub`,
    `--service-account-signing-key-file=${dir}/service-account.key`,
    `--service-cluster-ip-range=${serviceAddresses}`,
    '--authorization-mode=RBAC',
    '--allow-privileged=true',
    // Without a controller that creates the default ServiceAccounts, this plugin would refuse every pod.
    ...(serviceAccountAdmission ? [] : ['--disable-admission-plugins=ServiceAccount']),
    ...(endpointRouting ? ['--enable-aggregator-routing=true'] : []),
    ...extra,
  ];
}

export interface ControllerManagerSettings {
  dir: string;
  /** Nodes are made up: nobody renews their leases. */
  simulatedNodes: boolean;
  extra: readonly string[];
}

export function controllerManagerArguments({ dir, simulatedNodes, extra }: ControllerManagerSettings): string[] {
  return [
    `--kubeconfig=${dir}/controller-manager.kubeconfig`,
    '--secure-port=0',
    `--cert-dir=${dir}`,
    '--leader-elect=false',
    '--use-service-account-credentials=true',
    `--service-account-private-key-file=${dir}/service-account.key`,
    `--root-ca-file=${dir}/ca.crt`,
    // The defaults are meant for big clusters and make a test wait.
    '--kube-api-qps=500',
    '--kube-api-burst=1000',
    ...(simulatedNodes ? ['--controllers=*,-node-lifecycle-controller,-taint-eviction-controller'] : []),
    ...extra,
  ];
}
