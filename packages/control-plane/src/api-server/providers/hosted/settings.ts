/** How hosted control planes look. Read from a file by `config/settings-files.ts`. */
export interface HostedSettings {
  /** Kubernetes version of API server and controller manager, such as `1.34.2`. */
  readonly version: string;
  /** `{version}` stands for that version. */
  readonly images: { readonly apiServer: string; readonly controllerManager: string; readonly etcd: string };
  readonly etcd: {
    /** An odd number. It counts for new control planes: members are not added later. */
    readonly members: number;
    /** Size of each volume. It counts for new control planes. */
    readonly storage: string;
    /** Default: the cluster's default class. */
    readonly storageClassName?: string;
  };
  readonly apiServer: {
    readonly replicas: number;
    /** More arguments, such as `--audit-log-path=-`. They win over ours. */
    readonly extraArgs: readonly string[];
  };
  readonly service: {
    readonly type: 'ClusterIP' | 'NodePort' | 'LoadBalancer';
    /** For whoever gives the Service an address. */
    readonly annotations: Readonly<Record<string, string>>;
    /** Name under which users reach it; `{name}` and `{namespace}` stand for those of the control plane. Default: what the Service says. */
    readonly externalHost?: string;
    /** Default: the port of the Service. */
    readonly externalPort?: number;
  };
  /** Services of control planes get their addresses from here; it has no meaning outside. */
  readonly serviceAddressRange: string;
  /** Life of certificates, in milliseconds. They are replaced when a third of it is left. */
  readonly certificateLifeMs: number;
  /** Life of certificate authorities, in milliseconds. They are succeeded when a fifth of it is left. */
  readonly authorityLifeMs: number;
}

const dayMs = 86_400_000;

/** What holds where nobody says anything. The version has no default: whoever runs control planes knows theirs. */
export const usualSettings: Omit<HostedSettings, 'version'> = {
  images: {
    apiServer: 'registry.k8s.io/kube-apiserver:v{version}',
    controllerManager: 'registry.k8s.io/kube-controller-manager:v{version}',
    etcd: 'registry.k8s.io/etcd:3.6.5-0',
  },
  etcd: { members: 1, storage: '8Gi' },
  apiServer: { replicas: 1, extraArgs: [] },
  service: { type: 'ClusterIP', annotations: {} },
  serviceAddressRange: '10.96.0.0/16',
  certificateLifeMs: 365 * dayMs,
  authorityLifeMs: 3650 * dayMs,
};
