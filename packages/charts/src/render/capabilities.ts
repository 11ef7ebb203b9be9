import { ChartError } from '../chart/chart-error.ts';
import { GoObject, strings, typed, type GoFunction, type Value } from '../go/values.ts';
import { fn } from '../template/signature.ts';

/** What the cluster can do, as far as templates may ask. */
export interface CapabilitiesOptions {
  /** Default: the version Helm's own libraries speak for. */
  kubeVersion?: string;
  /** `group/version` and `group/version/Kind`. Default: what those libraries know. */
  apiVersions?: readonly string[];
  /** API versions besides those. */
  extraApiVersions?: readonly string[];
  /** What `.Capabilities.HelmVersion.Version` says. */
  helmVersion?: string;
}

export const defaultKubeVersion = 'v1.37.0';

/** The groups and versions client-go of that release knows, in its order of preference. */
const defaultApiVersions: readonly string[] = [
  'v1',
  ...versions('admissionregistration.k8s.io', 'v1', 'v1alpha1', 'v1beta1'),
  ...versions('internal.apiserver.k8s.io', 'v1alpha1'),
  ...versions('apps', 'v1', 'v1beta1', 'v1beta2'),
  ...versions('authentication.k8s.io', 'v1', 'v1alpha1', 'v1beta1'),
  ...versions('authorization.k8s.io', 'v1', 'v1beta1'),
  ...versions('autoscaling', 'v1', 'v2'),
  ...versions('batch', 'v1', 'v1beta1'),
  ...versions('certificates.k8s.io', 'v1', 'v1beta1', 'v1alpha1'),
  ...versions('coordination.k8s.io', 'v1alpha2', 'v1beta1', 'v1'),
  ...versions('discovery.k8s.io', 'v1', 'v1beta1'),
  ...versions('events.k8s.io', 'v1', 'v1beta1'),
  ...versions('extensions', 'v1beta1'),
  ...versions('flowcontrol.apiserver.k8s.io', 'v1', 'v1beta1', 'v1beta2', 'v1beta3'),
  ...versions('lifecycle.k8s.io', 'v1alpha1'),
  ...versions('networking.k8s.io', 'v1', 'v1beta1'),
  ...versions('node.k8s.io', 'v1', 'v1alpha1', 'v1beta1'),
  ...versions('policy', 'v1', 'v1beta1'),
  ...versions('rbac.authorization.k8s.io', 'v1', 'v1beta1', 'v1alpha1'),
  ...versions('resource.k8s.io', 'v1', 'v1beta2', 'v1beta1', 'v1alpha3'),
  ...versions('scheduling.k8s.io', 'v1alpha3', 'v1beta1', 'v1'),
  ...versions('storage.k8s.io', 'v1beta1', 'v1', 'v1alpha1'),
  ...versions('storagemigration.k8s.io', 'v1', 'v1beta1'),
  ...versions('apiextensions.k8s.io', 'v1beta1', 'v1'),
];

function versions(group: string, ...names: string[]): string[] {
  return names.map((name) => `${group}/${name}`);
}

class KubeVersion extends GoObject {
  override readonly goType = 'common.KubeVersion';
  readonly version: string;
  readonly normalised: string;
  readonly #major: string;
  readonly #minor: string;

  constructor(version: string) {
    super();
    const match = /^v?(\d+)\.(\d+)(?:\.(\d+))?/.exec(version);
    if (!match)
      throw new ChartError(
        'InvalidValues',
        `invalid kube version '${version}': could not parse ${JSON.stringify(version)} as version`,
        { hint: 'write it like v1.36.0' },
      );
    this.version = version.startsWith('v') ? version : `v${version}`;
    this.#major = match[1]!;
    this.#minor = match[2]!;
    this.normalised = `v${match[1]}.${match[2]}.${match[3] ?? '0'}`;
  }

  override text(): string {
    return `{${this.version} ${this.normalised} ${this.#major} ${this.#minor}}`;
  }

  override printed(): string {
    return this.normalised;
  }

  override field(name: string): Value | undefined {
    return { Version: this.version, Major: this.#major, Minor: this.#minor }[name];
  }

  override method(name: string): GoFunction<unknown> | undefined {
    if (name === 'String') return fn([], () => this.normalised);
    return name === 'GitVersion' ? fn([], () => this.version) : undefined;
  }

  override plain(): Value {
    return new Map<string, Value>([
      ['Version', this.version],
      ['Major', this.#major],
      ['Minor', this.#minor],
    ]);
  }
}

class ApiVersions extends GoObject {
  override readonly goType = 'common.VersionSet';
  override readonly goKind = 'slice';
  readonly #versions: readonly string[];
  readonly #known: ReadonlySet<string>;

  constructor(versions: readonly string[]) {
    super();
    this.#versions = versions;
    this.#known = new Set(versions);
  }

  override method(name: string): GoFunction<unknown> | undefined {
    return name === 'Has' ? fn(['string'], (version) => this.#known.has(version)) : undefined;
  }

  override text(): string {
    return `[${this.#versions.join(' ')}]`;
  }

  override contents(): Value[] {
    return typed([...this.#versions], 'common.VersionSet');
  }

  override plain(): Value {
    return strings([...this.#versions]);
  }
}

class BuildInfo extends GoObject {
  override readonly goType = 'version.BuildInfo';
  readonly #version: string;

  constructor(version: string) {
    super();
    this.#version = version;
  }

  override field(name: string): Value | undefined {
    const fields: Record<string, string> = {
      Version: this.#version,
      GitCommit: '',
      GitTreeState: '',
      GoVersion: '',
      KubeClientVersion: defaultKubeVersion.replace(/\.0$/, ''),
    };
    return fields[name];
  }

  override plain(): Value {
    return new Map<string, Value>([
      ['version', this.#version],
      ['kube_client_version', this.field('KubeClientVersion')],
    ]);
  }

  override text(): string {
    return `{${this.#version}    ${defaultKubeVersion.replace(/\.0$/, '')}}`;
  }
}

/** `.Capabilities`. */
export class Capabilities extends GoObject {
  override readonly goType = '*common.Capabilities';
  override readonly goKind = 'ptr';
  readonly kubeVersion: KubeVersion;
  readonly #apiVersions: ApiVersions;
  readonly #helmVersion: BuildInfo;

  constructor(options: CapabilitiesOptions = {}) {
    super();
    this.kubeVersion = new KubeVersion(options.kubeVersion ?? defaultKubeVersion);
    this.#apiVersions = new ApiVersions([
      ...(options.apiVersions ?? defaultApiVersions),
      ...(options.extraApiVersions ?? []),
    ]);
    this.#helmVersion = new BuildInfo(options.helmVersion ?? 'v4.3.1');
  }

  override field(name: string): Value | undefined {
    return { KubeVersion: this.kubeVersion, APIVersions: this.#apiVersions, HelmVersion: this.#helmVersion }[name];
  }

  override plain(): Value {
    const names = ['KubeVersion', 'APIVersions', 'HelmVersion'];
    return new Map<string, Value>(names.map((name) => [name, this.field(name)]));
  }

  override text(): string {
    return `&{${this.kubeVersion.text()} ${this.#apiVersions.text()} ${this.#helmVersion.text()}}`;
  }
}
