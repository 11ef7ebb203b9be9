import { errorText } from '../chart/error-text.ts';

/**
 * What can go wrong between us and a chart somewhere else:
 * - `InvalidReference`: the name of the chart or of its place cannot be understood;
 * - `UnknownRepository`: no repository of that name is configured;
 * - `NotFound`: the repository has no such chart, or no version that fits;
 * - `Unauthorized`: the server wants other credentials;
 * - `Unreachable`: the server does not answer;
 * - `BadAnswer`: it answers something that is no index, no manifest, no chart;
 * - `DigestMismatch`: what came is not what was promised;
 * - `TooLarge`: more bytes than any chart has;
 * - `OutOfSync`: Chart.lock was made for another Chart.yaml;
 * - `Refused`: we will not do this with a secret or a file of the user's.
 */
export type RepositoryErrorCode =
  | 'InvalidReference'
  | 'UnknownRepository'
  | 'NotFound'
  | 'Unauthorized'
  | 'Unreachable'
  | 'BadAnswer'
  | 'DigestMismatch'
  | 'TooLarge'
  | 'OutOfSync'
  | 'Refused';

const hints: Readonly<Record<RepositoryErrorCode, string>> = {
  InvalidReference: 'name a folder, a .tgz, oci://host/path/name, or repository/name',
  UnknownRepository: "add it to Helm's repositories.yaml (`helm repo add`), or give its address with --repo",
  NotFound: 'look at the name and at --version; pre-releases need --devel or a range that names one',
  Unauthorized: 'log in with `helm registry login` or `helm repo add --username`; their files are read',
  Unreachable: 'look at the address, the network and the proxy',
  BadAnswer: 'look at the address: it should be the folder that holds index.yaml, or a registry',
  DigestMismatch: 'do not use this chart; tell whoever runs the repository',
  TooLarge: 'look at the address: no chart is that large',
  OutOfSync: 'run `slipway chart dependency update`',
  Refused: 'see the message',
};

/** Everything a repository or a registry can be the cause of. No message holds a credential. */
export class RepositoryError extends Error {
  readonly code: RepositoryErrorCode;
  /** What to do about it. */
  readonly hint: string;

  constructor(code: RepositoryErrorCode, message: string, options: { cause?: unknown; hint?: string } = {}) {
    super(errorText(message), options.cause === undefined ? {} : { cause: options.cause });
    this.name = 'RepositoryError';
    this.code = code;
    this.hint = options.hint ?? hints[code];
  }
}
