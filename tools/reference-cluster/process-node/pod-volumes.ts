import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Mount } from './container-root.ts';
import { publishFiles } from './published-folder.ts';
import type { Container, TokenFile, Volume } from './running-pod.ts';
import { volumeFiles, type VolumeSources } from './volume-files.ts';

export interface PodVolumesOptions extends Omit<VolumeSources, 'token'> {
  /** Folder of the pod's volumes. */
  folder: string;
  /** Folder of what outlives the pod: one for each claim. */
  claimsFolder: string;
  /** Asks for a token of the pod's ServiceAccount. */
  requestToken(request: TokenFile): Promise<{ token: string; expiresAt: Date }>;
}

/** The volumes of a pod as folders of this machine. */
export class PodVolumes {
  readonly #options: PodVolumesOptions;
  readonly #tokens = new Map<string, { token: string; renewAt: number }>();
  #syncing: Promise<void> = Promise.resolve();
  #closed = false;

  constructor(options: PodVolumesOptions) {
    this.#options = options;
  }

  /** Writes what is not there or has changed, one call after another. Throws when something a volume needs is not there. */
  sync(): Promise<void> {
    const sync = this.#syncing.catch(() => {}).then(() => (this.#closed ? undefined : this.#syncNow()));
    this.#syncing = sync;
    return sync;
  }

  /** Once it resolves nothing is written any more, and the folder can go. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#syncing.catch(() => {});
  }

  async #syncNow(): Promise<void> {
    const sources = { ...this.#options, token: (request: TokenFile) => this.#token(request) };
    for (const volume of this.#options.pod.spec.volumes ?? []) {
      const files = await volumeFiles(volume, sources);
      if (files) await publishFiles(this.#folderOf(volume), files);
      else if (!volume.hostPath || volume.hostPath.type === 'DirectoryOrCreate') {
        await mkdir(this.#folderOf(volume), { recursive: true });
      }
    }
  }

  mountsOf({ name, volumeMounts = [] }: Container): Mount[] {
    return volumeMounts.map(({ name: volumeName, mountPath, subPath, readOnly = false }) => {
      const volume = this.#options.pod.spec.volumes?.find((one) => one.name === volumeName);
      if (!volume) throw new Error(`the container ${name} mounts ${volumeName}, which is no volume of its pod`);
      const folder = this.#folderOf(volume);
      return { source: subPath ? join(folder, subPath) : folder, target: mountPath, readOnly };
    });
  }

  #folderOf({ name, hostPath, persistentVolumeClaim }: Volume): string {
    const { folder, claimsFolder, pod } = this.#options;
    if (hostPath) return hostPath.path;
    if (!persistentVolumeClaim) return join(folder, name);
    return join(claimsFolder, `${pod.metadata.namespace}_${persistentVolumeClaim.claimName}`);
  }

  /** Renewed when four fifths of its life are over, as a kubelet does. */
  async #token(request: TokenFile): Promise<string> {
    const known = this.#tokens.get(request.path);
    const now = Date.now();
    if (known && now < known.renewAt) return known.token;
    const { token, expiresAt } = await this.#options.requestToken(request);
    this.#tokens.set(request.path, { token, renewAt: now + (expiresAt.getTime() - now) * 0.8 });
    return token;
  }
}
