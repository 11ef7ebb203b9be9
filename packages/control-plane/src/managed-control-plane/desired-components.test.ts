import { expect, test } from 'vitest';

import type { InternalConfiguration } from '../api/internal-configuration.ts';
import type { ManagedControlPlane } from '../api/managed-control-plane.ts';
import { componentTypes, type ComponentType } from '../component/component-type.ts';
import type { Architectures } from '../config/architectures.ts';
import { desiredComponents } from './desired-components.ts';

type Spec = NonNullable<ManagedControlPlane['spec']>;

interface Facts {
  labels?: Record<string, string>;
  internal?: InternalConfiguration['spec'];
  forced?: boolean;
  architectures?: Architectures;
  active?: readonly ComponentType[];
}

function project(spec: Spec | undefined, facts: Facts = {}) {
  const { labels, internal, forced = false, architectures = {}, active = componentTypes } = facts;
  const mcp = {
    apiVersion: 'core.openmcp.cloud/v1alpha1',
    kind: 'ManagedControlPlane',
    metadata: { name: 'demo', namespace: 'team', uid: 'u-1', labels },
    spec,
  } as ManagedControlPlane;
  const internalConfiguration = internal && ({ metadata: { name: 'demo' }, spec: internal } as InternalConfiguration);
  const createdFrom = { managedControlPlane: 4, internalConfiguration: internal ? 2 : -1 };
  return desiredComponents({ mcp, internalConfiguration, createdFrom, forced, architectures, active });
}

const specOf = (spec: Spec, type: ComponentType, facts: Facts = {}): unknown =>
  project(spec, facts).get(type)?.['spec'];
const gardener: Spec = { components: { apiServer: { type: 'Gardener' } } };

test('a ManagedControlPlane without a spec has no components', () => {
  expect([...project(undefined).keys()]).toEqual([]);
});

test('an API server brings Authentication along, and nothing else', () => {
  expect([...project(gardener).keys()]).toEqual(['APIServer', 'Authentication']);
});

test.each(['crossplane', 'btpServiceOperator', 'externalSecretsOperator', 'kyverno', 'flux'] as const)(
  '%s alone asks for the CloudOrchestrator',
  (part) => {
    const components = { [part]: { version: '1.0.0' } };
    expect(specOf({ components }, 'CloudOrchestrator')).toEqual(components);
  },
);

test('what is not said is filled in', () => {
  expect(specOf(gardener, 'APIServer')).toEqual({ type: 'Gardener', gardener: {} });
  expect(specOf({ components: { apiServer: { type: 'GardenerDedicated' } } }, 'APIServer')).toEqual({
    type: 'GardenerDedicated',
  });
  expect(specOf(gardener, 'Authentication')).toEqual({ enableSystemIdentityProvider: true });
  expect(specOf({ components: { landscaper: {} } }, 'Landscaper')).toEqual({
    deployers: ['helm', 'manifest', 'container'],
  });
  const subjects = [
    { kind: 'User' as const, name: 'ann' },
    { kind: 'ServiceAccount' as const, name: 'robot', namespace: 'team' },
  ];
  expect(
    specOf({ components: {}, authorization: { roleBindings: [{ role: 'view', subjects }] } }, 'Authorization'),
  ).toEqual({
    roleBindings: [
      { role: 'view', subjects: [{ ...subjects[0], apiGroup: 'rbac.authorization.k8s.io' }, subjects[1]] },
    ],
  });
});

test('region and internal configuration reach the API server', () => {
  const internal = { components: { apiServer: { gardener: { k8sVersionOverwrite: '1.33.1' } } } };
  expect(specOf({ ...gardener, desiredRegion: { name: 'europe' } }, 'APIServer', { internal })).toEqual({
    type: 'Gardener',
    gardener: {},
    internal: { gardener: { k8sVersionOverwrite: '1.33.1' } },
    desiredRegion: { name: 'europe' },
  });
});

test('a component says where it comes from', () => {
  const labels = { 'openmcp.cloud/mcp-project': 'p', 'openmcp.cloud/mcp-workspace': 'w', unrelated: 'x' };
  const internal = { components: {} };
  const { metadata } = project(gardener, { labels, internal }).get('APIServer')!;
  expect(metadata).toMatchObject({
    name: 'demo',
    namespace: 'team',
    annotations: {},
    labels: {
      'openmcp.cloud/mcp-name': 'demo',
      'openmcp.cloud/mcp-namespace': 'team',
      'openmcp.cloud/mcp-project': 'p',
      'openmcp.cloud/mcp-workspace': 'w',
      'openmcp.cloud/mcp-generation': '4',
      'openmcp.cloud/ic-generation': '2',
      'architecture.openmcp.cloud/version': 'v1',
    },
  });
  expect(metadata.labels).not.toHaveProperty('unrelated');
  expect(metadata.ownerReferences).toMatchObject([{ name: 'demo', uid: 'u-1', controller: true }]);
});

