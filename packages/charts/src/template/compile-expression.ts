import { quote } from '../go/quote.ts';
import {
  canBeNil,
  GoObject,
  int64,
  isAssignable,
  isMap,
  isTrue,
  SizedInt,
  typeLabel,
  typeOf,
  type GoFunction,
  type ParamType,
  type Value,
} from '../go/values.ts';
import { builtins, calling, shortCircuits } from './builtins.ts';
import type { KnownActions } from './known-actions.ts';
import { nodeText, type CommandNode, type NumberNode, type Operand, type PipeNode, type PlacedNode } from './nodes.ts';
import { isStackOverflow, longestText, type FunctionTable, type Run } from './run.ts';

export type Evaluate = (run: Run, dot: Value) => Value;
/** A command; `final` is the result of the command before it in the pipeline, if there is one. */
type EvaluateCommand = (run: Run, dot: Value, final: Value) => Value;
/** An argument, evaluated for the type the callee wants. */
type EvaluateArgument = (run: Run, dot: Value, type: ParamType) => Value;

interface Variable {
  readonly name: string;
  readonly slot: number;
  /** It holds elements of a container, which Go sees as interfaces. A loop may make it so while the template runs. */
  isElement: boolean;
}

const isAnElement = { isElement: true };
const isNoElement = { isElement: false };

/** What an expression can name at one place of a template. */
export interface Names {
  readonly visible: Variable[];
  readonly dotIsElement: boolean;
}

/**
 * Expressions as closures. `run.node` is set wherever Go's evaluator notes its place, so that an error names the same
 * expression as Go's would.
 */
export class ExpressionCompiler {
  readonly #functions: FunctionTable;
  readonly #known: KnownActions;
  readonly #assignsRoot: boolean;
  /** Whether what is being compiled depends on the variables of this template. */
  #hasVariables = false;
  #visible: Variable[] = [{ name: '$', slot: 0, isElement: false }];
  #slots = 1;
  /** Inside a range, dot is an element: Go calls its type `interface {}` whatever it holds. */
  dotIsElement = false;

  /** `assignsRoot`: whether the template gives `$` another value. */
  constructor(functions: FunctionTable, known: KnownActions, assignsRoot: boolean) {
    this.#functions = functions;
    this.#known = known;
    this.#assignsRoot = assignsRoot;
  }

  enter(): number {
    return this.#visible.length;
  }

  leave(scope: number): void {
    this.#visible.length = scope;
  }

