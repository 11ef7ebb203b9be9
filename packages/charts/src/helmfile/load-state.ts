import { dirname, isAbsolute, join } from 'node:path';
import { mergeInto } from '../functions/dicts.ts';
import { deepCopy, isMap, type GoMap, type Value } from '../go/values.ts';
import { readYaml, YamlError } from '../yaml/read.ts';
import { decodeState, type Spec } from './decode.ts';
import {
  digestOf,
  emptyEnvironment,
  environmentData,
  layer,
  mergeEnvironments,
  valuesOfEnvironment,
  type Environment,
} from './environment.ts';
import { HelmfileError } from './helmfile-error.ts';
import { checkKeyOrder } from './key-order.ts';
import { mergeEnvironmentSpecs, mergeSpecs } from './merge-specs.ts';
import type { Renderer } from './renderer.ts';
import { groupOf, listOf, textOf, textsOf, type State } from './state.ts';
import { stateFields } from './state-schema.ts';
import { helmfileYaml } from './timestamp.ts';

export interface StateSource {
  readonly file: string;
  /** Name of the environment. */
  readonly environment: string;
  /** Values of whoever includes this state: they win over its own. */
  readonly overrides?: Environment | undefined;
}

/** What one part of a state comes to, its bases included. Shared between states: nobody changes it. */
export interface LoadedPart {
  readonly spec: Spec;
  readonly environment: Environment;
}

/**
 * Reads a state file. It is cut into parts at lines of `---`; each part is rendered with the values of the parts before it,
 * then read, completed with its bases, and laid over what is there already.
 */
export class StateLoader {
  readonly #renderer: Renderer;

  constructor(renderer: Renderer) {
    this.#renderer = renderer;
  }

  load(source: StateSource): State {
    const directory = dirname(source.file);
    const { spec, environment } = this.#loadParts(source, directory, undefined, false);
    if (groupOf(spec, 'environments').size === 0 && !source.overrides) this.#checkEnvironment(source, spec);
    return { file: source.file, directory, spec, environment, values: valuesOfEnvironment(environment) };
  }

