import { runes } from '../go/bytes.ts';
import { quote, unquote } from '../go/quote.ts';
import { KnownActions, type KnownAction } from './known-actions.ts';
import { Lexer, type Token, type TokenType } from './lexer.ts';
import { parseNumber } from './numbers.ts';
import {
  isEmptyTree,
  nodeText,
  type BranchNode,
  type CommandNode,
  type ListItem,
  type Operand,
  type PipeNode,
  type TemplateNode,
  type VariableNode,
} from './nodes.ts';
import { TemplateParseError } from './template-error.ts';

/** One template: a file, or a `define` in it. */
export interface Tree {
  readonly name: string;
  readonly root: readonly ListItem[];
  /** The text it was found in, and what that text is called: error positions refer to both. */
  readonly source: Source;
}

export interface Source {
  readonly name: string;
  readonly text: string;
  /** Whether `$` is given another value somewhere in it. */
  assignsRoot: boolean;
}

/** Deeper nesting is an attack, not a template. */
const maxExpressionDepth = 1000;
const maxBranchDepth = 500;

/** Reads a text and answers the templates it defines, itself included, by name. */
export function parse(
  name: string,
  text: string,
  hasFunction: (name: string) => boolean,
  known: KnownActions = new KnownActions(),
): Map<string, Tree> {
  const file: ParsedFile = {
    stream: new TokenStream({ name, text, assignsRoot: false }),
    hasFunction,
    known,
    trees: new Map(),
    open: new OpenTree(),
  };
  known.keep(text.length);
  new Parser(file).parseFile(name);
  return file.trees;
}

/** The tokens of the action that is being read and of the text before it, and the place where the parser is. */
class TokenStream {
  readonly source: Source;
  readonly #lexer: Lexer;
  /** Counted from the first token of the file. */
  #next = 0;
  #furthest = -1;
  /** Where in the text the furthest one stands. */
  #furthestPos = 0;

  constructor(source: Source) {
    this.source = source;
    this.#lexer = new Lexer(source.text);
  }

