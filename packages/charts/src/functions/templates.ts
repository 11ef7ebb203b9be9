import { quote } from '../go/quote.ts';
import type { FunctionTable, Run, TemplateFunction } from '../template/run.ts';
import { fn, inRun } from '../template/signature.ts';
import { execute } from '../template/run.ts';
import { parseTemplate, type TemplateSet } from '../template/template-set.ts';
import { environmentOf } from './environment.ts';

/** A template that includes itself more often than this does so for ever. */
const deepestInclusion = 1000;

/** What a chart's author says with `fail` and `required`; it reaches the user without the call stack around it. */
export class ChartFailure extends Error {}

function include(run: Run, name: string, data: Parameters<typeof execute>[2]): string {
  const { including } = environmentOf(run);
  const count = including.get(name) ?? 0;
  if (count > deepestInclusion)
    throw new Error(`rendering template has a nested reference name: ${name}: unable to execute template`);
  including.set(name, count + 1);
  try {
    return execute(run.templates, name, data, run);
  } finally {
    including.set(name, count);
  }
}

/** Text in a value is a template too; what it defines is visible to it alone. */
function tpl(run: Run, text: string, data: Parameters<typeof execute>[2]): string {
  if (!text.includes('{{')) return text.replaceAll('<no value>', '');
  const templates = (run.templates as TemplateSet).clone();
  // Helm parses the text under the name of the empty template its set began with.
  const name = 'gotpl';
  try {
    for (const executable of parseTemplate(name, text, templates.functions)) {
      if (executable.tree.name === name) templates.replace(executable);
      else templates.adopt(executable);
    }
  } catch (error) {
    throw new Error(`cannot parse template ${quote(text)}: ${(error as Error).message}`, { cause: error });
  }
  try {
    return execute(templates, name, data, run).replaceAll('<no value>', '');
  } catch (error) {
    throw new Error(`error during tpl function execution for ${quote(text)}: ${(error as Error).message}`, {
      cause: error,
    });
  }
}

export const templateFunctions: FunctionTable = new Map<string, TemplateFunction>([
  ['include', inRun(['string', 'any'], include)],
  ['tpl', inRun(['string', 'any'], tpl)],
  [
    'required',
    fn(['string', 'any'], (warning, value) => {
      if (value === null || value === undefined || value === '') throw new ChartFailure(warning);
      return value;
    }),
  ],
  [
    'fail',
    fn(['string'], (message) => {
      throw new ChartFailure(message);
    }),
  ],
  [
    'lookup',
    inRun(['string', 'string', 'string', 'string'], (run, apiVersion, kind, namespace, name) =>
      environmentOf(run).lookup(apiVersion, kind, namespace, name),
    ),
  ],
]);
