import { checkExpandedSize } from '../go/expanded-size.ts';
import { show } from '../go/format.ts';
import { GoObject, integerOf, isTrue, SizedInt, sortedKeys, typeOf, type GoMap, type Value } from '../go/values.ts';
import { quote } from '../go/quote.ts';
import { ExpressionCompiler, type Evaluate } from './compile-expression.ts';
import type { KnownActions } from './known-actions.ts';
import { nodeText, type BranchNode, type ListItem, type TemplateNode, type TextNode } from './nodes.ts';
import type { Tree } from './parser.ts';
import { flow, type Executable, type Flow, type FunctionTable, type Run, type Statement } from './run.ts';

/**
 * Turns a parsed template into closures. The statements are here, the expressions in `compile-expression.ts`. What Go keeps
 * on a stack of named variables while it runs, we settle beforehand: each declaration gets a slot of its own.
 */
export function compile(tree: Tree, functions: FunctionTable, known: KnownActions): Executable {
  let made: Statement | undefined;
  return { tree, statement: () => (made ??= new StatementCompiler(functions, known, tree).list(tree.root)) };
}

function shown(run: Run, value: Value): string {
  try {
    checkExpandedSize(value);
  } catch (error) {
    run.fail((error as Error).message, error);
  }
  return value instanceof GoObject ? value.printed() : show(value);
}

/** Notes that an action is run. */
function enter(run: Run, item: Exclude<ListItem, TextNode>): void {
  run.node = item;
  run.start = item.start;
}

class StatementCompiler {
  readonly #expressions: ExpressionCompiler;

  constructor(functions: FunctionTable, known: KnownActions, { source }: Tree) {
    this.#expressions = new ExpressionCompiler(functions, known, source.assignsRoot);
  }

  list(items: readonly ListItem[]): Statement {
    const statements = items.map((item) => this.#statement(item));
    if (statements.length === 1) return statements[0]!;
    return (run, dot) => {
      for (let i = 0; i < statements.length; i += 1) {
        const result = statements[i]!(run, dot);
        if (result !== flow.next) return result;
      }
      return flow.next;
    };
  }

  /** A branch, whose statements are made when it is first taken: with the values at hand, most branches of a chart never are. */
  #whenTaken(items: readonly ListItem[]): Statement {
    const names = this.#expressions.names();
    let made: Statement | undefined;
    return (run, dot) => (made ??= this.#expressions.among(names, () => this.list(items)))(run, dot);
  }

  #statement(item: ListItem): Statement {
    switch (item.type) {
      case 'text': {
        const { text } = item;
        return (run) => {
          run.out += text;
          return flow.next;
        };
      }
      case 'action': {
        const value = this.#expressions.action(item.pipe);
        if (item.pipe.variables.length > 0) {
          return (run, dot) => {
            enter(run, item);
            value(run, dot);
            return flow.next;
          };
        }
        return (run, dot) => {
          enter(run, item);
          const result = value(run, dot);
          if (typeof result === 'string') run.out += result;
          else {
            run.node = item;
            if (result instanceof GoObject && result.goKind === 'func')
              run.fail(`can't print ${nodeText(item)} of type ${typeOf(result)}`);
            run.out += result === undefined ? '<no value>' : shown(run, result);
          }
          return flow.next;
        };
      }
      case 'if':
      case 'with':
        return this.#ifOrWith(item);
      case 'range':
        return this.#range(item);
      case 'template':
        return this.#template(item);
      case 'break':
        return () => flow.break;
      case 'continue':
        return () => flow.continue;
      case 'else':
      case 'end':
        throw new Error(`a parser left ${nodeText(item)} in a tree`);
    }
  }

  #ifOrWith(item: BranchNode): Statement {
    const scope = this.#expressions.enter();
    const condition = this.#expressions.action(item.pipe);
    const withDot = item.type === 'with';
    const outer = this.#expressions.dotIsElement;
    if (withDot) this.#expressions.dotIsElement = false;
    const then = this.#whenTaken(item.list);
    this.#expressions.dotIsElement = outer;
    const otherwise = item.elseList ? this.#whenTaken(item.elseList) : undefined;
    this.#expressions.leave(scope);
    return (run, dot) => {
      enter(run, item);
      const value = condition(run, dot);
      if (isTrue(value)) return then(run, withDot ? value : dot);
      return otherwise ? otherwise(run, dot) : flow.next;
    };
  }

  #range(item: BranchNode): Statement {
    const { pipe } = item;
    const scope = this.#expressions.enter();
    const outer = this.#expressions.dotIsElement;
    const subject = this.#expressions.action(pipe);
    const slots = pipe.variables.map((variable) => this.#expressions.slotOf(variable.idents[0]!, true));
    const elementSlot = slots.at(-1);
    const indexSlot = slots.length > 1 ? slots[0] : undefined;
    this.#expressions.dotIsElement = true;
    const body = this.#whenTaken(item.list);
    this.#expressions.dotIsElement = outer;
    const otherwise = item.elseList ? this.#whenTaken(item.elseList) : undefined;
    this.#expressions.leave(scope);

    return (run, dot) => {
      enter(run, item);
      const value = subject(run, dot);
      const once = (index: Value, element: Value): Flow => {
        run.step();
        if (elementSlot !== undefined) run.variables[elementSlot] = element;
        if (indexSlot !== undefined) run.variables[indexSlot] = index;
        return body(run, element);
      };
      const contents =
        value instanceof GoObject && (value.goKind === 'map' || value.goKind === 'slice') ? value.contents() : value;
      const outer = run.looped;
      run.looped = value;
      let ran = false;
      if (Array.isArray(contents) || contents instanceof Uint8Array) {
        const bytes = contents instanceof Uint8Array;
        for (let i = 0; i < contents.length; i += 1) {
          ran = true;
          const element = bytes ? new SizedInt('uint8', BigInt(contents[i] as number)) : (contents[i] as Value);
          if (once(BigInt(i), element) === flow.break) break;
        }
      } else if (contents instanceof Map) {
        for (const [key, element] of entriesInOrder(contents)) {
          ran = true;
          if (once(key, element) === flow.break) break;
        }
      } else if (contents !== undefined && contents !== null) {
        const count = integerOf(contents);
        if (count === undefined) return run.fail(`range can't iterate over ${show(value)}`);
        if (indexSlot !== undefined) run.fail(`can't use ${show(value)} to iterate over more than one variable`);
        for (let i = 0n; i < count; i += 1n) {
          ran = true;
          const element = contents instanceof SizedInt ? new SizedInt(contents.kind, i, contents.type) : i;
          if (once(undefined, element) === flow.break) break;
        }
      }
      run.looped = outer;
      return !ran && otherwise ? otherwise(run, dot) : flow.next;
    };
  }

  #template(item: TemplateNode): Statement {
    const argument: Evaluate = item.pipe ? this.#expressions.action(item.pipe) : () => undefined;
    return (run, dot) => {
      enter(run, item);
      const target = run.templates.lookup(item.name);
      if (!target) return run.fail(`template ${quote(item.name)} not defined`);
      const value = argument(run, dot);
      run.node = item;
      run.invoke(target, value);
      return flow.next;
    };
  }
}

/** The entries as they are now: the loop may change the map. */
function entriesInOrder(map: GoMap): [string, Value][] {
  return sortedKeys(map).map((key) => [key, map.get(key)]);
}
