import { silentLogger, type Logger } from '@slipway/runtime';

/** How SQLite says that a change could not be kept. */
const diskTrouble = /database or disk is full|disk I\/O error|readonly database|unable to open database file/;

/** What the disk said, when it is the disk that an error is about. */
export function diskProblem(error: unknown): string | undefined {
  return diskTrouble.exec(error instanceof Error ? error.message : String(error))?.[0];
}

/**
 * Says once that the folder of a cluster takes no more changes, and once that it does again. Everything else goes on:
 * what is stored can be read, and operators try again until there is room.
 */
export class DiskNotice {
  readonly #folder: string;
  readonly #say: (line: string) => void;
  #full = false;

  constructor(folder: string, say: (line: string) => void) {
    this.#folder = folder;
    this.#say = say;
  }

  /** Looks at what somebody could not do. */
  failed(error: unknown): void {
    const problem = diskProblem(error);
    if (problem === undefined || this.#full) return;
    this.#full = true;
    this.#say(
      `cannot keep changes in ${this.#folder}: ${problem}; make room there and it goes on, nothing kept is lost`,
    );
  }

  /** A change was kept. */
  stored(): void {
    if (!this.#full) return;
    this.#full = false;
    this.#say(`changes are kept in ${this.#folder} again`);
  }

  /** A logger that hears failures and is silent otherwise. */
  logger(): Logger {
    const logger: Logger = {
      ...silentLogger,
      error: (_message, fields) => this.failed(fields?.['error']),
      with: () => logger,
    };
    return logger;
  }
}
