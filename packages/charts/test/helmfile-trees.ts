import type { SeededRandom } from '@slipway/testing';

import type { HelmfileRule } from './helmfile-rules.ts';

const environmentNames = ['default', 'prod'] as const;
const keys = ['a', 'b', 'm', 'l'] as const;
const releaseNames = ['web', 'db', 'shop', 'job', 'bus'] as const;
const namespaces = ['', 'n', 'm'] as const;

const scalars = [
  ['1', '0', '-3', '1.0', '2.50', '1e3', '010', '0x1F', '1_000', '9007199254740993', '.5'],
  ['true', 'false', 'yes', 'No', 'on', '~', 'null', 'null'],
  ['text', '""', '"two words"', "'single'", '"1"', '"true"', '"a: b"', '2026-01-02', '"line\\nbreak"', 'ü'],
].flat();

/** What a state may say in a template about the values it has so far. Most of it holds for any values. */
const expressions = [
  '{{ .Values | toJson | quote }}',
  '{{ .Environment.Name | quote }}',
  '{{ .Values | get "a" "none" | toJson | quote }}',
  '{{ .Values | get "m.x" "none" | toJson | quote }}',
  '{{ .StateValues | getOrNil "b" | toJson | quote }}',
  '{{ if hasKey .Values "a" }}has{{ else }}has not{{ end }}',
  '{{ range $key, $_ := .Values }}{{ $key }}{{ end }}',
  '{{ .Environment.Values | toJson | quote }}',
  '{{ env "IMAGE_TAG" | quote }}',
  '{{ requiredEnv "IMAGE_TAG" }}',
  '{{ readFile "text.txt" | trim | quote }}',
  '{{ tpl "{{ .Environment.Name }}" . }}',
  '{{ .Values.a | toJson | quote }}',
  '{{ dict "x" (list 1 nil "t") | toYaml | quote }}',
] as const;

/** What a release may say of itself, after its state is rendered. */
const releaseExpressions = [
  '{{ .Release.Name }}',
  '{{ .Release.Namespace }}',
  '{{ .Environment.Name }}',
  '{{ .Release.Labels | toJson }}',
  '{{ .Values | get "a" "none" | toJson }}',
] as const;

/** No list in braces: helmfile cuts these at every comma, and falls over what is then without a value. As texts it passes by empty ones. */
const settings = 'a=set a=1 m.x=5 m=null a=null l[0]=first l[1].z=deep b.c.d=deep a= b=007'.split(' ');

/**
 * A tree of states nobody wrote: environments, bases, parts, templates, nested states, releases that need each other, files of
 * values that are there and that are not. Most of them hold; some are wrong, and both sides have to say so.
 */
export function randomTree(random: SeededRandom): HelmfileRule {
  return new TreeMaker(random).make();
}

class TreeMaker {
  readonly #random: SeededRandom;
  readonly #files: Record<string, string> = { 'text.txt': 'from a file\n' };
  /** Labels somebody could select. */
  readonly #labels: string[] = [];

  constructor(random: SeededRandom) {
    this.#random = random;
  }