  /** What can be named here, for a part that is compiled later. */
  names(): Names {
    return { visible: [...this.#visible], dotIsElement: this.dotIsElement };
  }

  /** Compiles something where it stands in the template. Each declaration still gets a slot nobody else has. */
  among<T>(names: Names, make: () => T): T {
    const visible = this.#visible;
    const { dotIsElement } = this;
    this.#visible = names.visible;
    this.dotIsElement = names.dotIsElement;
    const made = make();
    this.#visible = visible;
    this.dotIsElement = dotIsElement;
    return made;
  }

  slotOf(name: string, isElement = false): number | undefined {
    const found = this.#visible.findLast((variable) => variable.name === name);
    if (found && isElement) found.isElement = true;
    return found?.slot;
  }

  /** The pipeline of an action, which other templates may have as well. */
  action(node: PipeNode): Evaluate {
    // What `$` stands for here, others do not mean by it.
    if (this.#assignsRoot) return this.pipe(node);
    const compiled = this.#known.compiled[this.dotIsElement ? 1 : 0];
    const known = compiled.get(node);
    if (known) return known;
    this.#hasVariables = false;
    const made = this.pipe(node);
    if (!this.#hasVariables) compiled.set(node, made);
    return made;
  }

  pipe(node: PipeNode): Evaluate {
    const commands = node.commands.map((command, index) => this.#command(command, index > 0));
    const slots = node.variables.map(({ idents }) => {
      const name = idents[0]!;
      this.#hasVariables = true;
      if (node.assigns) return this.slotOf(name);
      const slot = this.#slots;
      this.#slots += 1;
      this.#visible.push({ name, slot, isElement: false });
      return slot;
    });
    const first = commands[0]!;
    if (commands.length === 1 && slots.length === 0) {
      return (run, dot) => {
        run.node = node;
        return first(run, dot, undefined) ?? undefined;
      };
    }
    return (run, dot) => {
      run.node = node;
      // A nil inside an interface is unwrapped to nothing between two commands.
      let value = first(run, dot, undefined) ?? undefined;
      for (let i = 1; i < commands.length; i += 1) value = commands[i]!(run, dot, value) ?? undefined;
      for (const [index, slot] of slots.entries()) {
        if (slot === undefined) return run.fail(`undefined variable: ${node.variables[index]!.idents[0]}`);
        run.variables[slot] = value;
      }
      return value;
    };
  }

  #command(command: CommandNode, hasFinal: boolean): EvaluateCommand {
    const first = command.args[0]!;
    const args = command.args.slice(1);
    switch (first.type) {
      case 'field':
        return this.#fields(
          (_run, dot) => dot,
          first,
          first.idents,
          args,
          hasFinal,
          this.dotIsElement ? isAnElement : isNoElement,
        );
      case 'chain':
        return this.#chain(first, args, hasFinal);
      case 'identifier':
        return this.#call(first.name, first, command, args, hasFinal);
      case 'variable':
        return this.#variable(first, args, hasFinal);
      case 'pipe': {
        const value = this.pipe(first);
        return this.#withoutArguments(first, args, hasFinal) ?? value;
      }
    }
    const refused = this.#withoutArguments(first, args, hasFinal);
    if (refused) return refused;
    switch (first.type) {
      case 'bool':
      case 'string':
      case 'number': {
        const value = this.#literal(first);
        return (run, dot) => {
          run.node = first;
          return value(run, dot);
        };
      }
      case 'dot':
        return (run, dot) => {
          run.node = first;
          return dot;
        };
      case 'nil':
        return (run) => {
          run.node = first;
          return run.fail('nil is not a command');
        };
    }
  }

  #withoutArguments(first: Operand, args: readonly Operand[], hasFinal: boolean): EvaluateCommand | undefined {
    if (args.length === 0 && !hasFinal) return undefined;
    const shown = first.type === 'pipe' ? nodeText(first) : nodeText(first);
    return (run) => {
      if (first.type !== 'pipe') run.node = first;
      return run.fail(`can't give argument to non-function ${shown}`);
    };
  }

  #literal(node: Operand & { type: 'bool' | 'string' | 'number' }): Evaluate {
    if (node.type === 'number') return this.#ideal(node);
    return node.type === 'bool' ? () => node.value : () => node.text;
  }

  /** A literal number where no type is asked for: its form says what it is. */
  #ideal(node: NumberNode): Evaluate {
    const { text } = node;
    const isRune = text.startsWith("'");
    const isHex = /^[+-]?0[xX]/.test(text) && !/[pP]/.test(text);
    const float = node.float;
    if (float !== undefined && !isRune && !isHex && /[.eEpP]/.test(text)) return () => float;
    const { int } = node;
    if (int !== undefined) return () => int;
    return (run) => {
      run.node = node;
      return run.fail(`${text} overflows int`);
    };
  }

