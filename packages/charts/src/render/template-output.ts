import { ChartError } from '../chart/chart-error.ts';
import { shellPattern } from '../chart/shell-pattern.ts';
import { dialects, type Dialect } from '../chart/dialect.ts';
import { splitDocuments } from './manifests.ts';
import type { RenderedChart } from './render.ts';

/** What is printed of a rendered chart. */
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
  return manifestSections(rendered, options).join('');
}

/** What `helm template` prints. */
export function templateOutput(rendered: RenderedChart, options: TemplateOutputOptions = {}): string {
  return templateSections(rendered, options).join('');
}

/** The same, piece by piece: a single character beyond Latin-1 doubles the room of the text it is in, and the whole is large. */
function templateSections(rendered: RenderedChart, options: TemplateOutputOptions = {}): string[] {
  const hooks = (options.hooks ?? true) ? rendered.hooks : [];
  const shown = options.skipTests ? hooks.filter(({ events }) => !events.includes('test')) : hooks;
  const manifests = manifestSections(rendered, options);
  const last = manifests.pop() ?? '';
  const sections = [...manifests, `${last.trimEnd()}\n`, ...shown.map(section)];
  return options.showOnly && options.showOnly.length > 0
    ? [only(sections.join(''), options.showOnly, options.dialect ?? 'helm4')]
    : sections;
}

/** The same for who writes it: definitions are large files, printed as they are, and stay bytes. */
export function templatePieces(rendered: RenderedChart, options: TemplateOutputOptions = {}): (string | Uint8Array)[] {
  const { includeCrds = false, showOnly = [] } = options;
  // The last of all is trimmed.
  if (!includeCrds || showOnly.length > 0 || rendered.manifests.length === 0)
    return templateSections(rendered, options);
  const definitions = rendered.crds.flatMap(({ path, data }) => [sectionStart(path), data, '\n']);
  return [...definitions, ...templateSections(rendered, { ...options, includeCrds: false })];
}

function manifestSections(rendered: RenderedChart, options: { includeCrds?: boolean }): string[] {
  return [...(options.includeCrds ? rendered.crds : []), ...rendered.manifests].map(section);
}

function section({ path, content }: { readonly path: string; readonly content: string }): string {
  return `${sectionStart(path)}${content}\n`;
}

function sectionStart(path: string): string {
  return `---\n# Source: ${path}\n`;
}

function only(text: string, wanted: readonly string[], dialect: Dialect): string {
  const documents = splitDocuments(text, dialects[dialect]);
  let found = '';
  for (const pattern of wanted) {
    const matches = shellPattern(pattern);
    const matching = documents.filter((document) => {
      const path = /# Source: [^/\n]+\/(.+)/.exec(document)?.[1];
      return path !== undefined && (matches?.(path) ?? false);
    });
    if (matching.length === 0)
      throw new ChartError('NotFound', `could not find template ${pattern} in chart`, {
        hint: 'name a template inside the chart that renders something, such as templates/service.yaml',
      });
    found += matching.map((document) => `---\n${document}\n`).join('');
  }
  return found;
}
