import { CommandError, exitCodes } from '@slipway/kube';

/** A platform's folder lacks a file that every platform has. */
export class PlatformError extends CommandError {
  readonly code = 'MissingFile';

  constructor(directory: string, file: string, cause: unknown) {
    super(`${directory} is no platform: it has no ${file}`, {
      hint: 'slipway platform init DIR makes one with all the files',
      exitCode: exitCodes.usage,
      cause,
    });
    this.name = 'PlatformError';
  }
}
