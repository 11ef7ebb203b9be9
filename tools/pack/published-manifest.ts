/** The parts of a `package.json` that matter to publishing; all others travel as they are. */
export interface PackageManifest {
  readonly name: string;
  readonly version: string;
  readonly private?: boolean;
  readonly bin?: Readonly<Record<string, string>>;
  /** What travels besides the built modules. */
  readonly files?: readonly string[];
  readonly exports?: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
  readonly engines?: Readonly<Record<string, string>>;
  readonly slipway?: {
    readonly folders?: readonly string[];
    readonly commands?: Readonly<Record<string, { readonly summary: string; readonly module: string }>>;
  };
  readonly [other: string]: unknown;
}

/** What holds for all packages alike, from the `package.json` of the repository. */
export interface Release {
  readonly version: string;
  readonly repository?: { readonly type: string; readonly url: string };
}

/** Where a package lies in the repository, and what travels besides its built modules. */
export interface Travelling {
  readonly folder: string;
  readonly assets: readonly string[];
}

/** The oldest Node that everything published runs on. `undici` sets it. */
export const publishedEngines = '>=22.19.0';

/** The built file of a source: `./src/a.ts` is built to `./dist/a.js`. Other files stay where they are. */
export function builtFile(source: string): string {
  return source.replace(/^\.\/src\/(.*)\.ts$/, './dist/$1.js');
}

/** The modules others may enter a package by, relative to it: exports, programs, commands. */
export function entryModules({ exports = {}, bin = {}, slipway }: PackageManifest): string[] {
  const commands = Object.values(slipway?.commands ?? {}).map(({ module }) => module);
  const all = [...Object.values(exports), ...Object.values(bin), ...commands];
  return [...new Set(all)].filter((file) => builtFile(file) !== file);
}

/** The `package.json` that is published for one in the repository. */
export function publishedManifest(source: PackageManifest, release: Release, travelling: Travelling): PackageManifest {
  const { private: _private, devDependencies: _development, exports, bin, slipway, ...rest } = source;
  inStep(source, release);
  return {
    ...rest,
    ...(bin ? { bin: mapValues(bin, builtFile) } : {}),
    ...(exports ? { exports: { ...mapValues(exports, builtFile), './package.json': './package.json' } } : {}),
    ...(slipway ? { slipway: publishedSlipway(slipway) } : {}),
    ...(release.repository ? { repository: { ...release.repository, directory: travelling.folder } } : {}),
    files: [...(exports ? ['dist'] : []), ...travelling.assets, 'NOTICE'],
    engines: { node: publishedEngines },
    publishConfig: { access: 'public' },
  };
}

function publishedSlipway(slipway: NonNullable<PackageManifest['slipway']>): NonNullable<PackageManifest['slipway']> {
  const { commands, ...rest } = slipway;
  if (!commands) return rest;
  return { ...rest, commands: mapValues(commands, (command) => ({ ...command, module: builtFile(command.module) })) };
}

/** Packages of one release fit only each other. */
function inStep({ name, version, dependencies, peerDependencies }: PackageManifest, release: Release): void {
  const asked = Object.entries({ ...dependencies, ...peerDependencies }).filter(([other]) => isOwn(other));
  for (const [what, found] of [[name, version] as const, ...asked]) {
    if (found !== release.version)
      throw new Error(`${name}: ${what} has version ${found}, and this release is ${release.version}`);
  }
}

/** Whether a package is one of the release. */
export function isOwn(name: string): boolean {
  return name === 'slipway' || name.startsWith('@slipway/');
}

function mapValues<A, B>(record: Readonly<Record<string, A>>, change: (value: A) => B): Record<string, B> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, change(value)]));
}
