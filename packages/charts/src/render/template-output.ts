import { ChartError } from '../chart/chart-error.ts';
import { globToRegExp } from '../chart/shell-pattern.ts';
import { dialects, type Dialect } from '../chart/dialect.ts';
import { splitDocuments } from './manifests.ts';
import type { RenderedChart } from './render.ts';

export interface TemplateOutputOptions {
  /** The one the chart was rendered in. Default `helm4`. */
  dialect?: Dialect;
  /** Files under `crds/` first. Default false. */
  includeCrds?: boolean;
  /** Hooks at the end. Default true. */
  hooks?: boolean;
  /** Leaves out hooks that are tests. Default false. */
  skipTests?: boolean;
  /** Only what comes from these templates (`templates/service.yaml`, `*` within a name). */
  showOnly?: readonly string[];
}

/** The manifest of a release: what Helm stores, and what `helm template` prints before the hooks. */
export function manifestText(rendered: RenderedChart, options: { includeCrds?: boolean } = {}): string {
  const crds = options.includeCrds ? rendered.crds.map(({ path, content }) => section(path, content)) : [];
  return [...crds, ...rendered.manifests.map(({ path, content }) => section(path, content))].join('');
}

/** What `helm template` prints. */
export function templateOutput(rendered: RenderedChart, options: TemplateOutputOptions = {}): string {
  const hooks = (options.hooks ?? true) ? rendered.hooks : [];
  const shown = options.skipTests ? hooks.filter(({ events }) => !events.includes('test')) : hooks;
  const text = `${manifestText(rendered, options).trim()}\n${shown.map(({ path, content }) => section(path, content)).join('')}`;
  return options.showOnly && options.showOnly.length > 0
    ? only(text, options.showOnly, options.dialect ?? 'helm4')
    : text;
}

function section(path: string, content: string): string {
  return `---\n# Source: ${path}\n${content}\n`;
}

function only(text: string, wanted: readonly string[], dialect: Dialect): string {
  const documents = splitDocuments(text, dialects[dialect]);
  let found = '';
  for (const pattern of wanted) {
    const expression = globToRegExp(pattern);
    const matching = documents.filter((document) => {
      const path = /# Source: [^/\n]+\/(.+)/.exec(document)?.[1];
      return path !== undefined && (expression?.test(path) ?? false);
    });
    if (matching.length === 0)
      throw new ChartError('NotFound', `could not find template ${pattern} in chart`, {
        hint: 'name a template inside the chart that renders something, such as templates/service.yaml',
      });
    found += matching.map((document) => `---\n${document}\n`).join('');
  }
  return found;
}
