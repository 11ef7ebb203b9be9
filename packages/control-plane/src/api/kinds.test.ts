import { type DefinedKind, type JsonSchemaProps, toCustomResourceDefinition } from '@slipway/kube';
import { expect, test } from 'vitest';

import { controlPlaneOperator } from '../operator.ts';

/** The kinds as the original serves them: scope, short name, columns as `name path type`, and whether status is a subresource. */
const original: Readonly<Record<string, { scope: string; short: string[]; status: boolean; columns: string[] }>> = {
  ManagedControlPlane: {
    scope: 'Namespaced',
    short: ['mcp'],
    status: true,
    columns: ['Status .status.status string', 'Age .metadata.creationTimestamp date'],
  },
  InternalConfiguration: { scope: 'Namespaced', short: ['icfg'], status: false, columns: [] },
  APIServer: componentColumns('APIServer', 'as'),
  Authentication: componentColumns('Authentication', 'auth'),
  Authorization: componentColumns('Authorization', 'authz'),
  Landscaper: componentColumns('Landscaper', 'ls'),
  CloudOrchestrator: componentColumns('CloudOrchestrator', 'co'),
  ClusterAdmin: {
    scope: 'Namespaced',
    short: ['clas'],
    status: true,
    columns: [
      'Active .status.active string',
      'Activated .status.activationTime date',
      'Expiration .status.expirationTime string',
    ],
  },
  // The original has a column for `.spec.name`, a field that does not exist; ours shows the age instead.
  ManagedComponent: {
    scope: 'Cluster',
    short: [],
    status: true,
    columns: ['Versions .status.versions string', 'Age .metadata.creationTimestamp date'],
  },
};

function componentColumns(type: string, short: string) {
  return {
    scope: 'Namespaced',
    short: [short],
    status: true,
    columns: [
      `Successfully_Reconciled .status.conditions[?(@.type=="${type}Reconciliation")].status string`,
      'Deleted .metadata.deletionTimestamp date',
      'Age .metadata.creationTimestamp date',
    ],
  };
}

/** Fields of each spec and status; a star means required, brackets a list. */
const fields: Readonly<Record<string, { spec: string[]; status?: string[] }>> = {
  ManagedControlPlane: {
    spec: [
      'authentication.enableSystemIdentityProvider',
      ...identityProvider('authentication.'),
      ...roleBindings('authorization.'),
      ...apiServer('components*.apiServer.'),
      ...cloudOrchestrator('components*.'),
      'components*.landscaper.deployers[]',
      'desiredRegion.direction',
      'desiredRegion.name',
      'disabledComponents[]',
    ],
    status: [
      'components.apiServer.endpoint',
      'components.apiServer.serviceAccountIssuer',
      'components.authentication.access.key*',
      'components.authentication.access.name*',
      'components.authentication.access.namespace*',
      'components.authorization',
      'components.cloudOrchestrator',
      'components.landscaper',
      ...conditions(['managedBy*']),
      'message',
      'observedGeneration*',
      'status*',
    ],
  },
  InternalConfiguration: { spec: internal('components.apiServer.') },
  APIServer: {
    spec: [...apiServer(''), 'desiredRegion.direction', 'desiredRegion.name', ...internal('internal.')],
    status: [
      ...common(),
      'adminAccess.creationTimestamp',
      'adminAccess.expirationTimestamp',
      'adminAccess.kubeconfig',
      // Ours: the kubeconfig lies in a Secret unless the operator is told otherwise.
      'adminAccess.secretRef.key*',
      'adminAccess.secretRef.name*',
      'endpoint',
      'gardener.shoot',
      'serviceAccountIssuer',
    ],
  },
  Authentication: {
    spec: ['enableSystemIdentityProvider', ...identityProvider('')],
    status: [...common(), 'access.key*', 'access.name*', 'access.namespace*'],
  },
  Authorization: { spec: roleBindings(''), status: [...common(), 'userNamespaces[]'] },
  Landscaper: {
    spec: ['deployers[]'],
    status: [...common(), 'landscaperDeployment.name*', 'landscaperDeployment.namespace*'],
  },
  CloudOrchestrator: { spec: cloudOrchestrator(''), status: [...common(), 'componentsEnabled', 'componentsHealthy'] },
  ClusterAdmin: {
    spec: subject('subjects*[]'),
    status: ['activationTime', 'active*', 'expirationTime'],
  },
  ManagedComponent: { spec: [''], status: ['versions*[]'] },
};