  #variable(node: Operand & { type: 'variable' }, args: readonly Operand[], hasFinal: boolean): EvaluateCommand {
    const name = node.idents[0]!;
    if (name !== '$') this.#hasVariables = true;
    const variable = this.#visible.findLast((candidate) => candidate.name === name);
    const value: Evaluate = (run) => {
      run.node = node;
      return variable ? run.variables[variable.slot] : run.fail(`undefined variable: ${name}`);
    };
    if (node.idents.length > 1)
      return this.#fields(value, node, node.idents.slice(1), args, hasFinal, variable ?? isNoElement);
    return this.#withoutArguments(node, args, hasFinal) ?? value;
  }

  #chain(node: Operand & { type: 'chain' }, args: readonly Operand[], hasFinal: boolean): EvaluateCommand {
    if (node.node.type === 'nil') {
      return (run) => {
        run.node = node;
        return run.fail(`indirection through explicit nil in ${nodeText(node)}`);
      };
    }
    const head = this.#argument(node.node);
    return this.#fields((run, dot) => head(run, dot, 'value'), node, node.fields, args, hasFinal, isNoElement, node);
  }

  /** `.a.b.c` from a receiver on; the last name may be a method and then takes the arguments. */
  #fields(
    receiver: Evaluate,
    node: PlacedNode,
    names: readonly string[],
    args: readonly Operand[],
    hasFinal: boolean,
    receives: Pick<Variable, 'isElement'>,
    before: PlacedNode = node,
  ): EvaluateCommand {
    const last = names.length - 1;
    const argumentsOf = args.map((arg) => this.#argument(arg));
    const hasArguments = args.length > 0 || hasFinal;
    return (run, dot, final) => {
      run.node = before;
      let value = receiver(run, dot);
      /** What the value was taken out of. */
      let holder = receives.isElement ? run.looped : undefined;
      for (let i = 0; i <= last; i += 1) {
        const name = names[i]!;
        if (value instanceof Map) {
          if (i === last && hasArguments) run.fail(`${name} is not a method but has arguments`);
          holder = value;
          const found = value.get(name);
          value = found === undefined ? missing(run, value, name) : found;
        } else if (value instanceof GoObject) {
          const method = value.method(name);
          if (method) {
            const given = i === last ? argumentsOf : [];
            value = callWith(run, dot, method as GoFunction<Run>, name, node, given, i === last && hasFinal, final);
          } else {
            const field = fieldOf(run, value, name, holder);
            if (i === last && hasArguments) run.fail(`${name} has arguments but cannot be invoked as function`);
            value = field;
          }
          holder = undefined;
        } else if (value instanceof SizedInt && value.method(name)) {
          const given = i === last ? argumentsOf : [];
          const method = value.method(name) as GoFunction<Run>;
          value = callWith(run, dot, method, name, node, given, i === last && hasFinal, final);
          holder = undefined;
        } else if (value === undefined) {
          if (run.missingKey === 'error') run.fail(`nil data; no entry for key ${quote(name)}`);
        } else if (value === null) run.fail(`nil pointer evaluating interface {}.${name}`);
        else
          run.fail(
            `can't evaluate field ${name} in type ${holder === undefined ? typeOf(value) : typeInside(holder, value)}`,
          );
      }
      return value;
    };
  }

  #argument(node: Operand): EvaluateArgument {
    switch (node.type) {
      case 'dot':
        return (run, dot, type) => {
          run.node = node;
          return validate(run, dot, type);
        };
      case 'nil':
        return (run, _dot, type) => {
          run.node = node;
          if (!canBeNil(type)) run.fail(`cannot assign nil to ${typeLabel(type)}`);
          return type === 'value' ? undefined : null;
        };
      case 'pipe': {
        const value = this.pipe(node);
        return (run, dot, type) => validate(run, value(run, dot), type);
      }
      case 'field':
      case 'variable':
      case 'identifier':
      case 'chain': {
        const value =
          node.type === 'identifier'
            ? this.#call(node.name, node, node, [], false)
            : this.#command({ type: 'command', pos: node.pos, args: [node] }, false);
        return (run, dot, type) => {
          run.node = node;
          return validate(run, value(run, dot, undefined), type);
        };
      }
      default:
        return this.#constant(node);
    }
  }

  #constant(node: Operand & { type: 'bool' | 'string' | 'number' }): EvaluateArgument {
    const ideal = this.#literal(node);
    return (run, dot, type) => {
      run.node = node;
      switch (type) {
        case 'any':
        case 'value':
          return ideal(run, dot);
        case 'string':
          return node.type === 'string' ? node.text : run.fail(`expected string; found ${nodeText(node)}`);
        case 'bool':
          return node.type === 'bool' ? node.value : run.fail(`expected bool; found ${nodeText(node)}`);
        case 'int':
          if (node.type === 'number' && node.int !== undefined) return node.int;
          return run.fail(`expected integer; found ${nodeText(node)}`);
        case 'int64':
          if (node.type === 'number' && node.int !== undefined) return int64(node.int);
          return run.fail(`expected integer; found ${nodeText(node)}`);
        case 'uint32':
          if (node.type === 'number' && node.uint !== undefined) return new SizedInt('uint64', node.uint, 'uint32');
          return run.fail(`expected unsigned integer; found ${nodeText(node)}`);
        case 'float64':
          if (node.type === 'number' && node.float !== undefined) return node.float;
          return run.fail(`expected float; found ${nodeText(node)}`);
        default:
          return run.fail(`can't handle ${nodeText(node)} for arg of type ${typeLabel(type)}`);
      }
    };
  }

  #call(name: string, node: Operand, place: PlacedNode, args: readonly Operand[], hasFinal: boolean): EvaluateCommand {
    const own = this.#functions.get(name);
    const isCall = name === 'call' && own === undefined && args.length > 0;
    const fn = isCall ? calling(nodeText(args[0]!)) : (own ?? builtins.get(name));
    if (!fn) {
      return (run) => {
        run.node = node;
        return run.fail(`${quote(name)} is not a defined function`);
      };
    }
    const given = args.map((arg) => this.#argument(arg));
    const stopsAt = own ? undefined : shortCircuits.get(name);
    if (stopsAt !== undefined) return shortCircuit(name, node, given, hasFinal, stopsAt);
    return (run, dot, final) => {
      run.node = node;
      return callWith(run, dot, fn, name, place, given, hasFinal, final);
    };
  }
}