  /** At the end there is always one more end. */
  peek(): Token {
    const lexer = this.#lexer;
    const { tokens } = lexer;
    if (this.#next - lexer.dropped >= tokens.length) lexer.more();
    const index = Math.min(this.#next - lexer.dropped, tokens.length - 1);
    const token = tokens[index]!;
    if (lexer.dropped + index > this.#furthest) {
      this.#furthest = lexer.dropped + index;
      this.#furthestPos = token.pos;
    }
    return token;
  }

  /** Where the action begins whose delimiter was the last token, behind it. */
  get actionStart(): number {
    return this.#lexer.actionStart;
  }

  get furthestPos(): number {
    return this.#furthestPos;
  }

  /** Passes the action that comes next, up to its closing delimiter at `end`. */
  skipAction(end: number): void {
    this.#lexer.skipAction(end);
    this.#furthestPos = end;
  }

  next(): Token {
    const token = this.peek();
    this.#next += 1;
    return token;
  }

  back(): void {
    this.#next -= 1;
  }

  lineAt(pos: number): number {
    let line = 1;
    const { text } = this.source;
    for (let at = text.indexOf('\n'); at >= 0 && at < pos; at = text.indexOf('\n', at + 1)) line += 1;
    return line;
  }
}

interface Declarations {
  readonly assigns: boolean;
  readonly variables: readonly VariableNode[];
}

const noDeclarations: Declarations = { assigns: false, variables: [] };

/**
 * Lists that are being read, one inside the other. What grows by pushing takes room for sixteen more, and a template has thousands of lists
 * of two: they grow here, and are taken out in no more room than they need.
 */
class OpenLists<T> {
  readonly #items: T[] = [];
  #count = 0;

  /** Begins a list, and answers what ends it. */
  begin(): number {
    return this.#count;
  }

  add(item: T): void {
    this.#items[this.#count] = item;
    this.#count += 1;
  }

  end(begun: number): T[] {
    const list = this.#items.slice(begun, this.#count);
    this.#count = begun;
    return list;
  }
}

/** The lists that are being read of a file. */
class OpenTree {
  readonly items = new OpenLists<ListItem>();
  readonly commands = new OpenLists<CommandNode>();
  readonly args = new OpenLists<Operand>();
  readonly names = new OpenLists<string>();
}

const operandStarts = new Set<TokenType>([
  'bool',
  'charConstant',
  'complex',
  'dot',
  'field',
  'identifier',
  'number',
  'nil',
  'rawString',
  'string',
  'variable',
  'leftParen',
]);

const notExecutable = new Set<Operand['type']>(['bool', 'dot', 'nil', 'number', 'string']);

/** Most actions have no variables. */
const none: readonly string[] = [];

type Beginning = Omit<KnownAction, 'needs' | 'declares'>;

/** A file that is being parsed, and what was found in it. */
interface ParsedFile {
  readonly stream: TokenStream;
  readonly hasFunction: (name: string) => boolean;
  readonly known: KnownActions;
  readonly trees: Map<string, Tree>;
  readonly open: OpenTree;
}

class Parser {
  readonly #file: ParsedFile;
  readonly #stream: TokenStream;
  readonly #source: Source;
  readonly #open: OpenTree;
  #variables: string[] = ['$'];
  #actionToken: Token | undefined;
  /** Where the action begins that is being read. Positions in it count from there. */
  #start = 0;
  /** The variables it names. */
  readonly #named: string[] = [];
  #rangeDepth = 0;
  #expressionDepth = 0;
  #branchDepth = 0;

  constructor(file: ParsedFile) {
    this.#file = file;
    this.#stream = file.stream;
    this.#source = file.stream.source;
    this.#open = file.open;
  }

  parseFile(name: string): void {
    const root: ListItem[] = [];
    while (this.#stream.peek().type !== 'eof') {
      const node = this.#textOrAction(true);
      if (node === undefined) continue;
      if (node.type === 'end' || node.type === 'else') this.#fail(`unexpected ${nodeText(node)}`);
      root.push(node);
    }
    this.#add(name, root);
  }

  /** A template inside this text sees no variables of the one around it. */
  #inner(): Parser {
    const inner = new Parser(this.#file);
    inner.#branchDepth = this.#branchDepth;
    return inner;
  }

  /** Go blames the line of the last token anyone has looked at. */
  #fail(message: string): never {
    this.#failAt(this.#stream.furthestPos, message);
  }

  #failAt(pos: number, message: string): never {
    throw new TemplateParseError(this.#source.name, this.#stream.lineAt(pos), message);
  }

  #unexpected(token: Token, context: string): never {
    if (token.type !== 'error') this.#fail(`unexpected ${tokenText(token)} in ${context}`);
    let extra = '';
    const started = this.#actionToken && this.#stream.lineAt(this.#actionToken.pos);
    if (started !== undefined && started !== this.#stream.lineAt(token.pos)) {
      extra = ` in action started at ${this.#source.name}:${started}`;
      if (token.value.endsWith(' action')) extra = extra.slice(' in action'.length);
    }
    this.#fail(token.value + extra);
  }

