import { createHash } from 'node:crypto';
import { dirname, join } from 'node:path';
import {
  makeEnvironment,
  watchedEnvironment,
  type EnvironmentOptions,
  type FunctionEnvironment,
} from '../functions/environment.ts';
import type { Value } from '../go/values.ts';
import { TemplateSet } from '../template/template-set.ts';
import { HelmfileCache } from './cache.ts';
import { helmfileFunctions, type ExecProgram, type HelmfileEnvironment } from './functions.ts';
import { errorText } from '../chart/error-text.ts';
import { HelmfileError } from './helmfile-error.ts';
import type { LoadedPart } from './load-state.ts';
import { realPath, type TreeFiles } from './tree-files.ts';

export interface RendererOptions {
  readonly files: TreeFiles;
  readonly variables: Readonly<Record<string, string | undefined>>;
  readonly exec?: ExecProgram | undefined;
  readonly cache: HelmfileCache;
  /** Clock, randomness and zone of the functions. */
  readonly functions?: EnvironmentOptions | undefined;
}

interface RenderRequest {
  /** For messages: the file, or the place in a state. */
  readonly name: string;
  readonly text: string;
  readonly data: Value;
  /** Where relative paths begin. */
  readonly directory: string;
}

/** The name helmfile parses every text under. */
const rootName = 'stringTemplate';

/** Renders helmfile's templates: its functions, `missingkey=error`, and the helpers in `_*.tpl` beside the text. */
export class Renderer {
  readonly files: TreeFiles;
  readonly cache: HelmfileCache;
  readonly #options: RendererOptions;
  readonly #variables: string;
  readonly #functions: FunctionEnvironment;
  /** The files of one load do not change under it. */
  readonly #seen = new Map<string, string>();
  #watching: ((path: string | undefined) => void) | undefined;

  constructor(options: RendererOptions) {
    this.files = options.files;
    this.cache = options.cache;
    this.#options = options;
    this.#functions = makeEnvironment(options.functions);
    this.#variables = JSON.stringify(Object.entries(options.variables).sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  render(request: RenderRequest): string {
    return this.#render(request, (path) => this.touch(path));
  }

  /**
   * Does what many states share once. Remembered by `keys` and by the files that were touched meanwhile, unless it used
   * the clock, randomness or a program.
   */
  remember(keys: readonly string[], load: () => LoadedPart): LoadedPart {
    // What one load may read, another may not.
    const key = HelmfileCache.key(...keys, this.#variables, this.#functions.timeZone, ...this.files.roots);
    const known = this.cache.layer(
      key,
      (path) => this.#look(path),
      (path) => this.touch(path),
    );
    if (known) return known;
    const outer = this.#watching;
    const touched = new Map<string, string>();
    let pure = true;
    this.#watching = (path) => {
      outer?.(path);
      if (path === undefined) pure = false;
      else if (!touched.has(path)) touched.set(path, this.#look(path));
    };
    try {
      const part = load();
      if (pure) this.cache.keepLayer(key, { part, touched });
      return part;
    } finally {
      this.#watching = outer;
    }
  }

  /** Says that what is being done depends on a path, or without one on more than files. */
  touch(path?: string): void {
    this.#watching?.(path);
  }

  #look(path: string): string {
    let seen = this.#seen.get(path);
    if (seen === undefined) this.#seen.set(path, (seen = this.#lookAgain(path)));
    return seen;
  }

  #lookAgain(path: string): string {
    const text = this.files.find(path);
    if (text !== undefined) return createHash('sha256').update(text).digest('base64');
    return JSON.stringify(this.files.list(path) ?? null);
  }

  #render(request: RenderRequest, used: (path: string | undefined) => void): string {
    const { text, data, directory, name } = request;
    if (!text.includes('{{')) return text;
    try {
      return this.#execute(text, data, this.#environment(directory, used));
    } catch (error) {
      throw templateFailure(name, error);
    }
  }

  #execute(text: string, data: Value, environment: HelmfileEnvironment): string {
    const set = new TemplateSet({ functions: helmfileFunctions, missingKey: 'error', environment });
    for (const helper of this.#helpers(environment.directory)) set.add(rootName, helper);
    set.add(rootName, text);
    return set.execute(rootName, data);
  }

  #helpers(directory: string): string[] {
    const touch = (path: string) => this.touch(path);
    const paths = this.files.glob(join(escapePattern(directory), '_*.tpl'), touch);
    return paths.map((path) => {
      // One beside the text belongs to it; a link may lead elsewhere.
      if (dirname(realPath(path)) !== realPath(directory)) this.files.guard(path, 'helper');
      touch(path);
      return this.files.find(path) ?? '';
    });
  }

  #environment(directory: string, used: (path: string | undefined) => void): HelmfileEnvironment {
    const { files, variables, exec } = this.#options;
    const impure = () => used(undefined);
    // The getters of the watched one stay getters.
    const environment: HelmfileEnvironment = Object.assign(
      Object.create(watchedEnvironment(this.#functions, impure)) as FunctionEnvironment,
      {
        including: new Map<string, number>(),
        files,
        directory,
        variables,
        exec:
          exec &&
          ((call: Parameters<ExecProgram>[0]) => {
            impure();
            return exec(call);
          }),
        render: (text: string, data: Value) => this.#execute(text, data, withoutIncludes(environment)),
        touched: used,
      },
    );
    return environment;
  }
}

/** `include` counts per template; a text given to `tpl` is a template of its own. The getters stay getters. */
function withoutIncludes(environment: HelmfileEnvironment): HelmfileEnvironment {
  return Object.create(environment, { including: { value: new Map() } }) as HelmfileEnvironment;
}

function escapePattern(path: string): string {
  return path.replace(/[*?[\\]/g, '\\$&');
}

function templateFailure(name: string, error: unknown): HelmfileError {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (cause instanceof HelmfileError)
      return new HelmfileError(cause.code, `${name}: ${cause.message}`, { cause: error, hint: cause.hint });
  }
  return new HelmfileError('TemplateFailed', `${name}: ${errorText((error as Error).message, 1200)}`, { cause: error });
}
