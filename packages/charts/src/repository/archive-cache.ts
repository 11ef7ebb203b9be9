import { createHash } from 'node:crypto';
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

import { replaceFile } from './replace-file.ts';

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
    try {
      await mkdir(this.#folder, { recursive: true, mode: 0o700 });
      await replaceFile(this.#path(digest), data, 0o600);
    } catch {
      // Said above.
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