  #checkEnvironment({ file, environment }: StateSource, spec: Spec): void {
    if (environment === 'default' || groupOf(spec, 'environments').has(environment)) return;
    throw new HelmfileError('UndefinedEnvironment', `${file}: environment "${environment}" is not defined`);
  }

  /** A base's paths are relative to the state that names it, whatever its own directory. */
  #loadParts(source: StateSource, directory: string, inherited: Environment | undefined, isBase: boolean): LoadedPart {
    const { file, overrides } = source;
    const text = this.#renderer.files.find(file);
    if (text === undefined) throw new HelmfileError('NotFound', `${file}: no such file`);
    const spec: Spec = new Map();
    let environment = inherited;
    this.#renderer.touch(file);
    const lines = text.replaceAll('\r\n', '\n');
    checkKeyOrder(lines, file);
    let linesBefore = 0;
    for (const [index, part] of lines.split('\n---\n').entries()) {
      const before = '\n'.repeat(linesBefore);
      linesBefore += part.split('\n').length + 1;
      const context = mergeEnvironments(environment, overrides);
      const isTemplate = file.endsWith('.gotmpl');
      const keys = [part, directory, source.environment, context ? digestOf(context) : '', `${isBase} ${isTemplate}`];
      const loaded = this.#renderer.remember(keys, () => {
        const documents = isTemplate
          ? this.#renderPart(part, index, file, directory, context ?? emptyEnvironment(source.environment))
          : // Its messages count the lines of the file.
            decodeState(before + part, file);
        return this.#loadPart(documents, { ...source, overrides: undefined }, directory, context, isBase);
      });
      mergeSpecs(spec, loaded.spec, stateFields, 'replace');
      environment = environment && index > 0 ? over(environment, loaded.environment) : loaded.environment;
      // The first part that defines any has to define this one, too: the parts after it are rendered with its values.
      if (!isBase && groupOf(spec, 'environments').size > 0) this.#checkEnvironment(source, spec);
    }
    return { spec, environment: environment! };
  }

  #renderPart(part: string, index: number, file: string, directory: string, context: Environment): Spec[] {
    const name = `${file}, part ${index}`;
    const text = this.#renderer.render({ name, text: part, data: environmentData(context), directory });
    return decodeState(text, file, `${name}, as rendered`);
  }

  #loadPart(
    documents: readonly Spec[],
    source: StateSource,
    directory: string,
    context: Environment | undefined,
    isBase: boolean,
  ): LoadedPart {
    const { file } = source;
    const spec: Spec = new Map();
    for (const document of documents) mergeSpecs(spec, document, stateFields, 'append');
    const bases = textsOf(spec, 'bases');
    if (isBase && bases.length > 0)
      throw new HelmfileError('Unsupported', `${file}: bases: a base cannot have bases of its own`);
    const complete = this.#withBases(spec, bases, source, directory, context);
    return { spec: complete, environment: this.#environmentOf(complete, source, directory, context) };
  }

  #withBases(
    spec: Spec,
    bases: readonly string[],
    source: StateSource,
    directory: string,
    context: Environment | undefined,
  ): Spec {
    if (bases.length === 0) return spec;
    const layers = bases.map((base) => {
      const file = isAbsolute(base) ? base : join(directory, base);
      if (this.#renderer.files.find(file) === undefined) {
        const problem = this.#renderer.files.isDirectory(file) ? 'is a directory' : `does not exist in ${directory}`;
        throw new HelmfileError('NotFound', `${source.file}: bases: ${base} ${problem}`);
      }
      return this.#loadParts({ ...source, file }, directory, context, true).spec;
    });
    const merged: Spec = new Map();
    const environments: Spec = new Map();
    for (const each of [...layers, spec]) {
      mergeEnvironmentSpecs(environments, groupOf(each, 'environments'));
      const others: Spec = new Map([...each].filter(([key]) => key !== 'environments'));
      mergeSpecs(merged, others, stateFields, 'append');
    }
    if (environments.size > 0) merged.set('environments', environments);
    return merged;
  }

  #environmentOf(spec: Spec, source: StateSource, directory: string, context: Environment | undefined): Environment {
    const { environment: name, file } = source;
    const own = groupOf(spec, 'environments').get(name) as Spec | undefined;
    const place = `environments.${name}.values`;
    const values = own
      ? this.loadValues(listOf(own, 'values'), {
          file,
          directory,
          place,
          context: context ?? emptyEnvironment(name),
          missing: textOf(own, 'missingFileHandler'),
        })
      : new Map<string, Value>();
    const defaults = this.loadValues(listOf(spec, 'values'), {
      file,
      directory,
      place: 'values',
      context: context ?? emptyEnvironment(name),
      missing: '',
    });
    const inherited = deepCopy(context?.defaults ?? new Map<string, Value>());
    mergeInto(inherited, defaults, true);
    return {
      name: context?.name || name,
      kubeContext: context?.kubeContext || (own ? textOf(own, 'kubeContext') : ''),
      values: layer(context?.values ?? new Map(), values),
      defaults: inherited,
      set: context?.set ?? new Map(),
    };
  }

  /** Inline maps and files of values, laid over each other in order; here a null does take something away. */
  loadValues(entries: readonly Value[], options: LoadValuesOptions): GoMap {
    const result: GoMap = new Map();
    for (const [index, entry] of entries.entries()) {
      const maps = isMap(entry) ? [deepCopy(entry)] : this.#valuesFiles(entry as string, index, options);
      for (const map of maps) mergeInto(result, map, true);
    }
    return result;
  }

  #valuesFiles(entry: string, index: number, options: LoadValuesOptions): GoMap[] {
    const { file, directory, place, context, missing } = options;
    const paths = resolveValuesPaths(this.#renderer, entry, { file, directory, place: `${place}[${index}]`, missing });
    return paths.map((path) => {
      if (path.endsWith('.hcl'))
        throw new HelmfileError(
          'Unsupported',
          `${file}: ${place}[${index}]: ${entry}: values in HCL are not supported`,
        );
      const text = textOfFile(this.#renderer, path);
      const rendered = path.endsWith('.gotmpl')
        ? this.#renderer.render({ name: path, text, data: environmentData(context), directory: dirname(path) })
        : text;
      return readValues(this.#renderer, rendered, path);
    });
  }
}

interface LoadValuesOptions {
  readonly file: string;
  readonly directory: string;
  /** Where in the file, for messages. */
  readonly place: string;
  readonly context: Environment;
  /** `missingFileHandler` */
  readonly missing: string;
}

/** Parts after the first lie over it as mergo does it: a null replaces. */
function over(base: Environment, part: Environment): Environment {
  const values = deepCopy(base.values);
  const defaults = deepCopy(base.defaults);
  mergeInto(values, deepCopy(part.values), true);
  mergeInto(defaults, deepCopy(part.defaults), true);
  return { name: part.name, kubeContext: part.kubeContext || base.kubeContext, values, defaults, set: part.set };
}

const missingFileHandlers = new Set(['', 'Error', 'Warn', 'Info', 'Debug']);

/** The files a path or pattern in a list of values stands for. */
export function resolveValuesPaths(
  renderer: Renderer,
  entry: string,
  where: { file: string; directory: string; place: string; missing: string },
): string[] {
  const { file, directory, place, missing } = where;
  if (!missingFileHandlers.has(missing))
    throw new HelmfileError(
      'InvalidState',
      `${file}: missingFileHandler "${missing}" for ${place} must be one of Error, Warn, Info, Debug`,
    );
  if (/^[a-z0-9+.-]+::|^[a-z0-9+.-]+:\/\//i.test(entry))
    throw new HelmfileError('Unsupported', `${file}: ${place}: ${entry}: remote files are not supported`);
  const pattern = isAbsolute(entry) ? entry : join(directory, entry);
  const touch = (path: string) => renderer.touch(path);
  // A file that appears changes the result, too.
  const paths = renderer.files.glob(pattern, touch);
  paths.forEach(touch);
  if (paths.length === 0 && (missing === '' || missing === 'Error'))
    throw new HelmfileError('NotFound', `${file}: ${place}: ${entry} does not exist in ${directory}`);
  return paths;
}

/** The text of a path that was found; it may be a directory. */
export function textOfFile(renderer: Renderer, path: string): string {
  const text = renderer.files.find(path);
  if (text === undefined) throw new HelmfileError('NotFound', `${path} is no file`);
  return text;
}

/** The mapping a rendered values file holds. */
export function readValues(renderer: Renderer, text: string, path: string): GoMap {
  let value: Value;
  try {
    value = renderer.cache.document(text, () => readYaml(text, helmfileYaml));
  } catch (error) {
    if (!(error instanceof YamlError)) throw error;
    throw new HelmfileError('InvalidState', `${path}: ${error.message}`, { cause: error });
  }
  if (value === null) return new Map();
  if (!isMap(value)) throw new HelmfileError('InvalidState', `${path}: values must be a mapping`);
  return value;
}
