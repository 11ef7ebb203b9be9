import { quote } from '../go/quote.ts';

/** What is wrong with a template, found while reading it. */
export class TemplateParseError extends Error {
  /** The file, or the name the text was parsed under. */
  readonly template: string;
  readonly line: number;
  /** The complaint without position. */
  readonly detail: string;

  constructor(template: string, line: number, detail: string) {
    super(`template: ${template}:${line}: ${detail}`);
    this.name = 'TemplateParseError';
    this.template = template;
    this.line = line;
    this.detail = detail;
  }
}

/** Where in which template something happened, as Go words it. */
export interface TemplatePlace {
  /** `file:line:column` */
  readonly location: string;
  /** The template that was running. */
  readonly template: string;
  /** The expression. */
  readonly expression: string;
}

/** What went wrong while a template ran. The message has Go's shape, nested calls included. */
export class TemplateExecError extends Error {
  readonly place: TemplatePlace | undefined;
  /** The complaint without position. */
  readonly detail: string;

  constructor(detail: string, place: TemplatePlace | undefined, template: string, options?: { cause?: unknown }) {
    super(
      place
        ? `template: ${place.location}: executing ${quote(place.template)} at <${place.expression}>: ${detail}`
        : `template: ${template}: ${detail}`,
      options,
    );
    this.name = 'TemplateExecError';
    this.place = place;
    this.detail = detail;
  }
}