  #expect(type: TokenType, context: string): Token {
    const token = this.#stream.next();
    if (token.type !== type) this.#unexpected(token, context);
    return token;
  }

  #add(name: string, root: ListItem[]): void {
    const present = this.#file.trees.get(name);
    if (present && !isEmptyTree(present.root)) {
      if (!isEmptyTree(root)) this.#fail(`template: multiple definition of template ${quote(name)}`);
      return;
    }
    this.#file.trees.set(name, { name, root, source: this.#source });
  }

  #definition(): void {
    const context = 'define clause';
    const token = this.#stream.next();
    const name = this.#templateName(token, context);
    this.#expect('rightDelim', context);
    const [root, end] = this.#itemList();
    if (end.type !== 'end') this.#fail(`unexpected ${nodeText(end)} in ${context}`);
    this.#add(name, root);
  }

  #templateName(token: Token, context: string): string {
    if (token.type !== 'string' && token.type !== 'rawString') this.#unexpected(token, context);
    return unquote(token.value) ?? this.#fail('invalid syntax');
  }

  #itemList(): [ListItem[], ListItem] {
    this.#branchDepth += 1;
    if (this.#branchDepth > maxBranchDepth) this.#fail('max nesting of actions exceeded');
    const { items } = this.#open;
    const begun = items.begin();
    while (this.#stream.peek().type !== 'eof') {
      const node = this.#textOrAction();
      if (node.type === 'end' || node.type === 'else') {
        this.#branchDepth -= 1;
        return [items.end(begun), node];
      }
      items.add(node);
    }
    this.#fail('unexpected EOF');
  }

  /** Answers nothing for a definition, which only the text itself may have. */
  #textOrAction(isTop: true): ListItem | undefined;
  #textOrAction(): ListItem;
  #textOrAction(isTop = false): ListItem | undefined {
    const token = this.#stream.next();
    if (token.type === 'text') return { type: 'text', text: token.value };
    if (token.type !== 'leftDelim') this.#unexpected(token, 'input');
    this.#actionToken = token;
    const node = this.#action(isTop);
    this.#actionToken = undefined;
    return node;
  }

  #action(isTop: boolean): ListItem | undefined {
    const { text } = this.#source;
    const start = this.#stream.actionStart;
    const visible = this.#variables.length;
    this.#start = start;
    const end = KnownActions.endOf(text, start);
    const written = end < 0 ? undefined : text.slice(start, end);
    const known = written === undefined ? undefined : this.#file.known.get(written);
    if (known && (known.needs === none || known.needs.every((name) => this.#variables.includes(name)))) {
      this.#stream.skipAction(end);
      if (known.declares !== none) this.#variables.push(...known.declares);
      return this.#placed(known, start, visible);
    }
    this.#named.length = 0;
    const token = this.#stream.next();
    const word = token.type === 'keyword' ? token.value : undefined;
    if (word === 'define' && isTop) {
      this.#inner().#definition();
      return undefined;
    }
    if (word === 'block') return this.#block(start);
    if (word === 'break' || word === 'continue') return this.#loopControl(word, start, token);
    // `else if` begins another action in the same delimiters.
    if (word === 'else' && isBranchAfterElse(this.#stream.peek()))
      return { type: 'else', start, pos: this.#offset(this.#stream.peek()) };
    const beginning = this.#beginning(token, word);
    const declares = this.#variables.length > visible ? this.#variables.slice(visible) : none;
    // What is declared in parentheses may stand behind what needs it.
    const isPlain = declares.length === (beginning.pipe?.variables.length ?? 0) && !declares.includes('$');
    if (written !== undefined && isPlain && this.#stream.furthestPos === end) {
      const needs =
        this.#named.length === 0 ? none : this.#named.filter((name) => !declares.includes(name) && name !== '$');
      this.#file.known.set(written, { ...beginning, needs, declares });
    }
    return this.#placed(beginning, start, visible);
  }

  /** What stands in the delimiters, up to the closing one. */
  #beginning(token: Token, word: string | undefined): Beginning {
    switch (word) {
      case 'else':
      case 'end':
        return { type: word, pos: this.#offset(this.#expect('rightDelim', word)), pipe: undefined, name: undefined };
      case 'if':
      case 'range':
      case 'with': {
        const pipe = this.#pipeline(word, 'rightDelim');
        return { type: word, pos: pipe.pos, pipe, name: undefined };
      }
      case 'template': {
        const context = 'template clause';
        const named = this.#stream.next();
        const name = this.#templateName(named, context);
        if (this.#stream.next().type === 'rightDelim')
          return { type: word, pos: this.#offset(named), pipe: undefined, name };
        this.#stream.back();
        return { type: word, pos: this.#offset(named), pipe: this.#pipeline(context, 'rightDelim'), name };
      }
    }
    this.#stream.back();
    const pos = this.#offset(token);
    return { type: 'action', pos, pipe: this.#pipeline('command', 'rightDelim'), name: undefined };
  }

  /** The action at its place, with everything up to its end. */
  #placed({ type, pos, pipe, name }: Beginning, start: number, visible: number): ListItem {
    switch (type) {
      case 'action':
        return { type, start, pos, pipe: pipe! };
      case 'if':
      case 'range':
      case 'with':
        return this.#branch(type, pipe!, start, visible);
      case 'template':
        return { type, start, pos, name: name!, pipe };
      case 'else':
      case 'end':
        return { type, start, pos };
    }
  }

  #offset(token: Token): number {
    return token.pos - this.#start;
  }

  #loopControl(type: 'break' | 'continue', start: number, token: Token): ListItem {
    const pos = this.#offset(token);
    const next = this.#stream.next();
    if (next.type !== 'rightDelim') this.#unexpected(next, `{{${type}}}`);
    if (this.#rangeDepth === 0) this.#fail(`{{${type}}} outside {{range}}`);
    return { type, start, pos };
  }

  /** `visible` is how many variables there were before it. */
  #branch(type: BranchNode['type'], pipe: PipeNode, start: number, visible: number): BranchNode {
    if (type === 'range') this.#rangeDepth += 1;
    const [list, next] = this.#itemList();
    if (type === 'range') this.#rangeDepth -= 1;
    let elseList: ListItem[] | undefined;
    if (next.type === 'else') {
      const follows = type !== 'range' && isKeyword(this.#stream.peek(), type);
      if (follows) {
        this.#stream.next();
        this.#branchDepth += 1;
        if (this.#branchDepth > maxBranchDepth) this.#fail('max nesting of actions exceeded');
        const seen = this.#variables.length;
        elseList = [this.#branch(type, this.#pipeline(type, 'rightDelim'), next.start, seen)];
        this.#branchDepth -= 1;
      } else {
        const [list2, end] = this.#itemList();
        if (end.type !== 'end') this.#fail(`expected end; found ${nodeText(end)}`);
        elseList = list2;
      }
    }
    this.#variables.length = visible;
    return { type, start, pos: pipe.pos, pipe, list, elseList };
  }

  #block(start: number): TemplateNode {
    const context = 'block clause';
    const token = this.#stream.next();
    const pos = this.#offset(token);
    const name = this.#templateName(token, context);
    const pipe = this.#pipeline(context, 'rightDelim');
    const { furthestPos } = this.#stream;
    const inner = this.#inner();
    const [root, end] = inner.#itemList();
    // Go blames the line where the block begins.
    if (end.type !== 'end') this.#failAt(furthestPos, `unexpected ${nodeText(end)} in ${context}`);
    inner.#add(name, root);
    return { type: 'template', start, pos, name, pipe };
  }

  #pipeline(context: string, end: TokenType): PipeNode {
    const pos = this.#offset(this.#stream.peek());
    const { assigns, variables } = this.#declarations(context);
    const begun = this.#open.commands.begin();
    for (;;) {
      const token = this.#stream.next();
      if (token.type === end) break;
      if (!operandStarts.has(token.type)) this.#unexpected(token, context);
      this.#stream.back();
      this.#open.commands.add(this.#command());
    }
    const commands = this.#open.commands.end(begun);
    if (commands.length === 0) this.#fail(`missing value for ${context}`);
    for (let index = 1; index < commands.length; index += 1) {
      if (notExecutable.has(commands[index]!.args[0]!.type))
        this.#fail(`non executable command in pipeline stage ${index + 1}`);
    }
    return { type: 'pipe', pos, assigns, variables, commands };
  }

  #declarations(context: string): Declarations {
    if (this.#stream.peek().type !== 'variable') return noDeclarations;
    const variables: VariableNode[] = [];
    for (;;) {
      const token = this.#stream.peek();
      if (token.type !== 'variable') return { assigns: false, variables };
      this.#stream.next();
      const next = this.#stream.peek();
      const comma = next.type === 'char' && next.value === ',';
      if (next.type !== 'assign' && next.type !== 'declare' && !comma) {
        this.#stream.back();
        return { assigns: false, variables };
      }
      this.#stream.next();
      variables.push({ type: 'variable', pos: this.#offset(token), idents: [token.value] });
      this.#variables.push(token.value);
      if (token.value === '$') this.#source.assignsRoot = true;
      if (!comma) return { assigns: next.type === 'assign', variables };
      if (context !== 'range' || variables.length >= 2) this.#fail(`too many declarations in ${context}`);
      const { type } = this.#stream.peek();
      if (type !== 'variable' && type !== 'rightDelim' && type !== 'rightParen')
        this.#fail('range can only initialize variables');
    }
  }

  #command(): CommandNode {
    const pos = this.#offset(this.#stream.peek());
    const begun = this.#open.args.begin();
    for (;;) {
      const operand = this.#operand();
      if (operand) this.#open.args.add(operand);
      // Space separates operands; before what is none it means nothing.
      if (operand && this.#stream.peek().spaced) continue;
      const token = this.#stream.next();
      if (token.type === 'rightDelim' || token.type === 'rightParen') this.#stream.back();
      else if (token.type !== 'pipe') this.#unexpected(token, 'operand');
      break;
    }
    const args = this.#open.args.end(begun);
    if (args.length === 0) this.#fail('empty command');
    return { type: 'command', pos, args };
  }

  #operand(): Operand | undefined {
    const node = this.#term();
    if (!node || !isAttachedField(this.#stream.peek())) return node;
    const pos = this.#offset(this.#stream.peek());
    const { names } = this.#open;
    const begun = names.begin();
    if (node.type === 'field' || node.type === 'variable') names.add(node.idents[0]!);
    while (isAttachedField(this.#stream.peek())) names.add(this.#stream.next().value.slice(1));
    const found = names.end(begun);
    if (node.type === 'field' || node.type === 'variable') return { type: node.type, pos, idents: found };
    if (notExecutable.has(node.type)) this.#fail(`unexpected . after term ${quote(nodeText(node))}`);
    return { type: 'chain', pos, node, fields: found };
  }

  #term(): Operand | undefined {
    const token = this.#stream.next();
    const { value } = token;
    const pos = this.#offset(token);
    switch (token.type) {
      case 'identifier':
        if (!this.#file.hasFunction(value)) this.#fail(`function ${quote(value)} not defined`);
        return { type: 'identifier', pos, name: value };
      case 'dot':
      case 'nil':
        return { type: token.type, pos };
      case 'variable': {
        if (!this.#variables.includes(value)) this.#fail(`undefined variable ${quote(value)}`);
        this.#named.push(value);
        return { type: 'variable', pos, idents: [value] };
      }
      case 'field':
        return { type: 'field', pos, idents: [value.slice(1)] };
      case 'bool':
        return { type: 'bool', pos, value: value === 'true' };
      case 'charConstant':
      case 'complex':
      case 'number': {
        const number = parseNumber(pos, value, token.type);
        return typeof number === 'string' ? this.#fail(number) : number;
      }
      case 'leftParen': {
        if (this.#expressionDepth >= maxExpressionDepth) this.#fail('max expression depth exceeded');
        this.#expressionDepth += 1;
        const pipe = this.#pipeline('parenthesized pipeline', 'rightParen');
        this.#expressionDepth -= 1;
        return pipe;
      }
      case 'string':
      case 'rawString':
        return { type: 'string', pos, quoted: value, text: unquote(value) ?? this.#fail('invalid syntax') };
    }
    this.#stream.back();
    return undefined;
  }
}

/** `.b` in `.a.b` and `(x).b`; after a space it would be an operand of its own. */
function isAttachedField(token: Token): boolean {
  return token.type === 'field' && !token.spaced;
}

function isKeyword(token: Token, word: string): boolean {
  return token.type === 'keyword' && token.value === word;
}

function isBranchAfterElse(token: Token): boolean {
  return isKeyword(token, 'if') || isKeyword(token, 'with');
}

function tokenText(token: Token): string {
  if (token.type === 'eof') return 'EOF';
  if (token.type === 'keyword' || token.type === 'dot' || token.type === 'nil') return `<${token.value}>`;
  const chars = runes(token.value);
  return chars.length > 10 ? `${quote(chars.slice(0, 10).join(''))}...` : quote(token.value);
}
