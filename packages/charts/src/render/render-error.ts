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

/** Helm shows nested template errors one under the other: place, expression, complaint. */
function trace(error: TemplateExecError): string {
  const lines: string[] = [];
  for (let current: unknown = error; current instanceof Error; current = current.cause) {
    if (!(current instanceof TemplateExecError)) {
      // Only a chain of template errors can be told apart; anything else is shown as Go nested it.
      if (!(current.cause instanceof Error)) break;
      continue;
    }
    const cut = current.detail.indexOf(' template:');
    const message = cut < 0 ? current.detail : current.detail.slice(0, cut);
    const { place } = current;
    const block = place
      ? `${place.location}\n  executing "${place.template}" at <${place.expression}>:\n    ${message}`
      : message;
    if (lines.at(-1) !== block) lines.push(block);
  }
  return lines.join('\n');
}
