import { type Client, isAlreadyExists, isNotFound, type KubeObject, Secret } from '@slipway/kube';

import { decodeRecord, encodeRecord } from './record.ts';
import type { Release } from './release.ts';
import { ReleaseError } from './release-error.ts';

const secretType = 'helm.sh/release.v1';
const systemLabels = new Set(['name', 'owner', 'status', 'version', 'createdAt', 'modifiedAt']);
/** What the API server stores at most in a Secret. */
const mostBytes = 1_048_576;

/** A stored revision, and when somebody last touched it. */
export interface StoredRelease {
  readonly release: Release;
  /** Epoch milliseconds. */
  readonly touched: number;
}

/** The records of releases: Secrets in the namespace of the release, as Helm keeps them. */
export class ReleaseStorage {
  readonly #client: Client;
  readonly #now: () => number;

  constructor(client: Client, now: () => number) {
    this.#client = client;
    this.#now = now;
  }

  /** All revisions of a release, oldest first. */
  async history(namespace: string, name: string): Promise<StoredRelease[]> {
    return (await this.#select(namespace, `owner=helm,name=${name}`)).sort(
      (a, b) => a.release.revision - b.release.revision,
    );
  }

  /** Every revision of every release in a namespace, or in all. */
  async all(namespace: string | undefined): Promise<StoredRelease[]> {
    return await this.#select(namespace, 'owner=helm');
  }

  /** Stores a new revision. That a Secret's name is taken only once is the lock between two who work on the same release. */
  async create(release: Release): Promise<void> {
    const second = String(Math.floor(this.#now() / 1000));
    try {
      await this.#client.create(this.#secret(release, { createdAt: second }), { fieldManager: 'helm' });
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
      throw new ReleaseError(
        'Busy',
        `somebody else is working on revision ${release.revision} of release ${release.name}`,
        {
          hint: 'try again when they are done',
          cause: error,
        },
      );
    }
  }

  async update(release: Release): Promise<void> {
    const second = String(Math.floor(this.#now() / 1000));
    const secret = this.#secret(release, { modifiedAt: second });
    const key = { namespace: release.namespace, name: secret.metadata.name! };
    const body = { metadata: { labels: secret.metadata.labels }, data: secret['data'] };
    await this.#client.patch(Secret, key, { type: 'merge', body }, { fieldManager: 'helm' });
  }

  /** Says that work on a revision goes on. */
  async touch(release: Release): Promise<void> {
    const labels = { modifiedAt: String(Math.floor(this.#now() / 1000)) };
    const key = { namespace: release.namespace, name: secretName(release) };
    await this.#client.patch(Secret, key, { type: 'merge', body: { metadata: { labels } } }, { fieldManager: 'helm' });
  }

  async delete(release: Release): Promise<void> {
    try {
      await this.#client.delete(Secret, { namespace: release.namespace, name: secretName(release) });
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }

  async #select(namespace: string | undefined, labelSelector: string): Promise<StoredRelease[]> {
    const found: StoredRelease[] = [];
    const options = {
      labelSelector,
      ...(namespace === undefined ? {} : { namespace }),
      fieldSelector: `type=${secretType}`,
    };
    for await (const secret of this.#client.list(Secret, options)) {
      const encoded = secret.data?.['release'];
      if (encoded === undefined) continue;
      const labels = secret.metadata.labels ?? {};
      const own = Object.fromEntries(Object.entries(labels).filter(([label]) => !systemLabels.has(label)));
      const release = decodeRecord(Buffer.from(encoded, 'base64').toString('utf8'), own);
      const seconds = Math.max(Number(labels['modifiedAt'] ?? 0), Number(labels['createdAt'] ?? 0));
      found.push({ release, touched: seconds * 1000 });
    }
    return found;
  }

  #secret(release: Release, stamps: Readonly<Record<string, string>>): KubeObject {
    const refused = Object.keys(release.labels).find((label) => systemLabels.has(label));
    if (refused !== undefined) {
      throw new ReleaseError(
        'Refused',
        `the label ${refused} is Helm's own and cannot be set on release ${release.name}`,
      );
    }
    const text = encodeRecord(release);
    if (text.length > mostBytes) {
      throw new ReleaseError(
        'TooLarge',
        `the record of release ${release.name} has ${text.length} bytes; a Secret holds ${mostBytes}`,
        {
          hint: 'take files the templates do not need out of the chart (.helmignore)',
        },
      );
    }
    return {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: {
        name: secretName(release),
        namespace: release.namespace,
        labels: {
          ...release.labels,
          name: release.name,
          owner: 'helm',
          status: release.status,
          version: String(release.revision),
          ...stamps,
        },
      },
      type: secretType,
      data: { release: Buffer.from(text).toString('base64') },
    };
  }
}

function secretName(release: Release): string {
  return `sh.helm.release.v1.${release.name}.v${release.revision}`;
}
