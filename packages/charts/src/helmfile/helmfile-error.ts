import { errorText } from '../chart/error-text.ts';

/**
 * What can be wrong with a helmfile:
 * - `NotFound`: a state, base, values file or chart is not there;
 * - `InvalidState`: a key that nobody knows, a value of the wrong type, text that is no YAML;
 * - `Unsupported`: helmfile knows it, we do not: remote sources, secrets, hooks, plugins;
 * - `TemplateFailed`: a template is wrong or failed;
 * - `Circular`: states include each other, or releases need each other;
 * - `UndefinedEnvironment`: no state defines the environment that was asked for;
 * - `Forbidden`: a template wants to run a program, or to read outside the tree;
 * - `InvalidSelector`: a selector that is not `key=value` or `key!=value`.
 */
export type HelmfileErrorCode =
  | 'NotFound'
  | 'InvalidState'
  | 'Unsupported'
  | 'TemplateFailed'
  | 'Circular'
  | 'UndefinedEnvironment'
  | 'Forbidden'
  | 'InvalidSelector';

const hints: Readonly<Record<HelmfileErrorCode, string>> = {
  NotFound: 'check the path; it begins in the directory that is named',
  InvalidState: 'correct the state at the named place',
  Unsupported: 'leave it out, or use helmfile itself for this state',
  TemplateFailed: 'look at the named template and at the values it reads',
  Circular: 'break the circle at one of the named places',
  UndefinedEnvironment: 'add it under `environments`, or ask for another one with --environment',
  Forbidden: 'allow it explicitly, or do without it',
  InvalidSelector: 'write key=value or key!=value, separated by commas',
};

/** Everything a helmfile can be refused for. The message names the file, and where it can the path inside it. */
export class HelmfileError extends Error {
  readonly code: HelmfileErrorCode;
  /** What to do about it. */
  readonly hint: string;

  constructor(code: HelmfileErrorCode, message: string, options: { cause?: unknown; hint?: string } = {}) {
    super(errorText(message), options.cause === undefined ? {} : { cause: options.cause });
    this.name = 'HelmfileError';
    this.code = code;
    this.hint = options.hint ?? hints[code];
  }
}
