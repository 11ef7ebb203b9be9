import {
  type Client,
  isAlreadyExists,
  isConflict,
  isInvalid,
  isNamespaceTerminating,
  isNotFound,
  isTransient,
  type KubeObject,
  Secret,
} from '@slipway/kube';

import { decodeRecord, encodeRecord } from './record.ts';
import type { Release } from './release.ts';
import { ReleaseError } from './release-error.ts';

const secretType = 'helm.sh/release.v1';
const systemLabels = new Set(['name', 'owner', 'status', 'version', 'createdAt', 'modifiedAt']);
/** What the API server stores at most in a Secret. */
const mostBytes = 1_048_576;
/** A record grows until its work is done: by what is said of the end, and by how each hook went. One that does not fit then is stuck. */
const endBytes = 1_024;
const hookEndBytes = 64;

/** A stored revision, and when somebody last touched it. */
export interface StoredRelease {
  readonly release: Release;
  /** Epoch milliseconds. */
  readonly touched: number;
  /** Changes whenever anybody writes the record. */
  readonly resourceVersion: string;
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

  /** Every revision of every release in a namespace, or in all, but for those whose record cannot be read: those are told. */
  async all(namespace: string | undefined, damaged: (error: ReleaseError) => void): Promise<StoredRelease[]> {
    return await this.#select(namespace, 'owner=helm', damaged);
  }

