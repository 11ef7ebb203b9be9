import type { IntOrString, LabelSelector, LooseCondition, Open, Typed } from './meta-types.ts';
import type { LoadBalancerAddress } from './core-types.ts';

export interface PolicyRule {
  apiGroups?: string[];
  resources?: string[];
  verbs: string[];
  resourceNames?: string[];
  nonResourceURLs?: string[];
}

export interface RoleRef {
  apiGroup: string;
  kind: string;
  name: string;
}

export interface Subject {
  kind: 'ServiceAccount' | 'User' | 'Group';
  name: string;
  namespace?: string;
  apiGroup?: string;
}

type Rbac = 'rbac.authorization.k8s.io/v1';

export type Role = Typed<Rbac, 'Role'> & {
  rules?: PolicyRule[] | null;
};

export type ClusterRole = Typed<Rbac, 'ClusterRole'> & {
  rules?: PolicyRule[] | null;
  aggregationRule?: { clusterRoleSelectors?: LabelSelector[] };
};

export type RoleBinding = Typed<Rbac, 'RoleBinding'> & {
  roleRef: RoleRef;
  subjects?: Subject[];
};

export type ClusterRoleBinding = Typed<Rbac, 'ClusterRoleBinding'> & {
  roleRef: RoleRef;
  subjects?: Subject[];
};

export type NetworkPolicy = Typed<'networking.k8s.io/v1', 'NetworkPolicy'> & {
  spec?: {
    podSelector?: LabelSelector;
    policyTypes?: ('Ingress' | 'Egress')[];
    ingress?: { from?: NetworkPolicyPeer[]; ports?: NetworkPolicyPort[] }[];
    egress?: { to?: NetworkPolicyPeer[]; ports?: NetworkPolicyPort[] }[];
  };
};

export interface NetworkPolicyPeer {
  podSelector?: LabelSelector;
  namespaceSelector?: LabelSelector;
  ipBlock?: { cidr: string; except?: string[] };
}

export interface NetworkPolicyPort {
  port?: IntOrString;
  endPort?: number;
  protocol?: string;
}

export type Ingress = Typed<'networking.k8s.io/v1', 'Ingress'> & {
  spec?: {
    ingressClassName?: string;
    defaultBackend?: IngressBackend;
    rules?: {
      host?: string;
      http?: { paths: { path?: string; pathType: string; backend: IngressBackend }[] };
    }[];
    tls?: { hosts?: string[]; secretName?: string }[];
  };
  status?: { loadBalancer?: { ingress?: Omit<LoadBalancerAddress, 'ipMode'>[] } };
};

export interface IngressBackend {
  service?: { name: string; port?: { name?: string; number?: number } };
  resource?: { apiGroup?: string; kind: string; name: string };
}

export type IngressClass = Typed<'networking.k8s.io/v1', 'IngressClass'> & {
  spec?: { controller?: string; parameters?: Open };
};

type Admission = 'admissionregistration.k8s.io/v1';

export interface WebhookClientConfig {
  /** Base64 of PEM. */
  caBundle?: string;
  service?: { namespace: string; name: string; path?: string; port?: number };
  url?: string;
}

export interface Webhook {
  name: string;
  admissionReviewVersions: string[];
  clientConfig: WebhookClientConfig;
  sideEffects: 'None' | 'NoneOnDryRun' | 'Some' | 'Unknown';
  rules?: {
    apiGroups?: string[];
    apiVersions?: string[];
    operations?: string[];
    resources?: string[];
    scope?: string;
  }[];
  failurePolicy?: 'Fail' | 'Ignore';
  matchPolicy?: 'Exact' | 'Equivalent';
  matchConditions?: { name: string; expression: string }[];
  namespaceSelector?: LabelSelector;
  objectSelector?: LabelSelector;
  timeoutSeconds?: number;
}

export type ValidatingWebhookConfiguration = Typed<Admission, 'ValidatingWebhookConfiguration'> & {
  webhooks?: Webhook[];
};

export type MutatingWebhookConfiguration = Typed<Admission, 'MutatingWebhookConfiguration'> & {
  webhooks?: (Webhook & { reinvocationPolicy?: 'Never' | 'IfNeeded' })[];
};

export type ValidatingAdmissionPolicy = Typed<Admission, 'ValidatingAdmissionPolicy'> & {
  spec?: {
    failurePolicy?: 'Fail' | 'Ignore';
    matchConstraints?: Open;
    matchConditions?: { name: string; expression: string }[];
    paramKind?: { apiVersion?: string; kind?: string };
    validations?: { expression: string; message?: string; messageExpression?: string; reason?: string }[];
    variables?: { name: string; expression: string }[];
    auditAnnotations?: { key: string; valueExpression: string }[];
  };
  status?: { observedGeneration?: number; conditions?: LooseCondition[]; typeChecking?: Open };
};

export type ValidatingAdmissionPolicyBinding = Typed<Admission, 'ValidatingAdmissionPolicyBinding'> & {
  spec?: {
    policyName?: string;
    validationActions?: ('Deny' | 'Warn' | 'Audit')[];
    paramRef?: Open;
    matchResources?: Open;
  };
};