function conditions(more: string[] = []): string[] {
  return ['lastTransitionTime', 'message', 'reason', 'status*', 'type*', ...more].map(
    (field) => `conditions[].${field}`,
  );
}

function common(): string[] {
  const generations = ['internalConfiguration*', 'managedControlPlane*', 'resource*'];
  return [...conditions(), ...generations.map((field) => `observedGenerations.${field}`)];
}

function subject(at: string): string[] {
  return ['apiGroup', 'kind*', 'name*', 'namespace'].map((field) => `${at}.${field}`);
}

function roleBindings(at: string): string[] {
  return [`${at}roleBindings*[].role*`, ...subject(`${at}roleBindings*[].subjects*[]`)];
}

function identityProvider(at: string): string[] {
  return [
    'caBundle',
    'clientConfig.clientSecret.key*',
    'clientConfig.clientSecret.name*',
    'clientConfig.extraConfig{}.value',
    'clientConfig.extraConfig{}.values[]',
    'clientID*',
    'groupsClaim',
    'issuerURL*',
    'name*',
    'requiredClaims{}',
    'signingAlgs[]',
    'usernameClaim*',
  ].map((field) => `${at}identityProviders[].${field}`);
}

function apiServer(at: string): string[] {
  return [
    'gardener.auditLog.policyRef*.name*',
    'gardener.auditLog.secretRef*.name*',
    'gardener.auditLog.serviceURL*',
    'gardener.auditLog.tenantID*',
    'gardener.auditLog.type*',
    'gardener.encryptionConfig.resources[]',
    'gardener.highAvailability.failureToleranceType*',
    'gardener.region',
    // Required by the original too, but a default fills it in before anyone looks.
    'type',
  ].map((field) => at + field);
}

function internal(at: string): string[] {
  return [
    'gardener.k8sVersionOverwrite',
    'gardener.landscapeConfiguration',
    'gardener.shootOverwrite.name*',
    'gardener.shootOverwrite.namespace*',
  ].map((field) => at + field);
}

function cloudOrchestrator(at: string): string[] {
  return [
    'btpServiceOperator.version*',
    'crossplane.providers[].name*',
    'crossplane.providers[].version*',
    'crossplane.version*',
    'externalSecretsOperator.version*',
    'flux.version*',
    'kyverno.version*',
  ].map((field) => at + field);
}

/** The leaves of a schema in the notation above. */
function leaves(schema: JsonSchemaProps, at = ''): string[] {
  if (schema.items) return leaves(schema.items as JsonSchemaProps, `${at}[]`);
  if (typeof schema.additionalProperties === 'object') return leaves(schema.additionalProperties, `${at}{}`);
  const properties = Object.entries(schema.properties ?? {});
  if (properties.length === 0) return [at];
  return properties.flatMap(([name, field]) => {
    const star = schema.required?.includes(name) ? '*' : '';
    return leaves(field as JsonSchemaProps, `${at ? `${at}.` : ''}${name}${star}`);
  });
}

const byKind = new Map(controlPlaneOperator.kinds.map((kind) => [kind.kind, kind]));

function versionOf(kind: DefinedKind) {
  const [version, ...others] = toCustomResourceDefinition(kind).spec.versions;
  expect(others).toEqual([]);
  return version!;
}

test('the operator brings the nine kinds of the original and no other', () => {
  expect([...byKind.keys()].sort()).toEqual(Object.keys(original).sort());
});

test.each(Object.entries(original))('%s has the scope, short names and columns of the original', (name, facts) => {
  const kind = byKind.get(name)!;
  const crd = toCustomResourceDefinition(kind);
  const version = versionOf(kind);
  expect(crd.spec.group).toBe('core.openmcp.cloud');
  expect(version.name).toBe('v1alpha1');
  expect(crd.spec.scope).toBe(facts.scope);
  expect(crd.spec.names.shortNames ?? []).toEqual(facts.short);
  expect(version.subresources?.status !== undefined).toBe(facts.status);
  const columns = (version.additionalPrinterColumns ?? []).map(
    ({ name: title, jsonPath, type }) => `${title} ${jsonPath} ${type}`,
  );
  expect(columns).toEqual(facts.columns);
});

test.each(Object.entries(fields))('%s has the fields of the original', (name, wanted) => {
  const schema = versionOf(byKind.get(name)!).schema!.openAPIV3Schema!;
  const { spec, status } = schema.properties as Record<string, JsonSchemaProps>;
  expect(leaves(spec!).sort()).toEqual([...wanted.spec].sort());
  expect(status ? leaves(status).sort() : undefined).toEqual(wanted.status && [...wanted.status].sort());
});
