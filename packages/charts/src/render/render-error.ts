import { ChartError } from '../chart/chart-error.ts';
import { ChartFailure } from '../functions/templates.ts';
import { TemplateExecError, TemplateParseError } from '../template/template-error.ts';

/** Words what went wrong with a template as Helm does. */
export function parseFailure(file: string, error: unknown): ChartError {
  if (!(error instanceof TemplateParseError)) throw error;
  const tokens = error.message.split(': ');
  return new ChartError('TemplateParse', `parse error at (${tokens[1] ?? file}): ${tokens.at(-1)}`, { cause: error });
}

export function executionFailure(error: unknown): unknown {
  if (!(error instanceof TemplateExecError)) {
    return error instanceof Error ? new ChartError('TemplateExecution', error.message, { cause: error }) : error;
  }
  const said = innermost(error);
  if (said instanceof ChartFailure) {
    const location = error.place?.location ?? '';
    return new ChartError('TemplateFailed', `execution error at (${location}): ${said.message}`, { cause: error });
  }
  return new ChartError('TemplateExecution', trace(error), { cause: error });
}

function innermost(error: Error): Error {
  return error.cause instanceof Error ? innermost(error.cause) : error;
}

/**
 * Helm shows nested template errors one under the other: place, expression, complaint. It does so only when it can read
 * every link of the chain; one that is no template's, such as a function's own complaint, leaves the whole as Go nested it.
 */
function trace(error: TemplateExecError): string {
  const blocks: string[] = [];
  for (let current: unknown = error; current instanceof Error; current = current.cause) {
    if (!current.message.startsWith('template: ')) return error.message;
    const block = current instanceof TemplateExecError ? blockOf(current) : current.message;
    if (blocks.at(-1) !== block) blocks.push(block);
  }
  return blocks.join('\n');
}

function blockOf({ place, detail, message }: TemplateExecError): string {
  if (!place) return message;
  const nested = detail.indexOf(' template:');
  const complaint = nested < 0 ? detail : detail.slice(0, nested);
  return `${place.location}\n  executing "${place.template}" at <${place.expression}>:\n    ${complaint}`;
}
