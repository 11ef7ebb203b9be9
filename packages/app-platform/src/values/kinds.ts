/** How files of the values repository and places in the values tree belong together. */
export interface FileKind {
  readonly kind: string;
  /** Where its files are, below `env/`. `*` in a folder stands for the team. */
  readonly folder: readonly string[];
  /** The only file there, without `.yaml`. Absent: every file is one of this kind. */
  readonly file?: string;
  /** Where its data is in the tree; `*` stands for the team, the name of the file follows where `file` is absent. */
  readonly location: readonly string[];
  /** Each file is an element of a list, or of a map under its name. Default: neither, the file is the place. */
  readonly items?: 'list' | 'map';
}

const setting = (kind: string, name: string): FileKind => ({
  kind,
  folder: ['settings'],
  file: name,
  location: [name],
});

const teamList = (kind: string, name: string): FileKind => ({
  kind,
  folder: ['teams', '*', name],
  location: ['teamConfig', '*', name],
  items: 'list',
});

/** Every kind of file that is part of the tree. Files elsewhere belong to their teams and are never touched. */
export const fileKinds: readonly FileKind[] = [
  { kind: 'AplApp', folder: ['apps'], location: ['apps'], items: 'map' },
  { kind: 'AplDatabase', folder: ['databases'], location: ['databases'], items: 'map' },
  setting('AplAlertSet', 'alerts'),
  setting('AplCluster', 'cluster'),
  setting('AplDns', 'dns'),
  setting('AplIngress', 'ingress'),
  setting('AplKms', 'kms'),
  setting('AplObjectStorage', 'obj'),
  setting('AplIdentityProvider', 'oidc'),
  setting('AplCapabilitySet', 'otomi'),
  setting('AplBackupCollection', 'platformBackups'),
  setting('AplSmtp', 'smtp'),
  setting('AplVersion', 'versions'),
  { kind: 'AplUser', folder: ['users'], location: ['users'], items: 'list' },
  { kind: 'AplTeamSettingSet', folder: ['teams', '*'], file: 'settings', location: ['teamConfig', '*', 'settings'] },
  { kind: 'AplTeamTool', folder: ['teams', '*'], file: 'apps', location: ['teamConfig', '*', 'apps'] },
  {
    kind: 'AplTeamPolicy',
    folder: ['teams', '*', 'policies'],
    location: ['teamConfig', '*', 'policies'],
    items: 'map',
  },
  teamList('AplTeamCodeRepo', 'codeRepos'),
  teamList('AplTeamBuild', 'builds'),
  teamList('AplTeamWorkload', 'workloads'),
  teamList('AplTeamService', 'services'),
  teamList('AplTeamProject', 'projects'),
  teamList('AplTeamNetworkControl', 'netpols'),
];

/** Folders every team has, kept by an empty file. */
export const teamFolders: readonly string[] = ['sealedsecrets', 'workloadValues'];

export const secretPrefix = 'secrets.';
export const decryptedSuffix = '.dec';
/** Whether a path is that of a secret file, or of its decrypted twin. */
export function isSecretFile(path: string): boolean {
  return path.startsWith(secretPrefix, path.lastIndexOf('/') + 1);
}

/** Decrypted twins of secret files, in Git's own patterns. */
export const decryptedPattern = `${secretPrefix}*.yaml${decryptedSuffix}`;

/** Whether a path is that of a decrypted twin. */
export function isDecrypted(path: string): boolean {
  return isSecretFile(path) && path.endsWith(`.yaml${decryptedSuffix}`);
}

/** The file a decrypted twin belongs to. */
export function encryptedOf(twin: string): string {
  return twin.slice(0, -decryptedSuffix.length);
}

export function isTeamKind({ location }: FileKind): boolean {
  return location[0] === 'teamConfig';
}
