import { GitError } from '../git/git-error.ts';
import { failureText, OperatorError } from '../operator-error.ts';
import { commit } from '../platform/commit.ts';
import { migrate } from '../platform/migrate.ts';
import type { Platform } from '../platform/platform.ts';
import { ensureTeamGitOpsDirectories } from '../platform/team-directories.ts';
import { validateValues } from '../platform/validate-values.ts';
import { writeValues } from '../platform/write-values.ts';
import { decryptSecrets } from '../secrets/crypt.ts';
import { refuseForeignEntries } from './foreign-entries.ts';
import { type ApplyRecord, type ApplyTrigger, updateApplyState } from '../state/apply-state.ts';
import { apply } from './apply-all.ts';
import { applyTeamsOnly } from './apply-teams.ts';
import type { GitChanges, GitRepository } from './git-repository.ts';

/** The two loops' common ground: one repository, one apply at a time. Which replica may is the lease's business. */
export class AplOperator {
  readonly #repository: GitRepository;
  #isApplying = false;
  /** What the last poll found to be the matter with the repository, while it lasts. */
  #trouble: string | undefined;

  constructor(repository: GitRepository) {
    this.#repository = repository;
  }

  get isApplying(): boolean {
    return this.#isApplying;
  }

  async start(platform: Platform): Promise<void> {
    await this.#repository.waitTillAvailable(platform);
    await this.#repository.clone();
    await this.#repository.waitForCommits(platform);
  }

  /** A round of the poll loop. It skips when an apply is running: what changed meanwhile is found by the next. */
  async pollAndApplyGitChanges(platform: Platform): Promise<void> {
    if (this.#isApplying) {
      platform.log.debug('[poll] Apply already in progress, skipping');
      return;
    }
    let found: GitChanges;
    try {
      found = await this.#repository.syncAndAnalyzeChanges(platform);
    } catch (error) {
      await this.#noteTrouble(platform, error);
      throw error;
    }
    // A repository that is well again has its state said again, whether it changed or not.
    const isBack = this.#trouble !== undefined;
    this.#trouble = undefined;
    if (found.hasChangesToApply || isBack) await this.#runApply(platform, 'poll', found.applyTeamsOnly && !isBack);
  }

  /** What only people can mend shows in the state, once; a server that is away for a moment does not. */
  async #noteTrouble(platform: Platform, error: unknown): Promise<void> {
    const cause = error instanceof OperatorError ? error.cause : error;
    if (!(cause instanceof GitError) || (cause.code !== 'NotFound' && cause.code !== 'Unauthorized')) return;
    const errorMessage = failureText(error);
    if (errorMessage === this.#trouble) return;
    this.#trouble = errorMessage;
    const commitHash = this.#repository.lastRevision;
    await this.#repository.copy.exclusive(async () => {
      await this.#record(platform, { commitHash, trigger: 'poll', status: 'in-progress' });
      await this.#record(platform, { commitHash, trigger: 'poll', status: 'failed', errorMessage });
    });
  }

  /** A state nobody can write keeps no apply from being done. */
  async #record(platform: Platform, record: ApplyRecord): Promise<void> {
    await updateApplyState(platform, record).catch((error: unknown) => {
      platform.signal.throwIfAborted();
      platform.log.error('the state of the apply was not written', { error });
    });
  }

  /** A round of the reconcile loop: always everything, after whatever is running. */
  async reconcile(platform: Platform): Promise<void> {
    await this.#runApply(platform, 'reconcile', false);
  }

  /** Runs an apply alone, and never fails: what went wrong is in the state. */
  async #runApply(platform: Platform, trigger: ApplyTrigger, teamsOnly: boolean): Promise<void> {
    await this.#repository.copy.exclusive(async () => {
      this.#isApplying = true;
      try {
        await this.#applyProcess(platform, trigger, teamsOnly);
      } finally {
        this.#isApplying = false;
      }
    });
  }

  async #applyProcess(platform: Platform, trigger: ApplyTrigger, teamsOnly: boolean): Promise<void> {
    const { log, signal } = platform;
    const commitHash = this.#repository.lastRevision;
    const record = (change: Pick<ApplyRecord, 'status' | 'errorMessage'>): Promise<void> =>
      this.#record(platform, { commitHash, trigger, ...change });
    log.info(`[${trigger}] Starting apply process`, { commitHash, teamsOnly });
    await record({ status: 'in-progress' });
    try {
      await this.#steps(platform, trigger, teamsOnly);
    } catch (error) {
      signal.throwIfAborted();
      log.error(`[${trigger}] Apply process failed`, { commitHash, error });
      await record({ status: 'failed', errorMessage: failureText(error) });
      return;
    }
    await record({ status: 'succeeded' });
    log.info(`[${trigger}] Apply process completed`, { commitHash });
  }

  async #steps(platform: Platform, trigger: ApplyTrigger, teamsOnly: boolean): Promise<void> {
    const { directory, layers } = platform;
    const { copy } = this.#repository;
    await refuseForeignEntries(copy);
    // Defaults are written over the files: ciphertext must not be taken for values.
    await decryptSecrets(platform);
    await writeValues(platform, await layers.values('defaults'));
    if (trigger === 'poll') {
      await migrate(platform);
      await validateValues(platform);
    } else await decryptSecrets(platform);
    await ensureTeamGitOpsDirectories(directory);
    await commit(platform, copy, false);
    if (teamsOnly) await applyTeamsOnly(platform);
    else await apply(platform, copy);
  }
}
