import { runes } from '../go/bytes.ts';
import { quote, unquote } from '../go/quote.ts';
import { tokenize, type Token, type TokenType } from './lexer.ts';
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
}

/** Deeper nesting is an attack, not a template. */
const maxExpressionDepth = 1000;
const maxBranchDepth = 500;

/** Reads a text and answers the templates it defines, itself included, by name. */
export function parse(name: string, text: string, hasFunction: (name: string) => boolean): Map<string, Tree> {
  const source: Source = { name, text };
  const trees = new Map<string, Tree>();
  const stream = new TokenStream(source, tokenize(text));
  new Parser(stream, source, hasFunction, trees, new OpenTree()).parseFile(name);
  return trees;
}

/** The tokens, and the place where the parser is. */
class TokenStream {
  readonly #tokens: readonly Token[];
  readonly source: Source;
  #next = 0;
  #furthest = 0;

  constructor(source: Source, tokens: readonly Token[]) {
    this.source = source;
    this.#tokens = tokens;
  }

  /** At the end there is always one more end. */
  peek(): Token {
    const tokens = this.#tokens;
    const index = this.#next < tokens.length ? this.#next : tokens.length - 1;
    if (index > this.#furthest) this.#furthest = index;
    return tokens[index]!;
  }

  next(): Token {
    const token = this.peek();
    this.#next += 1;
    return token;
  }

  back(count = 1): void {
    this.#next -= count;
  }

  /** The line Go blames: that of the last token anyone has looked at. */
  line(): number {
    return this.lineOf(this.#tokens[this.#furthest]!);
  }

  lineOf(token: Token): number {
    let line = 1;
    const { text } = this.source;
    for (let at = text.indexOf('\n'); at >= 0 && at < token.pos; at = text.indexOf('\n', at + 1)) line += 1;
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

/** What is being read of a file. */
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

class Parser {
  readonly #stream: TokenStream;
  readonly #source: Source;
  readonly #hasFunction: (name: string) => boolean;
  readonly #trees: Map<string, Tree>;
  readonly #open: OpenTree;
  #variables: string[] = ['$'];
  #actionToken: Token | undefined;
  #rangeDepth = 0;
  #expressionDepth = 0;
  #branchDepth = 0;

  constructor(
    stream: TokenStream,
    source: Source,
    hasFunction: (name: string) => boolean,
    trees: Map<string, Tree>,
    open: OpenTree,
  ) {
    this.#stream = stream;
    this.#source = source;
    this.#hasFunction = hasFunction;
    this.#trees = trees;
    this.#open = open;
  }

  parseFile(name: string): void {
    const root: ListItem[] = [];
    while (this.#stream.peek().type !== 'eof') {
      if (this.#stream.peek().type === 'leftDelim') {
        this.#stream.next();
        if (isKeyword(this.#stream.next(), 'define')) {
          this.#inner().#definition();
          continue;
        }
        this.#stream.back(2);
      }
      const node = this.#textOrAction();
      if (node.type === 'end' || node.type === 'else') this.#fail(`unexpected ${nodeText(node)}`);
      root.push(node);
    }
    this.#add(name, root);
  }

  /** A template inside this text sees no variables of the one around it. */
  #inner(): Parser {
    const inner = new Parser(this.#stream, this.#source, this.#hasFunction, this.#trees, this.#open);
    inner.#branchDepth = this.#branchDepth;
    return inner;
  }

  #fail(message: string): never {
    throw new TemplateParseError(this.#source.name, this.#stream.line(), message);
  }

  #unexpected(token: Token, context: string): never {
    if (token.type !== 'error') this.#fail(`unexpected ${tokenText(token)} in ${context}`);
    let extra = '';
    const started = this.#actionToken && this.#stream.lineOf(this.#actionToken);
    if (started !== undefined && started !== this.#stream.lineOf(token)) {
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
    const present = this.#trees.get(name);
    if (present && !isEmptyTree(present.root)) {
      if (!isEmptyTree(root)) this.#fail(`template: multiple definition of template ${quote(name)}`);
      return;
    }
    this.#trees.set(name, { name, root, source: this.#source });
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

  #textOrAction(): ListItem {
    const token = this.#stream.next();
    if (token.type === 'text') return { type: 'text', pos: token.pos, text: token.value };
    if (token.type !== 'leftDelim') this.#unexpected(token, 'input');
    this.#actionToken = token;
    const node = this.#action();
    this.#actionToken = undefined;
    return node;
  }

  #action(): ListItem {
    const token = this.#stream.next();
    if (token.type === 'keyword') {
      switch (token.value) {
        case 'block':
          return this.#block();
        case 'break':
        case 'continue':
          return this.#loopControl(token.value, token.pos);
        case 'else':
          return this.#else();
        case 'end':
          return { type: 'end', pos: this.#expect('rightDelim', 'end').pos };
        case 'if':
        case 'range':
        case 'with':
          return this.#branch(token.value);
        case 'template':
          return this.#template();
      }
    }
    this.#stream.back();
    const { pos } = this.#stream.peek();
    return { type: 'action', pos, pipe: this.#pipeline('command', 'rightDelim') };
  }

  #loopControl(type: 'break' | 'continue', pos: number): ListItem {
    const token = this.#stream.next();
    if (token.type !== 'rightDelim') this.#unexpected(token, `{{${type}}}`);
    if (this.#rangeDepth === 0) this.#fail(`{{${type}}} outside {{range}}`);
    return { type, pos };
  }

  #else(): ListItem {
    const peek = this.#stream.peek();
    if (isKeyword(peek, 'if') || isKeyword(peek, 'with')) return { type: 'else', pos: peek.pos };
    return { type: 'else', pos: this.#expect('rightDelim', 'else').pos };
  }

  #branch(type: BranchNode['type']): BranchNode {
    const visible = this.#variables.length;
    const pipe = this.#pipeline(type, 'rightDelim');
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
        elseList = [this.#branch(type)];
        this.#branchDepth -= 1;
      } else {
        const [list2, end] = this.#itemList();
        if (end.type !== 'end') this.#fail(`expected end; found ${nodeText(end)}`);
        elseList = list2;
      }
    }
    this.#variables.length = visible;
    return { type, pos: pipe.pos, pipe, list, elseList };
  }

  #block(): TemplateNode {
    const context = 'block clause';
    const token = this.#stream.next();
    const name = this.#templateName(token, context);
    const pipe = this.#pipeline(context, 'rightDelim');
    const inner = this.#inner();
    const [root, end] = inner.#itemList();
    if (end.type !== 'end') this.#fail(`unexpected ${nodeText(end)} in ${context}`);
    inner.#add(name, root);
    return { type: 'template', pos: token.pos, name, pipe };
  }

  #template(): TemplateNode {
    const context = 'template clause';
    const token = this.#stream.next();
    const name = this.#templateName(token, context);
    let pipe: PipeNode | undefined;
    if (this.#stream.next().type !== 'rightDelim') {
      this.#stream.back();
      pipe = this.#pipeline(context, 'rightDelim');
    }
    return { type: 'template', pos: token.pos, name, pipe };
  }

  #pipeline(context: string, end: TokenType): PipeNode {
    const { pos } = this.#stream.peek();
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
      variables.push(variableNode(token));
      this.#variables.push(token.value);
      if (!comma) return { assigns: next.type === 'assign', variables };
      if (context !== 'range' || variables.length >= 2) this.#fail(`too many declarations in ${context}`);
      const { type } = this.#stream.peek();
      if (type !== 'variable' && type !== 'rightDelim' && type !== 'rightParen')
        this.#fail('range can only initialize variables');
    }
  }