  /** Stores a new revision. That a Secret's name is taken only once is the lock between two who work on the same release. */
  async create(release: Release): Promise<void> {
    const spareBytes = endBytes + release.hooks.length * hookEndBytes;
    const secret = this.#secret(release, { createdAt: this.#second() }, spareBytes);
    try {
      await this.#client.create(secret, { fieldManager: 'helm' });
    } catch (error) {
      // Where only the answer got lost, the lock is ours.
      if (isTransient(error) && (await this.#holds(secret))) return;
      refuseNamespace(release, error);
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

  /**
   * Writes a revision anew, unless its record is gone: who removed it does not want it back. With a resource version, only as long as nobody else wrote it.
   * Answers whether it was written.
   */
  async update(release: Release, resourceVersion?: string): Promise<boolean> {
    const { metadata, data } = this.#secret(release, { modifiedAt: this.#second() }) as KubeObject & { data: unknown };
    const body = { metadata: { labels: metadata.labels, ...(resourceVersion ? { resourceVersion } : {}) }, data };
    try {
      await this.#client.patch(Secret, keyOf(release), { type: 'merge', body }, { fieldManager: 'helm' });
      return true;
    } catch (error) {
      if (isNotFound(error) || (resourceVersion && isConflict(error))) return false;
      throw error;
    }
  }

  /** Writes the revision somebody works on, or only that work goes on, as long as its record says it is theirs. Answers whether it does. */
  async updateHeld(held: Release, release?: Release): Promise<boolean> {
    const { metadata, data } = this.#secret(release ?? held, { modifiedAt: this.#second() }) as KubeObject & {
      data: unknown;
    };
    const labels = release ? metadata.labels! : { modifiedAt: metadata.labels!['modifiedAt']! };
    const operations = [
      { op: 'test' as const, path: '/metadata/labels/status', value: held.status },
      ...Object.entries(labels).map(([label, value]) => ({
        op: 'add' as const,
        path: `/metadata/labels/${label.replaceAll('~', '~0').replaceAll('/', '~1')}`,
        value,
      })),
      ...(release ? [{ op: 'replace' as const, path: '/data', value: data }] : []),
    ];
    try {
      await this.#client.patch(Secret, keyOf(held), { type: 'json', operations }, { fieldManager: 'helm' });
      return true;
    } catch (error) {
      if (isNotFound(error)) return false;
      if (!isInvalid(error)) throw error;
      // It may be there already: an answer got lost, and the request was sent again.
      const present = release && (await this.#client.get(Secret, keyOf(held)));
      return present !== undefined && present.data?.['release'] === (data as Record<string, string>)['release'];
    }
  }

  /** Whether a revision is there. */
  async has(release: Pick<Release, 'name' | 'namespace' | 'revision'>): Promise<boolean> {
    return (await this.#client.get(Secret, keyOf(release))) !== undefined;
  }

  /** The revisions that count as deployed: one, unless somebody died or two worked at once. */
  async deployed({ namespace, name }: Pick<Release, 'name' | 'namespace'>): Promise<Release[]> {
    const stored = await this.#select(namespace, `owner=helm,name=${name},status=deployed`);
    return stored.map(({ release }) => release);
  }

  async delete(release: Release): Promise<void> {
    try {
      await this.#client.delete(Secret, keyOf(release));
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }

  /** Whether the record of a Secret is there as it was sent. */
  async #holds({ metadata, ...secret }: KubeObject): Promise<boolean> {
    const present = await this.#client.get(Secret, { name: metadata.name!, namespace: metadata.namespace });
    return present !== undefined && present.data?.['release'] === (secret['data'] as Record<string, string>)['release'];
  }

  async #select(
    namespace: string | undefined,
    labelSelector: string,
    damaged?: (error: ReleaseError) => void,
  ): Promise<StoredRelease[]> {
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
      let release: Release;
      try {
        release = releaseIn(secret as KubeObject, encoded, own);
      } catch (error) {
        if (!damaged || !(error instanceof ReleaseError)) throw error;
        damaged(error);
        continue;
      }
      const seconds = Math.max(Number(labels['modifiedAt'] ?? 0), Number(labels['createdAt'] ?? 0));
      found.push({ release, touched: seconds * 1000, resourceVersion: secret.metadata.resourceVersion ?? '' });
    }
    return found;
  }

  #second(): string {
    return String(Math.floor(this.#now() / 1000));
  }

  /** @param spareBytes what has to fit in besides */
  #secret(release: Release, stamps: Readonly<Record<string, string>>, spareBytes = 0): KubeObject {
    const refused = Object.keys(release.labels).find((label) => systemLabels.has(label));
    if (refused !== undefined) {
      throw new ReleaseError(
        'Refused',
        `the label ${refused} is Helm's own and cannot be set on release ${release.name}`,
      );
    }
    const text = encodeRecord(release);
    if (text.length + spareBytes > mostBytes) {
      const besides = spareBytes === 0 ? '' : `, ${spareBytes} of them for how the work ends`;
      throw new ReleaseError(
        'TooLarge',
        `the record of release ${release.name} has ${text.length} bytes; a Secret holds ${mostBytes}${besides}`,
        {
          hint: 'take files the templates do not need out of the chart (.helmignore)',
        },
      );
    }
    return {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: {
        ...keyOf(release),
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

/**
 * A release belongs where its record is: of one that was copied from another namespace, such as by a backup that was restored there, nothing of the original
 * is touched.
 */
function releaseIn(secret: KubeObject, encoded: string, labels: Readonly<Record<string, string>>): Release {
  const { namespace, name } = secret.metadata;
  const place = `${namespace}/${name}`;
  const record = decodeRecord(Buffer.from(encoded, 'base64').toString('utf8'), labels, place);
  const release = { ...record, namespace: namespace! };
  if (keyOf(release).name === name) return release;
  throw new ReleaseError(
    'Damaged',
    `the Secret ${place} holds the record of revision ${release.revision} of release ${release.name}`,
    { hint: 'delete that Secret, or give it the name of that record and its labels' },
  );
}

/** Nothing can be stored where no namespace is, or one that goes. */
function refuseNamespace({ name, namespace }: Release, cause: unknown): void {
  if (isNamespaceTerminating(cause))
    throw new ReleaseError('NotFound', `release ${name}: the namespace ${namespace} is being deleted`, {
      hint: 'try again when it is gone',
      cause,
    });
  if (isNotFound(cause))
    throw new ReleaseError('NotFound', `release ${name}: there is no namespace ${namespace}`, {
      hint: 'make it first, or with --create-namespace',
      cause,
    });
}

function keyOf({ namespace, name, revision }: Pick<Release, 'name' | 'namespace' | 'revision'>): {
  namespace: string;
  name: string;
} {
  return { namespace, name: `sh.helm.release.v1.${name}.v${revision}` };
}
