import type { Evaluate } from './compile-expression.ts';
import type { PipeNode } from './nodes.ts';

/** The beginning of an action as it was parsed where its text stood first. Positions in it count from the start of that text. */
export interface KnownAction {
  readonly type: 'action' | 'if' | 'range' | 'with' | 'template' | 'else' | 'end';
  readonly pos: number;
  readonly pipe: PipeNode | undefined;
  /** Of the template that is called. */
  readonly name: string | undefined;
  /** Variables that must be there already. */
  readonly needs: readonly string[];
  /** Variables that are there from now on. */
  readonly declares: readonly string[];
}

/** Longer ones are hardly ever written twice. */
const longestText = 400;
const mostActions = 50_000;
/** Characters of all templates that a text in use was cut from: they are kept as long as it is. */
const mostKept = 32 * 1024 * 1024;

/**
 * Actions by their text. A chart says the same again and again: three of four actions of a large one stand in it more than once. What is
 * known is neither cut into tokens nor parsed nor compiled again. Holds for one table of functions.
 */
export class KnownActions {
  readonly #actions = new Map<string, KnownAction>();
  /** Pipelines of actions that were compiled and mean the same wherever they stand: where dot is no element of a container, and where it is. */
  readonly compiled: readonly [Map<PipeNode, Evaluate>, Map<PipeNode, Evaluate>] = [new Map(), new Map()];
  #kept = 0;

  /** Where the text of an action that begins at `start` ends if it has no delimiter in a string, or -1. */
  static endOf(text: string, start: number): number {
    const end = text.indexOf('}}', start);
    return end - start > longestText ? -1 : end;
  }

  get(action: string): KnownAction | undefined {
    return this.#actions.get(action);
  }

  set(action: string, known: KnownAction): void {
    if (this.#actions.size >= mostActions) this.#clear();
    this.#actions.set(action, known);
  }

  /** Says that actions come from a text of this length. */
  keep(length: number): void {
    this.#kept += length;
    if (this.#kept <= mostKept) return;
    this.#clear();
    this.#kept = length;
  }

  #clear(): void {
    this.#actions.clear();
    for (const pipes of this.compiled) pipes.clear();
  }
}
