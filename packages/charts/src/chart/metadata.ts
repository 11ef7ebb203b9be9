import { isMap, nilMap, typed, typeOf, type GoMap, type Value } from '../go/values.ts';
import { SemverVersion } from '../functions/semver-version.ts';
import { quote } from '../go/quote.ts';
import { wantedText } from '../yaml/wanted-text.ts';
import { ChartError } from './chart-error.ts';
import type { ChartDependency, ChartMaintainer, ChartMetadata } from './chart.ts';

/** Reads Chart.yaml. Wrong types are refused as Helm's decoder refuses them. */
export function readMetadata(document: Value, requirements: GoMap | undefined): ChartMetadata {
  const map = isMap(document) ? document : new Map<string, Value>();
  const source = requirements?.has('dependencies')
    ? new Map([...map, ['dependencies', requirements.get('dependencies')]])
    : map;
  const metadata: ChartMetadata = {
    name: clean(text(source, 'name')),
    version: text(source, 'version'),
    apiVersion: text(source, 'apiVersion') || 'v1',
    description: clean(text(source, 'description')),
    type: text(source, 'type'),
    appVersion: clean(text(source, 'appVersion')),
    kubeVersion: clean(text(source, 'kubeVersion')),
    home: clean(text(source, 'home')),
    icon: clean(text(source, 'icon')),
    condition: clean(text(source, 'condition')),
    tags: clean(text(source, 'tags')),
    deprecated: flag(source, 'deprecated'),
    sources: texts(source, 'sources').map(clean),
    keywords: texts(source, 'keywords').map(clean),
    maintainers: maps(source, 'maintainers').map(readMaintainer),
    annotations: stringMap(source, 'annotations'),
    dependencies: maps(source, 'dependencies').map(readDependency),
  };
  validate(metadata);
  return metadata;
}

/** The texts of Chart.yaml as they are written; types are looked at, what they say is not. */
export function readMetadataText(document: Value): Readonly<Record<string, string>> {
  const map = isMap(document) ? document : new Map<string, Value>();
  const keys = ['name', 'version', 'apiVersion', 'appVersion', 'icon', 'type', 'description', 'home', 'kubeVersion'];
  return Object.fromEntries(keys.map((key) => [key, text(map, key)]));
}

function readMaintainer(map: GoMap): ChartMaintainer {
  return { name: clean(text(map, 'name')), email: clean(text(map, 'email')), url: clean(text(map, 'url')) };
}

function readDependency(map: GoMap): ChartDependency {
  const alias = clean(text(map, 'alias'));
  if (alias !== '' && !/^[a-zA-Z0-9_-]+$/.test(alias))
    throw invalid(`dependency ${quote(text(map, 'name'))} has disallowed characters in the alias`);
  return {
    name: clean(text(map, 'name')),
    version: clean(text(map, 'version')),
    repository: clean(text(map, 'repository')),
    condition: clean(text(map, 'condition')),
    tags: texts(map, 'tags').map(clean),
    importValues: importValues(map.get('import-values')),
    alias,
  };
}

function importValues(value: Value): ChartDependency['importValues'] {
  if (!Array.isArray(value)) return [];
  const imports: (string | { child: string; parent: string })[] = [];
  for (const item of value) {
    if (typeof item === 'string') imports.push(item);
    else if (isMap(item)) imports.push({ child: String(item.get('child')), parent: String(item.get('parent')) });
  }
  return imports;
}

function validate(metadata: ChartMetadata): void {
  const { name, version, type } = metadata;
  if (name === '') throw invalid('chart.metadata.name is required');
  if (name === '.' || name === '..') throw invalid(`chart.metadata.name ${quote(name)} is not allowed`);
  if (name.includes('/')) throw invalid(`chart.metadata.name ${quote(name)} is invalid`);
  if (version === '') throw invalid('chart.metadata.version is required');
  if (!isVersion(version)) throw invalid(`chart.metadata.version ${quote(version)} is invalid`);
  if (type !== '' && type !== 'application' && type !== 'library')
    throw invalid('chart.metadata.type must be application or library');
  const seen = new Set<string>();
  for (const dependency of metadata.dependencies) {
    const key = dependency.alias || dependency.name;
    if (seen.has(key)) throw invalid(`more than one dependency with name or alias ${quote(key)}`);
    seen.add(key);
  }
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
  return value.replace(/\s/gu, ' ').replace(/[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/gu, '');
}

function wrongType(key: string, value: Value, wanted: string): ChartError {
  return new ChartError(
    'InvalidChart',
    `cannot load Chart.yaml: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal ${typeOf(value)} into Go struct field Metadata.${key} of type ${wanted}`,
  );
}

function text(map: GoMap, key: string): string {
  const value = map.get(key);
  if (value === undefined || value === null) return '';
  return textOf(key, value);
}

function textOf(key: string, value: Value): string {
  const wanted = wantedText(value);
  if (wanted === undefined) throw wrongType(key, value, 'string');
  return wanted;
}

function flag(map: GoMap, key: string): boolean {
  const value = map.get(key);
  if (value === undefined || value === null) return false;
  if (typeof value !== 'boolean') throw wrongType(key, value, 'bool');
  return value;
}

function list(map: GoMap, key: string): Value[] {
  const value = map.get(key);
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) throw wrongType(key, value, '[]');
  return value;
}

function texts(map: GoMap, key: string): string[] {
  return list(map, key).map((item) => {
    return item === null ? '' : textOf(key, item);
  });
}

function maps(map: GoMap, key: string): GoMap[] {
  return list(map, key).map((item) => {
    if (!isMap(item)) throw wrongType(key, item, 'struct');
    return item;
  });
}

function stringMap(map: GoMap, key: string): Record<string, string> {
  const value = map.get(key);
  if (value === undefined || value === null) return {};
  if (!isMap(value)) throw wrongType(key, value, 'map[string]string');
  return Object.fromEntries(
    [...value].map(([name, item]) => {
      return [name, item === null ? '' : textOf(`${key}.${name}`, item)];
    }),
  );
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
