import type { LooseCondition, ObjectReference, Open, Quantity, Typed } from './meta-types.ts';
import type { WebhookClientConfig } from './policy-types.ts';

export interface Lease extends Typed<'coordination.k8s.io/v1', 'Lease'> {
  spec?: {
    holderIdentity?: string | null;
    leaseDurationSeconds?: number | null;
    acquireTime?: string | null;
    renewTime?: string | null;
    leaseTransitions?: number | null;
    strategy?: string;
    preferredHolder?: string;
  };
}

export interface Event extends Typed<'events.k8s.io/v1', 'Event'> {
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
}

export interface EndpointSlice extends Typed<'discovery.k8s.io/v1', 'EndpointSlice'> {
  addressType: 'IPv4' | 'IPv6' | 'FQDN';
  endpoints: (Open & {
    addresses: string[];
    conditions?: { ready?: boolean; serving?: boolean; terminating?: boolean };
    hostname?: string;
    nodeName?: string;
    targetRef?: ObjectReference;
    zone?: string;
  })[];
  ports?: { name?: string; port?: number; protocol?: string; appProtocol?: string }[];
}

export interface PriorityClass extends Typed<'scheduling.k8s.io/v1', 'PriorityClass'> {
  value: number;
  globalDefault?: boolean;
  description?: string;
  preemptionPolicy?: string;
}

export interface StorageClass extends Typed<'storage.k8s.io/v1', 'StorageClass'> {
  provisioner: string;
  parameters?: Record<string, string>;
  reclaimPolicy?: string;
  volumeBindingMode?: string;
  allowVolumeExpansion?: boolean;
  mountOptions?: string[];
}

export interface RuntimeClass extends Typed<'node.k8s.io/v1', 'RuntimeClass'> {
  handler: string;
  overhead?: { podFixed?: Record<string, Quantity> };
  scheduling?: Open;
}

export interface CertificateSigningRequest extends Typed<'certificates.k8s.io/v1', 'CertificateSigningRequest'> {
  spec: Open & { request: string; signerName: string; usages?: string[]; expirationSeconds?: number };
  status?: Open & { certificate?: string; conditions?: LooseCondition[] };
}

export interface APIService extends Typed<'apiregistration.k8s.io/v1', 'APIService'> {
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
}

export interface CustomResourceDefinition extends Typed<'apiextensions.k8s.io/v1', 'CustomResourceDefinition'> {
  spec: CustomResourceDefinitionSpec;
  status?: Open & {
    acceptedNames?: Partial<CustomResourceDefinitionNames>;
    conditions?: LooseCondition[];
    storedVersions?: string[];
  };
}

export interface CustomResourceDefinitionSpec extends Open {
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

export interface CustomResourceDefinitionVersion extends Open {
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
