import { Time, Type } from '@slipway/kube';

/** A choice between words. */
export function OneOf<const W extends readonly [string, ...string[]]>(...words: W) {
  return Type.Unsafe<W[number]>({ type: 'string', enum: [...words] });
}

/** A rule that looks at the value before and after a change. */
export function immutable(message: string) {
  return { 'x-kubernetes-validations': [{ rule: 'self == oldSelf', message }] };
}

/** Once an optional field is there, it stays. */
export function requiredOnceSet(field: string) {
  return { rule: `!has(oldSelf.${field}) || has(self.${field})`, message: `${field} is required once set` };
}

/** Not the standard condition: it has no generation, its reason may be missing, and the list is replaced as a whole. */
export const componentCondition = Type.Object({
  type: Type.String(),
  status: Type.String({ description: 'True, False or Unknown.' }),
  reason: Type.Optional(Type.String()),
  message: Type.Optional(Type.String()),
  lastTransitionTime: Type.Optional(Time()),
});

export const observedGenerations = Type.Object({
  resource: Type.Integer({ format: 'int64' }),
  managedControlPlane: Type.Integer({ format: 'int64' }),
  internalConfiguration: Type.Integer({ format: 'int64', description: '-1 when there is none.' }),
});

/** What the status of every component begins with. */
export const commonComponentStatus = {
  conditions: Type.Optional(Type.Array(componentCondition, { 'x-kubernetes-list-type': 'atomic' })),
  observedGenerations: Type.Optional(observedGenerations),
};

export const localSecretReference = Type.Object({ name: Type.String(), key: Type.String() });

export const secretReference = Type.Object({ name: Type.String(), namespace: Type.String(), key: Type.String() });

const nameReference = Type.Object({ name: Type.String() });

export const regionSpecification = Type.Object(
  {
    name: Type.Optional(OneOf('northamerica', 'southamerica', 'europe', 'asia', 'africa', 'australia')),
    direction: Type.Optional(OneOf('north', 'east', 'south', 'west', 'central')),
  },
  { description: 'Where the control plane should be.' },
);

export const subject = Type.Object({
  kind: OneOf('ServiceAccount', 'User', 'Group'),
  name: Type.String({ minLength: 1 }),
  apiGroup: Type.Optional(Type.String()),
  namespace: Type.Optional(Type.String()),
});

export const identityProvider = Type.Object({
  name: Type.String({ pattern: '^[a-z]+$', maxLength: 63 }),
  issuerURL: Type.String(),
  clientID: Type.String(),
  usernameClaim: Type.String(),
  groupsClaim: Type.Optional(Type.String()),
  caBundle: Type.Optional(Type.String()),
  signingAlgs: Type.Optional(Type.Array(Type.String())),
  requiredClaims: Type.Optional(Type.Record(Type.String(), Type.String())),
  clientConfig: Type.Optional(
    Type.Object({
      clientSecret: Type.Optional(localSecretReference),
      extraConfig: Type.Optional(
        Type.Record(
          Type.String(),
          Type.Object({ value: Type.Optional(Type.String()), values: Type.Optional(Type.Array(Type.String())) }),
        ),
      ),
    }),
  ),
});

export const authenticationSpec = {
  enableSystemIdentityProvider: Type.Optional(Type.Boolean({ description: 'Default true.' })),
  identityProviders: Type.Optional(Type.Array(identityProvider)),
};

export const authorizationSpec = {
  roleBindings: Type.Array(Type.Object({ role: OneOf('admin', 'view'), subjects: Type.Array(subject) })),
};

const highAvailability = Type.Object(
  {
    failureToleranceType: Type.Unsafe<'node' | 'zone'>({
      type: 'string',
      enum: ['node', 'zone'],
      ...immutable('failureToleranceType is immutable'),
    }),
  },
  immutable('highAvailability is immutable'),
);

const auditLog = Type.Object({
  type: OneOf('standard'),
  tenantID: Type.String(),
  serviceURL: Type.String(),
  secretRef: nameReference,
  policyRef: nameReference,
});

export const gardenerConfiguration = Type.Object(
  {
    region: Type.Optional(Type.String(immutable('region is immutable'))),
    highAvailability: Type.Optional(highAvailability),
    auditLog: Type.Optional(auditLog),
    encryptionConfig: Type.Optional(Type.Object({ resources: Type.Optional(Type.Array(Type.String())) })),
  },
  { 'x-kubernetes-validations': [requiredOnceSet('highAvailability')] },
);

export const apiServerSpec = {
  type: Type.Unsafe<'Gardener' | 'GardenerDedicated'>({
    type: 'string',
    enum: ['Gardener', 'GardenerDedicated'],
    default: 'GardenerDedicated',
    ...immutable('type is immutable'),
  }),
  gardener: Type.Optional(gardenerConfiguration),
};

export const apiServerInternalSpec = Type.Object({
  gardener: Type.Optional(
    Type.Object({
      shootOverwrite: Type.Optional(Type.Object({ name: Type.String(), namespace: Type.String() })),
      k8sVersionOverwrite: Type.Optional(Type.String()),
      landscapeConfiguration: Type.Optional(Type.String({ pattern: '^[a-z0-9-]+/[a-z0-9-]+$' })),
    }),
  ),
});

export const landscaperSpec = { deployers: Type.Optional(Type.Array(Type.String())) };

const versioned = Type.Object({ version: Type.String() });

/** The five of them together are the CloudOrchestrator component. */
export const cloudOrchestratorSpec = {
  crossplane: Type.Optional(
    Type.Object({
      version: Type.String(),
      providers: Type.Optional(Type.Array(Type.Object({ name: Type.String(), version: Type.String() }))),
    }),
  ),
  btpServiceOperator: Type.Optional(versioned),
  externalSecretsOperator: Type.Optional(versioned),
  kyverno: Type.Optional(versioned),
  flux: Type.Optional(versioned),
};

/** What a customer sees of each component. */
export const externalStatus = {
  apiServer: Type.Object({
    endpoint: Type.Optional(Type.String()),
    serviceAccountIssuer: Type.Optional(Type.String()),
  }),
  authentication: Type.Object({ access: Type.Optional(secretReference) }),
  authorization: Type.Object({}),
  landscaper: Type.Object({}),
  cloudOrchestrator: Type.Object({}),
};
