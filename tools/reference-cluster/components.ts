import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A binary of the reference cluster, or a client that is tried against it. */
export type ComponentName = 'etcd' | 'kube-apiserver' | 'kubectl' | 'kube-controller-manager' | 'helm';

export interface Component {
  readonly name: ComponentName;
  /** Folder below `go/` whose go.mod pins what is built. */
  readonly module: 'etcd' | 'kubernetes' | 'helm';
  /** Go import path of the main package. */
  readonly mainPackage: string;
  /** Go module whose required version is the version of the binary. */
  readonly versionOf: string;
  /** Go string variables that carry the version into the binary, as `-X` takes them. */
  versionVariables(version: string): Record<string, string>;
}

const kubernetesVersionPackages = ['k8s.io/component-base/version', 'k8s.io/client-go/pkg/version'];

function kubernetes(name: ComponentName): Component {
  return {
    name,
    module: 'kubernetes',
    mainPackage: `k8s.io/kubernetes/cmd/${name}`,
    versionOf: 'k8s.io/kubernetes',
    versionVariables(version) {
      const [major = '', minor = ''] = version.replace(/^v/, '').split('.');
      return Object.fromEntries(
        kubernetesVersionPackages.flatMap((path) => [
          [`${path}.gitVersion`, version],
          [`${path}.gitMajor`, major],
          [`${path}.gitMinor`, minor],
          [`${path}.gitTreeState`, 'clean'],
        ]),
      );
    },
  };
}

/** In build order: what starts a cluster comes first, so that a waiting test run can begin while the rest still builds. */
export const components: readonly Component[] = [
  {
    name: 'etcd',
    module: 'etcd',
    mainPackage: 'go.etcd.io/etcd/server/v3',
    versionOf: 'go.etcd.io/etcd/server/v3',
    versionVariables: () => ({}),
  },
  kubernetes('kube-apiserver'),
  kubernetes('kubectl'),
  kubernetes('kube-controller-manager'),
  {
    name: 'helm',
    module: 'helm',
    mainPackage: 'helm.sh/helm/v4/cmd/helm',
    versionOf: 'helm.sh/helm/v4',
    versionVariables: (version) => ({ 'helm.sh/helm/v4/internal/version.version': version }),
  },
];

export const goDirectory = join(import.meta.dirname, 'go');

/** The version that the component's go.mod requires, e.g. `v1.36.3`. */
export function pinnedVersion(component: Component, goModText = readGoFile(component.module, 'go.mod')): string {
  const escaped = component.versionOf.replaceAll('.', String.raw`\.`);
  const match = new RegExp(String.raw`^(?:require\s+|\s+)${escaped}\s+(v\S+)`, 'm').exec(goModText);
  if (!match?.[1]) throw new Error(`go/${component.module}/go.mod does not require ${component.versionOf}`);
  return match[1];
}

/** Arguments of `go` that build the component into `output`. */
export function goBuildArguments(component: Component, output: string): string[] {
  const variables = Object.entries(component.versionVariables(pinnedVersion(component)));
  const ldflags = ['-s', '-w', ...variables.map(([variable, value]) => `-X ${variable}=${value}`)].join(' ');
  return [
    'build',
    '-p=2',
    '-mod=readonly',
    '-trimpath',
    '-buildvcs=false',
    `-ldflags=${ldflags}`,
    '-o',
    output,
    component.mainPackage,
  ];
}

/**
 * Names one set of binaries: it changes when a pin, a checksum, a flag or the platform changes. The Go release is not
 * part of it, because a machine without Go must still find what was built before.
 */
export function cacheKey(platform = `${process.platform}-${process.arch}`): string {
  const hash = createHash('sha256').update(platform);
  for (const component of components) {
    hash.update('\0').update(goBuildArguments(component, component.name).join('\0'));
  }
  for (const module of new Set(components.map((component) => component.module))) {
    for (const file of ['go.mod', 'go.sum'] as const) hash.update('\0').update(readGoFile(module, file));
  }
  return `${pinnedVersion(kubernetes('kube-apiserver'))}-${hash.digest('hex').slice(0, 12)}`;
}

function readGoFile(module: Component['module'], file: 'go.mod' | 'go.sum'): string {
  return readFileSync(join(goDirectory, module, file), 'utf8');
}
