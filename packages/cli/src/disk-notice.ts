import { StorageError, type StorageErrorCode } from '@slipway/apiserver';

const problems: Readonly<Record<StorageErrorCode, string>> = {
  damaged: 'its files are damaged',
  full: 'the disk is full',
  'in-use': 'another cluster uses it',
  'read-only': 'it is read-only',
  unusable: 'the disk fails',
};

/**
 * Says once that the folder of a cluster takes no more changes, and once that it does again. Everything else goes on:
 * what is stored can be read, and operators try again until there is room.
 */
export class DiskNotice {
  readonly #folder: string;
  readonly #say: (line: string) => void;
  #problem: StorageError | undefined;

  constructor(folder: string, say: (line: string) => void) {
    this.#folder = folder;
    this.#say = say;
  }

  /** Why changes are not kept now. */
  get problem(): StorageError | undefined {
    return this.#problem;
  }

  /** Looks at what the cluster could not do. */
  failed(error: unknown): void {
    if (!(error instanceof StorageError) || this.#problem) return;
    this.#problem = error;
    this.#say(`cannot keep changes in ${this.#folder}: ${problems[error.code]}; ${error.hint}`);
  }

  /** A change was kept. */
  stored(): void {
    if (!this.#problem) return;
    this.#problem = undefined;
    this.#say(`changes are kept in ${this.#folder} again`);
  }
}
