import { readFileSync } from 'node:fs';
import {
  AnyFields,
  type FieldProblem,
  hours,
  parseDuration,
  type Static,
  toStructuralSchema,
  type TSchema,
  Type,
  validateValue,
} from '@slipway/kube';
import { parse } from 'yaml';

import type { GardenerConfig } from '../api-server/providers/gardener/shoot.ts';
import { type HostedSettings, usualSettings } from '../api-server/providers/hosted/settings.ts';
import { mostMembers } from '../api-server/providers/hosted/certificates.ts';
import { identityProvider, subject } from '../api/shared.ts';
import type { AuthenticationConfig, IdentityProvider } from '../authentication/identity-providers.ts';
import { type AuthorizationConfig, defaultAuthorization, type RoleConfig } from '../authorization/config.ts';
import type { Architectures } from './architectures.ts';
import { SettingsError } from './settings-error.ts';

const provider = Type.Object({
  ...Type.Partial(identityProvider).properties,
  issuerURL: Type.String(),
  clientID: Type.Optional(Type.String()),
});

const authenticationFile = Type.Object({
  systemIdentityProvider: Type.Optional(provider),
  crateIdentityProvider: Type.Optional(provider),
});

const words = Type.Array(Type.String());
const scope = Type.Object({
  labels: Type.Optional(Type.Record(Type.String(), Type.String())),
  clusterRoleSelectors: Type.Optional(
    Type.Array(Type.Object({ matchLabels: Type.Record(Type.String(), Type.String()) })),
  ),
  rules: Type.Array(
    Type.Object({ apiGroups: words, resources: words, verbs: words, resourceNames: Type.Optional(words) }),
  ),
});
const role = Type.Object({
  additionalSubjects: Type.Optional(Type.Array(subject)),
  namespaceScoped: Type.Optional(scope),
  clusterScoped: Type.Optional(scope),
});

const authorizationFile = Type.Object({
  admin: Type.Optional(role),
  view: Type.Optional(role),
  protectedNamespaces: Type.Optional(
    Type.Array(
      Type.Object({
        exact: Type.Optional(Type.String()),
        prefix: Type.Optional(Type.String()),
        postfix: Type.Optional(Type.String()),
        pattern: Type.Optional(Type.String()),
      }),
    ),
  ),
  clusterAdmin: Type.Optional(Type.Object({ activeDuration: Type.Optional(Type.String()) })),
});

/** Reads the identity providers of the landscape. Names and claims nobody gives are the usual ones. */
export function readAuthenticationConfig(file: string): AuthenticationConfig {
  const { systemIdentityProvider: system, crateIdentityProvider: crate } = read(file, authenticationFile);
  const config: { -readonly [K in keyof AuthenticationConfig]: AuthenticationConfig[K] } = {};
  if (system) {
    if (!system.clientID)
      throw new SettingsError(file, [{ field: 'systemIdentityProvider.clientID', message: 'Required value' }]);
    const usual = { name: 'openmcp', usernameClaim: 'email', groupsClaim: 'groups' };
    config.systemIdentityProvider = { ...usual, ...system } as IdentityProvider;
  }
  if (crate)
    config.crateIdentityProvider = {
      name: 'crate',
      clientID: 'mcp',
      usernameClaim: 'sub',
      ...crate,
    } as IdentityProvider;
  return config;
}

export interface AuthorizationSettings {
  readonly config: AuthorizationConfig;
  /** How long a ClusterAdmin is active, in milliseconds; undefined where the file says nothing. */
  readonly activeMs?: number;
}

/** Reads what `admin` and `view` mean on this landscape. */
export function readAuthorizationConfig(file: string): AuthorizationSettings {
  const { admin, view, protectedNamespaces, clusterAdmin } = read(file, authorizationFile);
  const guarded = protectedNamespaces?.map((rule, index) => {
    const [only, ...more] = Object.entries(rule);
    if (only === undefined || more.length > 0) {
      const field = `protectedNamespaces[${index}]`;
      throw new SettingsError(file, [{ field, message: 'give exactly one of exact, prefix, postfix, pattern' }]);
    }
    if (rule.pattern !== undefined) checkPattern(file, index, rule.pattern);
    return Object.fromEntries([only]) as AuthorizationConfig['protectedNamespaces'][number];
  });
  const config = {
    admin: merged(defaultAuthorization.admin, admin),
    view: merged(defaultAuthorization.view, view),
    protectedNamespaces: guarded ?? defaultAuthorization.protectedNamespaces,
  };
  const duration = clusterAdmin?.activeDuration;
  return duration === undefined
    ? { config }
    : { config, activeMs: durationOf(file, 'clusterAdmin.activeDuration', duration) };
}

const architecture = Type.Object({
  version: Type.Unsafe<'v1' | 'v2'>({ type: 'string', enum: ['v1', 'v2'] }),
  allowOverride: Type.Optional(Type.Boolean()),
});
const architectureFile = Type.Object({
  architecture: Type.Object({
    apiServer: Type.Optional(architecture),
    landscaper: Type.Optional(architecture),
  }),
});

/** Reads for which architecture components are made. */
export function readArchitectureConfig(file: string): Architectures {
  const { apiServer, landscaper } = read(file, architectureFile).architecture;
  return {
    ...(apiServer ? { APIServer: { allowOverride: false, ...apiServer } } : {}),
    ...(landscaper ? { Landscaper: { allowOverride: false, ...landscaper } } : {}),
  };
}

