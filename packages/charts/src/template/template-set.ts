import type { Value } from '../go/values.ts';
import { builtins } from './builtins.ts';
import { compile } from './compile.ts';
import { KnownActions } from './known-actions.ts';
import { isEmptyTree } from './nodes.ts';
import { parse } from './parser.ts';
import { execute, type Executable, type FunctionTable, type MissingKey, type TemplateLookup } from './run.ts';

/** What templates are run with. */
export interface TemplateSetOptions {
  /** Functions besides Go's own; they take precedence over those. */
  functions?: FunctionTable;
  /** Default `invalid`, as in Go. Helm uses `zero`, helmfile `error`. */
  missingKey?: MissingKey;
  /** What the functions need from outside. */
  environment?: object;
}

/**
 * Templates that can call each other by name.
 *
 * @example
 * const set = new TemplateSet();
 * set.add('hello', 'Hello {{ .name }}!');
 * set.execute('hello', new Map([['name', 'world']])); // => 'Hello world!'
 */
export class TemplateSet implements TemplateLookup {
  readonly functions: FunctionTable;
  readonly missingKey: MissingKey;
  readonly environment: object;
  readonly #own = new Map<string, Executable>();
  readonly #parent: TemplateSet | undefined;

  constructor(options: TemplateSetOptions = {}, parent?: TemplateSet) {
    this.functions = options.functions ?? new Map();
    this.missingKey = options.missingKey ?? 'invalid';
    this.environment = options.environment ?? {};
    this.#parent = parent;
  }

  /** A set that sees everything in this one; what is added to it stays in it. */
  clone(): TemplateSet {
    return new TemplateSet(this, this);
  }

  /** Parses a text and adds the templates it defines. A blank one does not replace one that says something. */
  add(name: string, text: string): void {
    for (const executable of parseTemplate(name, text, this.functions)) this.adopt(executable);
  }

  /** Adds what an earlier {@link parseTemplate} found, by the same rule. */
  adopt(executable: Executable): void {
    const { name, root } = executable.tree;
    const present = this.lookup(name);
    if (present && isEmptyTree(root) && !isEmptyTree(present.tree.root)) return;
    this.#own.set(name, executable);
  }

  /** Adds a template whatever was there before. */
  replace(executable: Executable): void {
    this.#own.set(executable.tree.name, executable);
  }

  lookup(name: string): Executable | undefined {
    return this.#own.get(name) ?? this.#parent?.lookup(name);
  }

  execute(name: string, data: Value): string {
    return execute(this, name, data, this);
  }
}

/** What was parsed lately, by function table. Parsing is a large part of a render. */
const parsed = new WeakMap<FunctionTable, ParsedTemplates>();

/** By text and then by name: one string for both would be a copy of every text. */
class ParsedTemplates {
  readonly actions = new KnownActions();
  readonly #entries = new Map<string, Map<string, readonly Executable[]>>();
  #size = 0;
  static readonly maxSize = 64 * 1024 * 1024;

  get(name: string, text: string): readonly Executable[] | undefined {
    const found = this.#entries.get(text);
    if (found) {
      // Last used, last dropped.
      this.#entries.delete(text);
      this.#entries.set(text, found);
    }
    return found?.get(name);
  }

  set(name: string, text: string, executables: readonly Executable[]): void {
    const present = this.#entries.get(text);
    if (present) present.set(name, executables);
    else this.#entries.set(text, new Map([[name, executables]]));
    this.#size += text.length;
    for (const [oldest, names] of this.#entries) {
      if (this.#size <= ParsedTemplates.maxSize) break;
      this.#entries.delete(oldest);
      this.#size -= oldest.length * names.size;
    }
  }
}

/** Reads a text: itself under `name`, and each template it defines. The same text is read once. */
export function parseTemplate(name: string, text: string, functions: FunctionTable = new Map()): readonly Executable[] {
  let cache = parsed.get(functions);
  if (!cache) parsed.set(functions, (cache = new ParsedTemplates()));
  const known = cache.get(name, text);
  if (known) return known;
  const trees = parse(name, text, (called) => functions.has(called) || builtins.has(called), cache.actions);
  const executables = [...trees.values()].map((tree) => compile(tree, functions, cache.actions));
  cache.set(name, text, executables);
  return executables;
}
