/** What a platform asks of helmfile. Paths are below the platform's root. */
export interface Helmfile {
  /** Every release there is, those that are not to be installed included. */
  list(options?: HelmfileSelection): Promise<readonly PlatformRelease[]>;
  /** The merged values of every release that is to be installed, as YAML, by `namespace-name`. */
  writeValues(options?: HelmfileSelection): Promise<ReadonlyMap<string, string>>;
  /** The manifests of the releases, as one YAML stream. */
  template(options: HelmfileSelection): Promise<string>;
  /** Installs, upgrades or removes releases until they are as the files say. */
  sync(options: HelmfileSelection): Promise<void>;
}

export interface HelmfileSelection {
  /** Default: all releases. */
  readonly file?: string;
  /** Such as `stage=prep`; a release that fits any of them is meant. Default: all. */
  readonly selectors?: readonly string[];
  readonly signal?: AbortSignal;
}

export interface PlatformRelease {
  readonly name: string;
  readonly namespace: string;
  readonly installed: boolean;
  /** As the helmfile says it, such as `../charts/harbor`. */
  readonly chart: string;
}

/** All releases of a platform. */
export const releaseHelmfiles = 'helmfile.d';
/** What they live in. */
export const initHelmfile = 'helmfile.tpl/helmfile-init.yaml.gotmpl';
