import { byteLength } from '../go/bytes.ts';
import { quote } from '../go/quote.ts';
import type { GoFunction, Value } from '../go/values.ts';
import { nodeText, type PlacedNode } from './nodes.ts';
import type { Tree } from './parser.ts';
import { TemplateExecError, type TemplatePlace } from './template-error.ts';

/** What a key that a map does not have stands for: nothing, the nil of its type (Helm), or an error (helmfile). */
export type MissingKey = 'invalid' | 'zero' | 'error';

/** A function templates can call; `fn`, `variadic` and `inRun` make them. */
export type TemplateFunction = GoFunction<Run>;
/** Functions by the names templates call them by. */
export type FunctionTable = ReadonlyMap<string, TemplateFunction>;

/** What a statement asks the loop around it to do. */
export const flow = { next: 0, break: 1, continue: 2 } as const;
export type Flow = (typeof flow)[keyof typeof flow];
export type Statement = (run: Run, dot: Value) => Flow;

/** A template that can run. Its statements are made when it first does. */
export interface Executable {
  readonly tree: Tree;
  readonly statement: () => Statement;
}

/** Where a run finds other templates. */
export interface TemplateLookup {
  lookup(name: string): Executable | undefined;
}

/** Deeper calls than this are a template that calls itself for ever. */
const maxDepth = 100_000;
/** What a function may answer. No text in a manifest comes near; one that grows with every call soon does. */
export const longestText = 16 * 1024 * 1024;
/** No manifest comes near; a template that doubles its output for ever does. */
const maxOutputLength = 256 * 1024 * 1024;

/** Rounds of loops and calls of templates. The largest charts take some ten thousand; what takes more has no end in sight. */
const maxSteps = 5_000_000;

/** Characters of a text, or items of a list or a map, that count as one step. */
const readPerStep = 100;

interface RunOptions {
  readonly missingKey: MissingKey;
  readonly environment: object;
  /** Those of the run that includes this one. Default: none were taken yet. */
  readonly steps?: { taken: number };
}

/** One execution: its output, variables and place. */
export class Run {
  readonly templates: TemplateLookup;
  readonly missingKey: MissingKey;
  /** What functions need from outside: clock, randomness, lookups. Each table of functions knows its own kind. */
  readonly environment: object;
  out = '';
  variables: Value[] = [];
  template: Tree;
  node: PlacedNode | undefined;
  /** Where the action begins that `node` is in. */
  start = 0;
  /** What the innermost loop goes over. */
  looped: Value;
  #depth = 0;
  readonly steps: { taken: number };

  constructor(templates: TemplateLookup, template: Tree, options: RunOptions) {
    this.templates = templates;
    this.template = template;
    this.missingKey = options.missingKey;
    this.environment = options.environment;
    this.steps = options.steps ?? { taken: 0 };
  }

  /** Counts a round of a loop, or a call, which takes some five times as long. */
  step(cost = 1): void {
    this.steps.taken += cost;
    if (this.steps.taken > maxSteps) this.fail(`the templates take more than ${maxSteps} steps`);
  }

  /** Counts what a function reads or writes: a loop over a long text or list is no cheaper for being inside a function. */
  countRead(value: Value): void {
    let size = 0;
    if (typeof value === 'string' || Array.isArray(value)) size = value.length;
    else if (value instanceof Map) size = value.size;
    if (size >= readPerStep) this.step(Math.floor(size / readPerStep));
  }

  /** Runs a template with variables of its own, then goes on where it was. */
  invoke(executable: Executable, dot: Value): void {
    if (this.#depth >= maxDepth) this.fail(`exceeded maximum template depth (${maxDepth})`);
    this.step(5);
    const { variables, template, node, start } = this;
    this.#depth += 1;
    this.variables = [dot];
    this.template = executable.tree;
    executable.statement()(this, dot);
    this.#depth -= 1;
    this.variables = variables;
    this.template = template;
    this.node = node;
    this.start = start;
    if (this.out.length > maxOutputLength) this.fail(`more than ${maxOutputLength} characters of output`);
  }

  fail(detail: string, cause?: unknown): never {
    throw new TemplateExecError(detail, this.place(), this.template.name, cause === undefined ? {} : { cause });
  }

  place(): TemplatePlace | undefined {
    if (!this.node) return undefined;
    const { name, text } = this.template.source;
    const before = text.slice(0, this.start + this.node.pos);
    const lineStart = before.lastIndexOf('\n') + 1;
    const line = before.split('\n').length;
    const location = `${name}:${line}:${byteLength(before.slice(lineStart))}`;
    return { location, template: this.template.name, expression: nodeText(this.node) };
  }
}

/** Runs a template from its beginning and answers what it wrote. */
export function execute(
  templates: TemplateLookup,
  name: string,
  dot: Value,
  options: RunOptions & { within?: string },
): string {
  const executable = templates.lookup(name);
  if (!executable)
    throw new Error(
      `template: no template ${quote(name)} associated with template ${quote(options.within ?? 'gotpl')}`,
    );
  const run = new Run(templates, executable.tree, options);
  try {
    run.invoke(executable, dot ?? undefined);
  } catch (error) {
    // Whatever was called last may have failed for it in words of its own.
    if (error instanceof Error && error.message.includes(overflowText))
      run.fail('exceeded maximum template depth: the templates call each other without end', error);
    throw error;
  }
  return run.out;
}

/** Compared without a call: there is no stack left for one, and a regular expression would fail to compile in its own words. */
export function isStackOverflow(error: unknown): boolean {
  return error instanceof RangeError && error.message === overflowText;
}

const overflowText = 'Maximum call stack size exceeded';
