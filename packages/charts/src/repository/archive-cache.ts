import { createHash } from 'node:crypto';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Archives by the SHA-256 of their bytes. What is found is checked again, so a damaged file is as good as none. */
export class ArchiveCache {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  async find(digest: string): Promise<Buffer | undefined> {
    if (!isDigest(digest)) return undefined;
    const data = await readFile(this.#path(digest)).catch(() => undefined);
    return data && sha256(data) === digest ? data : undefined;
  }

  /** Keeps an archive. A cache that cannot be written costs time, not the work. */
  async keep(digest: string, data: Uint8Array): Promise<void> {
    const path = this.#path(digest);
    // Two processes may keep the same archive: each writes a file of its own, the rename is one step.
    const own = `${path}.${process.pid}`;
    try {
      await mkdir(this.#folder, { recursive: true, mode: 0o700 });
      await writeFile(own, data, { mode: 0o600 });
      await rename(own, path);
    } catch {
      await rm(own, { force: true }).catch(() => undefined);
    }
  }

  #path(digest: string): string {
    return join(this.#folder, `${digest}.tgz`);
  }
}

export function sha256(data: Uint8Array): string {
  return createHash('sha256').update(data).digest('hex');
}

export function isDigest(text: string): boolean {
  return /^[0-9a-f]{64}$/.test(text);
}