  make(): HelmfileRule {
    const random = this.#random;
    const isTemplate = random.chance(0.7);
    const name = isTemplate ? 'helmfile.yaml.gotmpl' : 'helmfile.yaml';
    this.#files[name] = this.#state({ folder: '', isTemplate, mayNest: true });
    return {
      name: '',
      files: this.#files,
      environment: random.pick(environmentNames),
      selectors: random.chance(0.4) ? random.some(this.#labels, 0.3).slice(0, 2) : [],
      stateValuesSet: random.some(settings, 0.08),
      stateValuesSetString: random.some(
        settings.filter((text) => !text.endsWith('=')),
        0.03,
      ),
      stateValuesFiles: random.chance(0.2) ? [this.#valuesFile('', 'given', random.chance(0.5))] : [],
      includeNeeds: random.chance(0.2),
    };
  }

  #state(given: Omit<Place, 'namespace'>): string {
    const at: Place = { ...given, namespace: this.#random.chance(0.7) ? this.#random.pick(namespaces) : undefined };
    const parts = [
      [`values: [{ flag: { enabled: ${this.#random.chance(0.5)} } }]`],
      ...(this.#random.chance(0.3) ? [this.#valuesPart(at)] : []),
      ...(this.#random.chance(0.85) ? [this.#environments(at)] : []),
      ...(this.#random.chance(0.3) ? [this.#valuesPart(at)] : []),
      this.#releases(at),
    ];
    return parts.map((lines) => `${lines.join('\n')}\n`).join('---\n');
  }

  #valuesPart(at: Place): string[] {
    return [
      ...(this.#random.chance(0.4) ? [`bases: [${this.#base(at)}]`] : []),
      `values: [${this.#valuesEntries(at).join(', ')}]`,
    ];
  }

  #environments(at: Place): string[] {
    const lines = environmentNames.map((name) => {
      const handler = this.#random.chance(0.3) ? `missingFileHandler: ${this.#random.pick(['Warn', 'Debug'])}, ` : '';
      const entries = this.#valuesEntries(at);
      if (handler !== '') entries.push('absent.yaml');
      return `  ${name}: { ${handler}values: [${entries.join(', ')}] }`;
    });
    return ['environments:', ...(this.#random.chance(0.97) ? lines : lines.slice(0, 1))];
  }

  #base(at: Place): string {
    const isTemplate = this.#random.chance(0.5);
    const lines = [
      ...(this.#random.chance(0.5) ? this.#environments({ ...at, isTemplate }) : []),
      `values: [${this.#valuesEntries({ ...at, isTemplate }).join(', ')}]`,
      ...(this.#random.chance(0.3) ? [`commonLabels: { base: "${this.#random.below(3)}" }`] : []),
      ...(this.#random.chance(0.3) ? [`helmDefaults: { timeout: ${this.#random.below(100)} }`] : []),
    ];
    return this.#file(at.folder, 'base', isTemplate, `${lines.join('\n')}\n`);
  }

  #releases(at: Place): string[] {
    const random = this.#random;
    const names = random.some(releaseNames, 0.5);
    if (names.length === 0) names.push(random.pick(releaseNames));
    const chart = at.folder === '' ? './chart' : '../chart';
    const hasTemplate = random.chance(0.4);
    return [
      ...(random.chance(0.3) ? [`commonLabels: { team: ${random.pick(['one', 'two'])} }`] : []),
      ...(random.chance(0.2) ? [`helmDefaults: { wait: ${random.chance(0.5)}, createNamespace: false }`] : []),
      ...(random.chance(0.15) ? ['namespace: all'] : []),
      ...(random.chance(0.2) ? [`missingFileHandler: ${random.pick(['Warn', 'Info', 'Error'])}`] : []),
      ...(at.mayNest && random.chance(0.4) ? ['helmfiles:', ...this.#nested()] : []),
      ...(hasTemplate ? ['templates:', '  usual: &usual', `    chart: ${chart}`, ...this.#releaseLines(at, [])] : []),
      'releases:',
      ...names.flatMap((name, index) => [
        `  - name: ${name}`,
        ...(hasTemplate && random.chance(0.6) ? ['    <<: *usual'] : [`    chart: ${chart}`]),
        ...this.#releaseLines(at, random.chance(0.95) ? names.slice(index + 1) : names, index > 0),
        ...(index > 0 && random.chance(0.2) ? [`    installed: ${random.pick(['true', 'false', 'no'])}`] : []),
      ]),
    ];
  }

  /** One that may be absent may have a condition; a state of which nothing is left is an error to helmfile alone. */
  #releaseLines(at: Place, others: readonly string[], mayBeAbsent = false): string[] {
    const random = this.#random;
    const lines: string[] = [];
    const namespace = at.namespace ?? random.pick(namespaces);
    if (namespace !== '') lines.push(`namespace: ${namespace}`);
    if (random.chance(0.8)) lines.push(`labels: { ${this.#label('tier')}, ${this.#label('k')} }`);
    if (mayBeAbsent && random.chance(0.2))
      lines.push(`condition: ${random.pick(['flag.enabled', 'flag.enabled', 'm.enabled'])}`);
    if (random.chance(0.1)) lines.push(`version: ${random.pick(['1.0.0', '1.10', '~1'])}`);
    if (random.chance(0.15)) lines.push(`missingFileHandler: ${random.pick(['Warn', 'Error'])}`);
    if (mayBeAbsent && random.chance(0.2))
      lines.push(
        `installedTemplate: '${this.#escaped(at, random.pick(['true', '{{ eq .Release.Name "web" }}', 'no']))}'`,
      );
    const needs = random
      .some(others, 0.2)
      .map((name) => (random.chance(0.3) && namespace !== '' ? `${namespace}/${name}` : name));
    if (needs.length > 0) lines.push(`needs: [${needs.join(', ')}]`);
    if (random.chance(0.2)) lines.push(`valuesTemplate: [{ own: '${this.#ownExpression(at)}' }]`);
    if (random.chance(0.8)) lines.push(`values: [${this.#valuesEntries(at, true).join(', ')}]`);
    return lines.map((line) => `    ${line}`);
  }

  #label(key: string): string {
    const value = String(this.#random.below(3));
    this.#labels.push(`${key}=${value}`, `${key}!=${value}`, `name=${this.#random.pick(releaseNames)}`);
    return `${key}: "${value}"`;
  }

  #nested(): string[] {
    const random = this.#random;
    return Array.from({ length: 1 + random.below(2) }, (_, index) => {
      const isTemplate = random.chance(0.5);
      const path = `sub/state-${index}.yaml${isTemplate ? '.gotmpl' : ''}`;
      this.#files['sub/text.txt'] = 'from a file below\n';
      this.#files[path] = this.#state({ folder: 'sub/', isTemplate, mayNest: false });
      const selectors = random.chance(0.3) ? `, selectors: [${random.pick(['tier=1', 'k!=0', 'name=web'])}]` : '';
      const values = random.chance(0.4) ? `, values: [${this.#map(2)}]` : '';
      const inherited = selectors === '' && random.chance(0.2) ? ', selectorsInherited: true' : '';
      return `  - { path: ${path}${selectors}${values}${inherited} }`;
    });
  }

  /** Paths and mappings of values. */
  #valuesEntries(at: Place, ofRelease = false): string[] {
    return Array.from({ length: 1 + this.#random.below(2) }, () => {
      const kind = this.#random.next();
      if (kind < 0.2) return this.#valuesFile(at.folder, 'values', this.#random.chance(0.5));
      if (kind < 0.21) return ofRelease ? '"none/{{`{{ .Release.Name }}`}}.yaml"' : 'none.yaml';
      if (kind < 0.45 && at.isTemplate) return `{ shown: ${this.#random.pick(expressions)} }`;
      return this.#map(3);
    });
  }

  #valuesFile(folder: string, name: string, isTemplate: boolean): string {
    const lines = keys
      .filter(() => this.#random.chance(0.5))
      .map((key) => `${key}: ${this.#value(2)}`)
      .concat(isTemplate ? [`shown: ${this.#random.pick(expressions)}`] : []);
    return this.#file(folder, name, isTemplate, lines.length === 0 ? '' : `${lines.join('\n')}\n`);
  }

  /** Answers the path the state names it by. */
  #file(folder: string, name: string, isTemplate: boolean, text: string): string {
    const path = `${name}-${Object.keys(this.#files).length}.yaml${isTemplate ? '.gotmpl' : ''}`;
    this.#files[`${folder}${path}`] = text;
    return path;
  }

  /** An expression for the second rendering, in a text that may be rendered twice. */
  #ownExpression(at: Place): string {
    return this.#escaped(at, this.#random.pick(releaseExpressions));
  }

  #escaped(at: Place, text: string): string {
    return at.isTemplate ? text.replaceAll(/\{\{.*?\}\}/g, (expression) => `{{\`${expression}\`}}`) : text;
  }

  #value(depth: number): string {
    const kind = this.#random.next();
    if (depth > 0 && kind < 0.3) return this.#map(depth - 1);
    if (depth > 0 && kind < 0.45)
      return `[${Array.from({ length: this.#random.below(4) }, () => this.#value(depth - 1)).join(', ')}]`;
    return this.#random.pick(scalars);
  }

  #map(depth: number): string {
    const entries = [...keys, 'x', 'enabled']
      .filter(() => this.#random.chance(0.35))
      .map((key) => `${key}: ${key === 'enabled' ? this.#random.pick(['true', 'false']) : this.#value(depth)}`);
    return entries.length === 0 ? '{}' : `{ ${entries.join(', ')} }`;
  }
}

interface Place {
  /** Of all its releases; otherwise each has its own, and may need one that is not there. */
  readonly namespace: string | undefined;
  /** Where the state lies: `sub/`. */
  readonly folder: string;
  readonly isTemplate: boolean;
  readonly mayNest: boolean;
}