const gardenerFile = Type.Object({
  kubeconfig: Type.String(),
  project: Type.String(),
  projectNamespace: Type.String(),
  cloudProfile: Type.String(),
  providerType: Type.String(),
  defaultRegion: Type.String(),
  shootTemplate: Type.Optional(AnyFields()),
});

/** Reads where shoots are made, and the kubeconfig file of their garden. */
export function readGardenerConfig(file: string): { kubeconfig: string; config: GardenerConfig } {
  const { kubeconfig, ...config } = read(file, gardenerFile);
  return { kubeconfig, config: config as GardenerConfig };
}

const hostedFile = Type.Object({
  version: Type.String({ pattern: String.raw`^[0-9]+\.[0-9]+\.[0-9]+$` }),
  images: Type.Optional(
    Type.Object({
      apiServer: Type.Optional(Type.String()),
      controllerManager: Type.Optional(Type.String()),
      etcd: Type.Optional(Type.String()),
    }),
  ),
  etcd: Type.Optional(
    Type.Object({
      members: Type.Optional(Type.Integer({ minimum: 1, maximum: mostMembers })),
      storage: Type.Optional(Type.String()),
      storageClassName: Type.Optional(Type.String()),
    }),
  ),
  apiServer: Type.Optional(
    Type.Object({
      replicas: Type.Optional(Type.Integer({ minimum: 1 })),
      extraArgs: Type.Optional(Type.Array(Type.String({ pattern: '^--' }))),
    }),
  ),
  service: Type.Optional(
    Type.Object({
      type: Type.Optional(
        Type.Union([Type.Literal('ClusterIP'), Type.Literal('NodePort'), Type.Literal('LoadBalancer')]),
      ),
      annotations: Type.Optional(Type.Record(Type.String(), Type.String())),
      externalHost: Type.Optional(Type.String()),
      externalPort: Type.Optional(Type.Integer({ minimum: 1, maximum: 65_535 })),
    }),
  ),
  serviceAddressRange: Type.Optional(Type.String({ pattern: String.raw`^[0-9]+(\.[0-9]+){3}/[0-9]+$` })),
  certificateLife: Type.Optional(Type.String()),
  authorityLife: Type.Optional(Type.String()),
});

/** Reads what hosted control planes look like. */
export function readHostedConfig(file: string): HostedSettings {
  const given = read(file, hostedFile);
  const life = (field: 'certificateLife' | 'authorityLife', usualMs: number): number =>
    given[field] === undefined ? usualMs : durationOf(file, field, given[field]);
  const settings: HostedSettings = {
    ...usualSettings,
    version: given.version,
    images: { ...usualSettings.images, ...given.images },
    etcd: { ...usualSettings.etcd, ...given.etcd },
    apiServer: { ...usualSettings.apiServer, ...given.apiServer },
    service: { ...usualSettings.service, ...given.service },
    serviceAddressRange: given.serviceAddressRange ?? usualSettings.serviceAddressRange,
    certificateLifeMs: life('certificateLife', usualSettings.certificateLifeMs),
    authorityLifeMs: life('authorityLife', usualSettings.authorityLifeMs),
  };
  const problems: FieldProblem[] = [];
  if (settings.etcd.members % 2 === 0)
    problems.push({ field: 'etcd.members', message: 'give an odd number: an even one tolerates no more failures' });
  if (settings.service.type === 'NodePort' && settings.service.externalHost === undefined)
    problems.push({ field: 'service.externalHost', message: 'Required value: a NodePort does not say on which node' });
  if (settings.certificateLifeMs < hours(1))
    problems.push({ field: 'certificateLife', message: 'has to be at least an hour' });
  if (settings.authorityLifeMs < 2 * settings.certificateLifeMs)
    problems.push({ field: 'authorityLife', message: 'has to be at least twice certificateLife' });
  if (problems.length > 0) throw new SettingsError(file, problems);
  return settings;
}

function merged(usual: RoleConfig, given: Static<typeof role> | undefined): RoleConfig {
  return { ...usual, ...given } as RoleConfig;
}

function durationOf(file: string, field: string, text: string): number {
  try {
    return parseDuration(text);
  } catch {
    throw new SettingsError(file, [{ field, message: `'${text}' is no duration such as 24h` }]);
  }
}

function checkPattern(file: string, index: number, pattern: string): void {
  try {
    new RegExp(pattern);
  } catch {
    const field = `protectedNamespaces[${index}].pattern`;
    throw new SettingsError(file, [{ field, message: `'${pattern}' is no regular expression` }]);
  }
}

function read<T extends TSchema>(file: string, schema: T): Static<T> {
  let document: unknown;
  try {
    document = parse(readFileSync(file, 'utf8'));
  } catch (error) {
    const message =
      (error as NodeJS.ErrnoException).code === 'ENOENT' ? 'the file does not exist' : 'the file is not YAML';
    throw new SettingsError(file, [{ field: '', message }]);
  }
  const problems: FieldProblem[] = validateValue(document, toStructuralSchema(schema, ''));
  if (problems.length > 0) throw new SettingsError(file, problems);
  return document as Static<T>;
}