/** `and` and `or`: they stop at the first operand that decides, and answer it. */
function shortCircuit(
  name: string,
  node: Operand,
  given: readonly EvaluateArgument[],
  hasFinal: boolean,
  stopsAt: boolean,
): EvaluateCommand {
  return (run, dot, final) => {
    run.node = node;
    if (given.length === 0 && !hasFinal) run.fail(`wrong number of args for ${name}: want at least 1 got 0`);
    let value: Value;
    for (const argument of given) {
      value = argument(run, dot, 'value');
      if (isTrue(value) === stopsAt) return value;
    }
    return hasFinal ? final : value;
  };
}

function callWith(
  run: Run,
  dot: Value,
  fn: GoFunction<Run>,
  name: string,
  place: PlacedNode,
  given: readonly EvaluateArgument[],
  hasFinal: boolean,
  final: Value,
): Value {
  const { params, rest } = fn;
  const count = given.length + (hasFinal ? 1 : 0);
  if (rest === undefined) {
    if (count !== params.length) run.fail(`wrong number of args for ${name}: want ${params.length} got ${count}`);
  } else if (count < params.length) {
    run.fail(`wrong number of args for ${name}: want at least ${params.length} got ${given.length}`);
  }
  // What grows from nothing takes room for sixteen more, at every call.
  // oxlint-disable-next-line unicorn/no-new-array
  const args = new Array<Value>(count);
  for (let i = 0; i < given.length; i += 1) args[i] = given[i]!(run, dot, params[i] ?? rest!);
  if (hasFinal) args[count - 1] = validate(run, final, params[given.length] ?? rest!);
  for (let i = 0; i < count; i += 1) run.countRead(args[i]);
  let result: Value;
  try {
    result = fn.call(args, run);
  } catch (error) {
    if (isStackOverflow(error)) throw error;
    run.node = place;
    run.fail(`error calling ${name}: ${error instanceof Error ? error.message : String(error)}`, error);
  }
  if (typeof result === 'string' && result.length > longestText) {
    run.node = place;
    run.fail(`error calling ${name}: a text of ${result.length} characters is too long`);
  }
  run.countRead(result);
  return result;
}

/** Lets a value pass as an argument of a type, or fails as Go does. */
function validate(run: Run, value: Value, type: ParamType): Value {
  if (type === 'value') return value;
  if (value === undefined) {
    if (!canBeNil(type)) run.fail(`invalid value; expected ${typeLabel(type)}`);
    return null;
  }
  if (type === 'any') return value;
  if (value === null) run.fail(`wrong type for value; expected ${typeLabel(type)}; got interface {}`);
  if (!isAssignable(value, type)) run.fail(`wrong type for value; expected ${typeLabel(type)}; got ${typeOf(value)}`);
  return value;
}

function missing(run: Run, map: Value, name: string): Value {
  if (run.missingKey === 'error') run.fail(`map has no entry for key ${quote(name)}`);
  if (run.missingKey === 'invalid') return undefined;
  return typeOf(map) === 'map[string]string' ? '' : null;
}

/** What Go takes a value for. In a container it is an interface, unless those of the container are all of one type. */
function typeInside(holder: Value, value: Value): string {
  const type = holder === undefined ? '' : typeOf(holder);
  const one = /^(?:\[\]|map\[string\])(.+)/.exec(type)?.[1];
  if (one !== undefined) return one;
  return isMap(holder) ? 'interface {}' : typeOf(value);
}

function fieldOf(run: Run, object: GoObject, name: string, holder: Value): Value {
  const field = object.field(name);
  if (field !== undefined) return field;
  if (object.goKind === 'map') {
    const contents = object.contents();
    const found = contents instanceof Map ? contents.get(name) : undefined;
    return found ?? (typeOf(object) === 'engine.files' ? new Uint8Array() : missing(run, object, name));
  }
  return run.fail(`can't evaluate field ${name} in type ${typeInside(holder, object)}`);
}
