import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';

import { defaultAuthorization } from '../authorization/config.ts';
import { usualSettings } from '../api-server/providers/hosted/settings.ts';
import { SettingsError } from './settings-error.ts';
import {
  readArchitectureConfig,
  readAuthenticationConfig,
  readAuthorizationConfig,
  readGardenerConfig,
  readHostedConfig,
} from './settings-files.ts';

const folder = mkdtempSync(join(tmpdir(), 'slipway-settings-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let files = 0;
function file(text: string): string {
  const path = join(folder, `${(files += 1)}.yaml`);
  writeFileSync(path, text);
  return path;
}

describe('identity providers of the landscape', () => {
  test('have the usual names and claims where the file gives none', () => {
    const text =
      'systemIdentityProvider: {issuerURL: https://a, clientID: x}\ncrateIdentityProvider: {issuerURL: https://b}\n';
    expect(readAuthenticationConfig(file(text))).toEqual({
      systemIdentityProvider: {
        name: 'openmcp',
        issuerURL: 'https://a',
        clientID: 'x',
        usernameClaim: 'email',
        groupsClaim: 'groups',
      },
      crateIdentityProvider: { name: 'crate', issuerURL: 'https://b', clientID: 'mcp', usernameClaim: 'sub' },
    });
  });

  test('that of the onboarding cluster is not needed', () => {
    const text = 'systemIdentityProvider: {issuerURL: https://a, clientID: x, name: ours}\n';
    expect(Object.keys(readAuthenticationConfig(file(text)))).toEqual(['systemIdentityProvider']);
  });
});

describe('what admin and view mean', () => {
  test('is the usual where the file says nothing', () => {
    expect(readAuthorizationConfig(file('{}'))).toEqual({ config: defaultAuthorization });
  });

  test('is taken from the file scope by scope', () => {
    const text = `
admin:
  additionalSubjects: [{kind: Group, name: 'corp:operators'}]
  clusterScoped: {rules: [{apiGroups: [''], resources: [nodes], verbs: [get]}]}
protectedNamespaces: [{exact: vault}, {pattern: '^team-.*-prod$'}]
clusterAdmin: {activeDuration: 90m}
`;
    const { config, activeMs } = readAuthorizationConfig(file(text));
    expect(config.admin.additionalSubjects).toEqual([{ kind: 'Group', name: 'corp:operators' }]);
    expect(config.admin.clusterScoped.rules).toEqual([{ apiGroups: [''], resources: ['nodes'], verbs: ['get'] }]);
    expect(config.admin.namespaceScoped).toEqual(defaultAuthorization.admin.namespaceScoped);
    expect(config.view).toEqual(defaultAuthorization.view);
    expect(config.protectedNamespaces).toEqual([{ exact: 'vault' }, { pattern: '^team-.*-prod$' }]);
    expect(activeMs).toBe(5_400_000);
  });
});

test('architectures are the first unless the file says otherwise, and are not chosen by customers unless it allows that', () => {
  const text = 'architecture: {landscaper: {version: v2}, apiServer: {version: v1, allowOverride: true}}\n';
  expect(readArchitectureConfig(file(text))).toEqual({
    APIServer: { version: 'v1', allowOverride: true },
    Landscaper: { version: 'v2', allowOverride: false },
  });
  expect(readArchitectureConfig(file('architecture: {}'))).toEqual({});
});

const refused: readonly (readonly [what: string, read: (path: string) => unknown, text: string, says: string])[] = [
  ['no issuer', readAuthenticationConfig, 'systemIdentityProvider: {clientID: x}', 'systemIdentityProvider.issuerURL'],
  [
    'no client of the system',
    readAuthenticationConfig,
    'systemIdentityProvider: {issuerURL: https://a}',
    'systemIdentityProvider.clientID',
  ],
  [
    'a name in capitals',
    readAuthenticationConfig,
    'crateIdentityProvider: {issuerURL: u, name: A}',
    'crateIdentityProvider.name',
  ],
  ['no verbs', readAuthorizationConfig, 'view: {clusterScoped: {rules: [{apiGroups: [], resources: []}]}}', 'verbs'],
  [
    'two rules in one',
    readAuthorizationConfig,
    'protectedNamespaces: [{exact: a, prefix: b}]',
    'protectedNamespaces[0]',
  ],
  ['no pattern', readAuthorizationConfig, "protectedNamespaces: [{pattern: '('}]", 'protectedNamespaces[0].pattern'],
  ['no duration', readAuthorizationConfig, 'clusterAdmin: {activeDuration: soon}', 'clusterAdmin.activeDuration'],
  [
    'a third architecture',
    readArchitectureConfig,
    'architecture: {landscaper: {version: v3}}',
    'architecture.landscaper.version',
  ],
  ['no project', readGardenerConfig, 'kubeconfig: k', 'project'],
  ['something that is no mapping', readAuthenticationConfig, '[1]', ''],
  ['something that is no YAML', readAuthenticationConfig, 'a: [', 'the file is not YAML'],
];

test.each(refused)('a file with %s is refused, with the field by name', (_what, read, text, says) => {
  const path = file(text);
  const refusal = (() => {
    try {
      return read(path);
    } catch (error) {
      return error;
    }
  })() as Error;
  expect(refusal).toBeInstanceOf(SettingsError);
  expect(refusal.message).toContain(path);
  expect(refusal.message).toContain(says);
});

test('a file that is not there is said to be missing', () => {
  expect(() => readAuthorizationConfig(join(folder, 'nowhere.yaml'))).toThrow(/nowhere\.yaml.*does not exist/s);
});

describe('hosted control planes', () => {
  test('need a version; the rest is as usual', () => {
    expect(readHostedConfig(file('version: 1.34.2\n'))).toEqual({ ...usualSettings, version: '1.34.2' });
  });

  test('can be told everything', () => {
    const text = `
version: 1.34.2
images: { etcd: mirror.example/etcd:3 }
etcd: { members: 3, storage: 20Gi, storageClassName: fast }
apiServer: { replicas: 2, extraArgs: [--v=2] }
service: { type: LoadBalancer, annotations: { a: b }, externalHost: '{name}.example.com', externalPort: 443 }
serviceAddressRange: 10.0.0.0/16
certificateLife: 720h
authorityLife: 8760h
`;
    expect(readHostedConfig(file(text))).toEqual({
      version: '1.34.2',
      images: { ...usualSettings.images, etcd: 'mirror.example/etcd:3' },
      etcd: { members: 3, storage: '20Gi', storageClassName: 'fast' },
      apiServer: { replicas: 2, extraArgs: ['--v=2'] },
      service: {
        type: 'LoadBalancer',
        annotations: { a: 'b' },
        externalHost: '{name}.example.com',
        externalPort: 443,
      },
      serviceAddressRange: '10.0.0.0/16',
      certificateLifeMs: 720 * 3_600_000,
      authorityLifeMs: 8760 * 3_600_000,
    });
  });

  test.each([
    ['no version', 'etcd: {members: 1}', /version: Required value/],
    ['a version that is none', 'version: latest', /version/],
    ['an even number of members', 'version: 1.34.2\netcd: {members: 2}', /etcd\.members: give an odd number/],
    ['too many members', 'version: 1.34.2\netcd: {members: 9}', /etcd\.members/],
    ['an unknown Service', 'version: 1.34.2\nservice: {type: Ingress}', /service\.type/],
    [
      'a NodePort without a host',
      'version: 1.34.2\nservice: {type: NodePort}',
      /service\.externalHost: Required value/,
    ],
    ['an argument that is none', 'version: 1.34.2\napiServer: {extraArgs: [v=2]}', /apiServer\.extraArgs\[0\]/],
    ['a life that is none', 'version: 1.34.2\ncertificateLife: long', /certificateLife: 'long' is no duration/],
    [
      'a life that is over at once',
      'version: 1.34.2\ncertificateLife: -1h',
      /certificateLife: has to be at least an hour/,
    ],
    [
      'an authority that ends first',
      'version: 1.34.2\nauthorityLife: 9000h',
      /authorityLife: has to be at least twice/,
    ],
  ])('%s is refused with the field', (_what, text, says) => {
    expect(() => readHostedConfig(file(text))).toThrow(SettingsError);
    expect(() => readHostedConfig(file(text))).toThrow(says);
  });
});