  #command(): CommandNode {
    const { pos } = this.#stream.peek();
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
    const { pos } = this.#stream.peek();
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
    const { pos, value } = token;
    switch (token.type) {
      case 'identifier':
        if (!this.#hasFunction(value)) this.#fail(`function ${quote(value)} not defined`);
        return { type: 'identifier', pos, name: value };
      case 'dot':
      case 'nil':
        return { type: token.type, pos };
      case 'variable': {
        const variable = variableNode(token);
        if (!this.#variables.includes(variable.idents[0]!))
          this.#fail(`undefined variable ${quote(variable.idents[0]!)}`);
        return variable;
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

function variableNode(token: Token): VariableNode {
  return { type: 'variable', pos: token.pos, idents: [token.value] };
}

/** `.b` in `.a.b` and `(x).b`; after a space it would be an operand of its own. */
function isAttachedField(token: Token): boolean {
  return token.type === 'field' && !token.spaced;
}

function isKeyword(token: Token, word: string): boolean {
  return token.type === 'keyword' && token.value === word;
}

function tokenText(token: Token): string {
  if (token.type === 'eof') return 'EOF';
  if (token.type === 'keyword' || token.type === 'dot' || token.type === 'nil') return `<${token.value}>`;
  const chars = runes(token.value);
  return chars.length > 10 ? `${quote(chars.slice(0, 10).join(''))}...` : quote(token.value);
}
