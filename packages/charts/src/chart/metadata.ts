import { sprintf } from '../go/format.ts';
import { isMap, nilMap, typed, type GoMap, type Value } from '../go/values.ts';
import { SemverVersion } from '../functions/semver-version.ts';
import { quote } from '../go/quote.ts';
import { ChartError } from './chart-error.ts';
import type { ChartDependency, ChartMaintainer, ChartMetadata } from './chart.ts';

/** Makes metadata of what Chart.yaml and requirements.yaml say. */
export function readMetadata(fields: GoMap): ChartMetadata {
  const maintainers = structs(fields, 'maintainers');
  const dependencies = structs(fields, 'dependencies');
  const metadata: ChartMetadata = {
    name: clean(text(fields, 'name')),
    version: text(fields, 'version'),
    apiVersion: text(fields, 'apiVersion') || 'v1',
    description: clean(text(fields, 'description')),
    type: text(fields, 'type'),
    appVersion: clean(text(fields, 'appVersion')),
    kubeVersion: clean(text(fields, 'kubeVersion')),
    home: clean(text(fields, 'home')),
    icon: clean(text(fields, 'icon')),
    condition: clean(text(fields, 'condition')),
    tags: clean(text(fields, 'tags')),
    deprecated: fields.get('deprecated') === true,
    sources: texts(fields, 'sources').map(clean),
    keywords: texts(fields, 'keywords').map(clean),
    maintainers: maintainers.filter(isMap).map(readMaintainer),
    annotations: textMap(fields, 'annotations'),
    dependencies: dependencies.filter(isMap).map(readDependency),
  };
  validate(metadata);
  if (maintainers.includes(null)) throw invalid('maintainers must not contain empty or null nodes');
  validateDependencies(metadata, dependencies.indexOf(null));
  return metadata;
}

function readMaintainer(map: GoMap): ChartMaintainer {
  return { name: clean(text(map, 'name')), email: clean(text(map, 'email')), url: clean(text(map, 'url')) };
}

function readDependency(map: GoMap): ChartDependency {
  return {
    name: clean(text(map, 'name')),
    version: clean(text(map, 'version')),
    repository: clean(text(map, 'repository')),
    condition: clean(text(map, 'condition')),
    tags: texts(map, 'tags').map(clean),
    importValues: importValues(map.get('import-values')),
    alias: text(map, 'alias'),
  };
}

function importValues(value: Value): ChartDependency['importValues'] {
  if (!Array.isArray(value)) return [];
  const imports: (string | { child: string; parent: string })[] = [];
  for (const item of value) {
    if (typeof item === 'string') imports.push(item);
    else if (isMap(item)) imports.push({ child: shownPath(item.get('child')), parent: shownPath(item.get('parent')) });
  }
  return imports;
}

/** A path that is no text, or that is not there, is what Go prints for it. */
function shownPath(value: Value): string {
  return sprintf('%v', [typeof value === 'bigint' ? Number(value) : (value ?? null)]);
}

function validate({ name, version, type }: ChartMetadata): void {
  if (name === '') throw invalid('chart.metadata.name is required');
  if (name === '.' || name === '..') throw invalid(`chart.metadata.name ${quote(name)} is not allowed`);
  if (name.includes('/')) throw invalid(`chart.metadata.name ${quote(name)} is invalid`);
  if (version === '') throw invalid('chart.metadata.version is required');
  if (!isVersion(version)) throw invalid(`chart.metadata.version ${quote(version)} is invalid`);
  if (type !== '' && type !== 'application' && type !== 'library')
    throw invalid('chart.metadata.type must be application or library');
}

