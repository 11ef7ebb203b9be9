import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { GoProgram } from '@slipway/reference-cluster';

export type OracleName = 'age' | 'age-keygen' | 'sops' | 'helm3' | 'helm-probes' | 'helmfile';

interface Source {
  readonly name: OracleName;
  /** Folder below `go/` whose go.mod pins what is built. */
  readonly module: string;
  readonly mainPackage: string;
  /** Go module whose required version is the version of the program. */
  readonly versionOf: string;
  /** Sources of our own beside the go.mod. */
  readonly ownSources?: readonly string[];
  /** Go string variable that carries the version into the program. */
  readonly versionVariable?: string;
}

/** In build order: small and soonest needed first. */
const sources: readonly Source[] = [
  { name: 'age', module: 'age', mainPackage: 'filippo.io/age/cmd/age', versionOf: 'filippo.io/age' },
  { name: 'age-keygen', module: 'age', mainPackage: 'filippo.io/age/cmd/age-keygen', versionOf: 'filippo.io/age' },
  {
    name: 'sops',
    module: 'sops',
    mainPackage: 'github.com/getsops/sops/v3/cmd/sops',
    versionOf: 'github.com/getsops/sops/v3',
  },
  {
    name: 'helm3',
    module: 'helm3',
    mainPackage: 'helm.sh/helm/v3/cmd/helm',
    versionOf: 'helm.sh/helm/v3',
    versionVariable: 'helm.sh/helm/v3/internal/version.version',
  },
  {
    name: 'helm-probes',
    module: 'helm-probes',
    mainPackage: '.',
    versionOf: 'helm.sh/helm/v4',
    ownSources: ['main.go'],
  },
  {
    name: 'helmfile',
    module: 'helmfile',
    mainPackage: 'github.com/helmfile/helmfile',
    versionOf: 'github.com/helmfile/helmfile',
    versionVariable: 'go.szostok.io/version.version',
  },
];

const goDirectory = join(import.meta.dirname, 'go');

/** A program to build, and the name its pins give it in the cache. */
export interface Oracle extends GoProgram {
  readonly name: OracleName;
  readonly cacheKey: string;
}

/** Every oracle there is, in build order. */
export const oracles: readonly Oracle[] = sources.map((source) => {
  const goMod = readGoFile(source.module, 'go.mod');
  const version = pinnedVersion(source, goMod);
  const program: Oracle = {
    name: source.name,
    version,
    directory: join(goDirectory, source.module),
    arguments: (output) => buildArguments(source, version, output),
    cacheKey: `${source.name}-${version}-${digestOf(source, version, goMod)}`,
  };
  return program;
});

function buildArguments(source: Source, version: string, output: string): string[] {
  const flags = ['-s', '-w'];
  if (source.versionVariable) flags.push(`-X ${source.versionVariable}=${version}`);
  return [
    'build',
    '-p=2',
    '-mod=readonly',
    '-trimpath',
    '-buildvcs=false',
    `-ldflags=${flags.join(' ')}`,
    '-o',
    output,
    source.mainPackage,
  ];
}

/** The Go release is not part of it: a machine without Go must still find what was built before. */
function digestOf(source: Source, version: string, goMod: string): string {
  const hash = createHash('sha256');
  for (const file of source.ownSources ?? []) hash.update(readGoFile(source.module, file));
  return hash
    .update(`${process.platform}-${process.arch}\0`)
    .update(buildArguments(source, version, source.name).join('\0'))
    .update(goMod)
    .update(readGoFile(source.module, 'go.sum'))
    .digest('hex')
    .slice(0, 12);
}

function pinnedVersion(source: Source, goMod: string): string {
  const line = goMod.split('\n').find((candidate) => candidate.trim().startsWith(`${source.versionOf} v`));
  const version = line?.trim().split(' ')[1];
  if (version === undefined) throw new Error(`go/${source.module}/go.mod does not require ${source.versionOf}`);
  return version;
}

function readGoFile(module: string, file: string): string {
  return readFileSync(join(goDirectory, module, file), 'utf8');
}
