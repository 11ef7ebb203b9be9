import type { LooseCondition, ObjectReference, Open, Quantity, Typed } from './meta-types.ts';
import type { WebhookClientConfig } from './policy-types.ts';

export type Lease = Typed<'coordination.k8s.io/v1', 'Lease'> & {
  spec?: {
    holderIdentity?: string | null;
    leaseDurationSeconds?: number | null;
    acquireTime?: string | null;
    renewTime?: string | null;
    leaseTransitions?: number | null;
    strategy?: string;
    preferredHolder?: string;
  };
};

export type Event = Typed<'events.k8s.io/v1', 'Event'> & {
  eventTime: string | null;
  regarding?: ObjectReference;
  related?: ObjectReference;
  reason?: string;
  action?: string;
  /** What happened, in a sentence of at most 1024 characters. */
  note?: string;
  type?: 'Normal' | 'Warning';
  reportingController?: string;
  reportingInstance?: string;
  series?: { count: number; lastObservedTime: string };
  deprecatedCount?: number;
  deprecatedFirstTimestamp?: string | null;
  deprecatedLastTimestamp?: string | null;
  deprecatedSource?: { component?: string; host?: string };
};

export type EndpointSlice = Typed<'discovery.k8s.io/v1', 'EndpointSlice'> & {
  addressType: 'IPv4' | 'IPv6' | 'FQDN';
  endpoints: {
    addresses: string[];
    conditions?: { ready?: boolean; serving?: boolean; terminating?: boolean };
    hostname?: string;
    nodeName?: string;
    targetRef?: ObjectReference;
    zone?: string;
    hints?: Open;
    deprecatedTopology?: Record<string, string>;
  }[];
  ports?: { name?: string; port?: number; protocol?: string; appProtocol?: string }[];
};

export type PriorityClass = Typed<'scheduling.k8s.io/v1', 'PriorityClass'> & {
  value: number;
  globalDefault?: boolean;
  description?: string;
  preemptionPolicy?: string;
};

export type StorageClass = Typed<'storage.k8s.io/v1', 'StorageClass'> & {
  provisioner: string;
  parameters?: Record<string, string>;
  reclaimPolicy?: string;
  volumeBindingMode?: string;
  allowVolumeExpansion?: boolean;
  mountOptions?: string[];
  allowedTopologies?: Open[];
};

export type RuntimeClass = Typed<'node.k8s.io/v1', 'RuntimeClass'> & {
  handler: string;
  overhead?: { podFixed?: Record<string, Quantity> };
  scheduling?: Open;
};

export type CertificateSigningRequest = Typed<'certificates.k8s.io/v1', 'CertificateSigningRequest'> & {
  spec: {
    request: string;
    signerName: string;
    usages?: string[];
    expirationSeconds?: number;
    /** Who asks; set by the server. */
    username?: string;
    uid?: string;
    groups?: string[];
    extra?: Record<string, string[]>;
  };
  status?: { certificate?: string; conditions?: LooseCondition[] };
};

export type APIService = Typed<'apiregistration.k8s.io/v1', 'APIService'> & {
  spec?: {
    group?: string;
    version?: string;
    groupPriorityMinimum: number;
    versionPriority: number;
    caBundle?: string;
    insecureSkipTLSVerify?: boolean;
    service?: { namespace?: string; name?: string; port?: number };
  };
  status?: { conditions?: LooseCondition[] };
};

export type CustomResourceDefinition = Typed<'apiextensions.k8s.io/v1', 'CustomResourceDefinition'> & {
  spec: CustomResourceDefinitionSpec;
  status?: {
    acceptedNames?: Partial<CustomResourceDefinitionNames>;
    conditions?: LooseCondition[];
    storedVersions?: string[];
    observedGeneration?: number;
  };
};

export interface CustomResourceDefinitionSpec {
  group: string;
  scope: 'Namespaced' | 'Cluster';
  names: CustomResourceDefinitionNames;
  versions: CustomResourceDefinitionVersion[];
  conversion?: {
    strategy: 'None' | 'Webhook';
    webhook?: { clientConfig?: WebhookClientConfig; conversionReviewVersions: string[] };
  };
  preserveUnknownFields?: boolean;
}

export interface CustomResourceDefinitionNames {
  kind: string;
  plural: string;
  singular?: string;
  listKind?: string;
  shortNames?: string[];
  categories?: string[];
}

export interface CustomResourceDefinitionVersion {
  name: string;
  served: boolean;
  storage: boolean;
  deprecated?: boolean;
  deprecationWarning?: string;
  schema?: { openAPIV3Schema?: JsonSchemaProps };
  subresources?: {
    status?: Record<string, never>;
    scale?: { specReplicasPath: string; statusReplicasPath: string; labelSelectorPath?: string };
  };
  additionalPrinterColumns?: {
    name: string;
    type: string;
    jsonPath: string;
    format?: string;
    description?: string;
    priority?: number;
  }[];
  selectableFields?: { jsonPath: string }[];
}

/** The OpenAPI v3 schema of a CRD, as `apiextensions.k8s.io/v1` allows it. */
export interface JsonSchemaProps {
  type?: string;
  format?: string;
  title?: string;
  description?: string;
  default?: unknown;
  example?: unknown;
  enum?: unknown[];
  nullable?: boolean;
  minimum?: number;
  exclusiveMinimum?: boolean;
  maximum?: number;
  exclusiveMaximum?: boolean;
  multipleOf?: number;
  minLength?: number;
  maxLength?: number;
  pattern?: string;
  minItems?: number;
  maxItems?: number;
  uniqueItems?: boolean;
  minProperties?: number;
  maxProperties?: number;
  required?: string[];
  items?: JsonSchemaProps;
  properties?: Record<string, JsonSchemaProps>;
  additionalProperties?: JsonSchemaProps | boolean;
  allOf?: JsonSchemaProps[];
  anyOf?: JsonSchemaProps[];
  oneOf?: JsonSchemaProps[];
  not?: JsonSchemaProps;
  'x-kubernetes-preserve-unknown-fields'?: boolean;
  'x-kubernetes-embedded-resource'?: boolean;
  'x-kubernetes-int-or-string'?: boolean;
  'x-kubernetes-list-type'?: string;
  'x-kubernetes-list-map-keys'?: string[];
  'x-kubernetes-map-type'?: string;
  'x-kubernetes-validations'?: ValidationRule[];
}

/** A CEL rule of a CRD's schema. */
export interface ValidationRule {
  rule: string;
  message?: string;
  messageExpression?: string;
  reason?: string;
  fieldPath?: string;
  optionalOldSelf?: boolean;
}