/** One by one, for the first that is wrong is the one that is named; `empty` is the place of one that is not there. */
function validateDependencies({ dependencies }: ChartMetadata, empty: number): void {
  const seen = new Set<string>();
  for (const [index, { name, alias }] of dependencies.entries()) {
    if (index === empty) break;
    if (alias !== '' && !/^[a-zA-Z0-9_-]+$/.test(alias))
      throw invalid(`dependency ${quote(name)} has disallowed characters in the alias`);
    const key = alias || name;
    if (seen.has(key)) throw invalid(`more than one dependency with name or alias ${quote(key)}`);
    seen.add(key);
  }
  if (empty >= 0) throw invalid('dependencies must not contain empty or null nodes');
}

function isVersion(version: string): boolean {
  try {
    SemverVersion.parse(version);
    return /^[\x20-\x7e]*$/.test(version);
  } catch {
    return false;
  }
}

function invalid(message: string): ChartError {
  return new ChartError('InvalidChart', `validation: ${message}`);
}

/** Control characters have no place on a terminal. */
function clean(value: string): string {
  return value.replace(/\p{White_Space}/gu, ' ').replace(/[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/gu, '');
}

/** A text of decoded fields. */
export function text(fields: GoMap, key: string): string {
  return (fields.get(key) as string | undefined) ?? '';
}

function texts(fields: GoMap, key: string): string[] {
  return (fields.get(key) as string[] | null | undefined) ?? [];
}

function structs(fields: GoMap, key: string): (GoMap | null)[] {
  return (fields.get(key) as (GoMap | null)[] | null | undefined) ?? [];
}

function textMap(fields: GoMap, key: string): Record<string, string> {
  return Object.fromEntries((fields.get(key) as Map<string, string> | null | undefined) ?? []);
}

/**
 * `.Chart` as templates see it: every field by its Go name, whether it was written or not. The dependencies have their aliases for
 * names and are enabled once they are settled.
 */
export function metadataAsMap(metadata: ChartMetadata, isRoot: boolean, isSettled: boolean): GoMap {
  return new Map<string, Value>([
    ['Name', metadata.name],
    ['Home', metadata.home],
    ['Sources', [...metadata.sources]],
    ['Version', metadata.version],
    ['Description', metadata.description],
    ['Keywords', [...metadata.keywords]],
    [
      'Maintainers',
      metadata.maintainers.map(
        ({ name, email, url }) =>
          new Map([
            ['Name', name],
            ['Email', email],
            ['URL', url],
          ]),
      ),
    ],
    ['Icon', metadata.icon],
    ['APIVersion', metadata.apiVersion],
    ['Condition', metadata.condition],
    ['Tags', metadata.tags],
    ['AppVersion', metadata.appVersion],
    ['Deprecated', metadata.deprecated],
    ['Annotations', typedAnnotations(metadata.annotations)],
    ['KubeVersion', metadata.kubeVersion],
    ['Dependencies', metadata.dependencies.map((dependency) => dependencyAsMap(dependency, isSettled))],
    ['Type', metadata.type],
    ['IsRoot', isRoot],
  ]);
}

function typedAnnotations(annotations: Readonly<Record<string, string>>): GoMap {
  const type = 'map[string]string';
  const entries = Object.entries(annotations);
  return entries.length === 0 ? nilMap(type) : typed(new Map<string, Value>(entries), type);
}

function dependencyAsMap(dependency: ChartDependency, isSettled: boolean): GoMap {
  return new Map<string, Value>([
    ['Name', (isSettled && dependency.alias) || dependency.name],
    ['Version', dependency.version],
    ['Repository', dependency.repository],
    ['Condition', dependency.condition],
    ['Tags', [...dependency.tags]],
    ['Enabled', isSettled],
    [
      'ImportValues',
      dependency.importValues.map((item) =>
        typed(
          typeof item === 'string'
            ? new Map<string, Value>([
                ['child', `exports.${item}`],
                ['parent', '.'],
              ])
            : new Map<string, Value>([
                ['child', item.child],
                ['parent', item.parent],
              ]),
          'map[string]string',
        ),
      ),
    ],
    ['Alias', dependency.alias],
  ]);
}
