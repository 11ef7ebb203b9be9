import { errorText } from './error-text.ts';

/**
 * What can be wrong with a chart, its values or its templates:
 * - `NotFound`: there is no chart at that place;
 * - `InvalidChart`: files are missing or wrong;
 * - `UnsafeArchive`: an archive or folder reaches outside itself, or is too large;
 * - `InvalidValues`: values that cannot be read or that the chart's schema refuses;
 * - `TemplateParse`, `TemplateExecution`: a template is wrong, or failed while it ran;
 * - `TemplateFailed`: the chart's author said `fail` or `required`;
 * - `InvalidManifest`: a template made text that is no YAML;
 * - `Incompatible`: the chart asks for another Kubernetes.
 */
export type ChartErrorCode =
  | 'NotFound'
  | 'InvalidChart'
  | 'UnsafeArchive'
  | 'InvalidValues'
  | 'TemplateParse'
  | 'TemplateExecution'
  | 'TemplateFailed'
  | 'InvalidManifest'
  | 'Incompatible';

const hints: Readonly<Record<ChartErrorCode, string>> = {
  NotFound: 'check the path of the chart',
  InvalidChart: 'correct the file in the chart; `slipway chart lint` lists more',
  UnsafeArchive: 'do not use this archive, or package the chart again',
  InvalidValues: 'correct the values at the named place',
  TemplateParse: 'correct the template at the named line',
  TemplateExecution: 'look at the named template and at the values it reads',
  TemplateFailed: 'the chart asks for other values; its message says which',
  InvalidManifest: 'look at what the template renders at the named line',
  Incompatible: 'use another version of the chart, or of Kubernetes',
};

/** Everything a chart can be refused for. The message is Helm's where Helm has one. */
export class ChartError extends Error {
  readonly code: ChartErrorCode;
  /** What to do about it. */
  readonly hint: string;

  constructor(code: ChartErrorCode, message: string, options: { cause?: unknown; hint?: string } = {}) {
    super(errorText(message), options.cause === undefined ? {} : { cause: options.cause });
    this.name = 'ChartError';
    this.code = code;
    this.hint = options.hint ?? hints[code];
  }
}