test('a disabled component is ignored, also when a reconciliation is asked for', () => {
  const all = project({ ...gardener, disabledComponents: ['APIServer', 'apiserver'] }, { forced: true });
  expect(all.get('APIServer')?.metadata.annotations).toEqual({
    'openmcp.cloud/operation': 'ignore',
    'openmcp.cloud/ignored-by': 'ManagedControlPlane',
  });
  expect(all.get('Authentication')?.metadata.annotations).toEqual({ 'openmcp.cloud/operation': 'reconcile' });
});

test('a component whose controller does not run is not made', () => {
  expect([...project(gardener, { active: ['APIServer'] }).keys()]).toEqual(['APIServer']);
});

const provider = { name: 'corp', issuerURL: 'https://issuer', clientID: 'id', usernameClaim: 'sub' };
const withProvider = (change: object): Spec => ({
  components: {},
  authentication: { identityProviders: [{ ...provider, ...change }] },
});
const withSubject = (subject: object): Spec => ({
  components: {},
  authorization: { roleBindings: [{ role: 'view', subjects: [subject as never] }] },
});

const wrong: readonly (readonly [field: string, message: string, spec: Spec])[] = [
  ['spec.apiserver.type', 'Unsupported value: "Kind"', { components: { apiServer: { type: 'Kind' as never } } }],
  [
    'spec.authentication.identityProviders[1].name',
    'Duplicate value: "corp"',
    { components: {}, authentication: { identityProviders: [provider, provider] } },
  ],
  ['spec.authentication.identityProviders[0].name', 'must be 1 to 63 lower-case letters', withProvider({ name: 'A' })],
  ['spec.authentication.identityProviders[0].issuerURL', 'Required value', withProvider({ issuerURL: '' })],
  ['spec.authentication.identityProviders[0].clientID', 'Required value', withProvider({ clientID: '' })],
  ...['oidc-issuer-url', 'oidc-client-id', 'oidc-client-secret'].map(
    (flag) =>
      [
        `spec.authentication.identityProviders[0].clientConfig.extraConfig[${flag}]`,
        `Forbidden: ${flag} is a reserved key`,
        withProvider({ clientConfig: { extraConfig: { [flag]: { value: 'x' } } } }),
      ] as const,
  ),
  [
    'spec.authorization.roleBindings[0].role',
    'Unsupported value: "root"',
    { components: {}, authorization: { roleBindings: [{ role: 'root' as never, subjects: [] }] } },
  ],
  ['spec.authorization.roleBindings[0].subjects[0].name', 'Required value', withSubject({ kind: 'User', name: '' })],
  [
    'spec.authorization.roleBindings[0].subjects[0].kind',
    'Unsupported value: "Robot"',
    withSubject({ kind: 'Robot', name: 'x' }),
  ],
  [
    'spec.authorization.roleBindings[0].subjects[0].apiGroup',
    'Unsupported value: "other"',
    withSubject({ kind: 'Group', name: 'x', apiGroup: 'other' }),
  ],
  [
    'spec.authorization.roleBindings[0].subjects[0].namespace',
    'Required value',
    withSubject({ kind: 'ServiceAccount', name: 'x' }),
  ],
];

test.each(wrong)('%s that is wrong stops the whole projection: %s', (field, message, spec) => {
  expect(() => project({ ...spec, components: { ...gardener.components, ...spec.components } })).toThrow(
    `${field}: ${message}`,
  );
});

test('the architecture is the default, or what a label of the ManagedControlPlane asks for', () => {
  const label = 'apiserver.architecture.openmcp.cloud/version';
  const version = (facts: Facts) =>
    project(gardener, facts).get('APIServer')?.metadata.labels?.['architecture.openmcp.cloud/version'];
  const open = { APIServer: { version: 'v1', allowOverride: true } } as const;
  expect(version({ architectures: { APIServer: { version: 'v2', allowOverride: false } } })).toBe('v2');
  expect(version({ architectures: open, labels: { [label]: 'v2' } })).toBe('v2');
  expect(() => version({ architectures: open, labels: { [label]: 'v3' } })).toThrow(
    "architecture version 'v3' is not allowed for component 'APIServer'",
  );
  expect(() => version({ labels: { [label]: 'v2' } })).toThrow(
    `architecture version override is not allowed for component 'APIServer', remove the '${label}' label`,
  );
});
