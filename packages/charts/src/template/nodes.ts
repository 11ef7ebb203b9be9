import { quote } from '../go/quote.ts';

/**
 * The parts of a parsed template. `pos` is the offset Go would report, which for `.a.b` is that of `.b`, from where its action `start`s behind
 * the delimiter: the same action stands in many places.
 */
export type Node = ListItem | Operand | PipeNode | CommandNode;

export type ListItem =
  | TextNode
  | ActionNode
  | BranchNode
  | TemplateNode
  | { readonly type: 'break' | 'continue' | 'else' | 'end'; readonly start: number; readonly pos: number };

/** What may go wrong, and then has a place. */
export type PlacedNode = Exclude<Node, TextNode>;

export type Operand =
  | IdentifierNode
  | VariableNode
  | FieldNode
  | ChainNode
  | NumberNode
  | StringNode
  | PipeNode
  | { readonly type: 'dot' | 'nil'; readonly pos: number }
  | { readonly type: 'bool'; readonly pos: number; readonly value: boolean };

export interface TextNode {
  readonly type: 'text';
  readonly text: string;
}

export interface ActionNode {
  readonly type: 'action';
  readonly start: number;
  readonly pos: number;
  readonly pipe: PipeNode;
}

export interface BranchNode {
  readonly type: 'if' | 'range' | 'with';
  readonly start: number;
  readonly pos: number;
  readonly pipe: PipeNode;
  readonly list: readonly ListItem[];
  readonly elseList: readonly ListItem[] | undefined;
}

export interface TemplateNode {
  readonly type: 'template';
  readonly start: number;
  readonly pos: number;
  readonly name: string;
  readonly pipe: PipeNode | undefined;
}

export interface PipeNode {
  readonly type: 'pipe';
  readonly pos: number;
  readonly assigns: boolean;
  readonly variables: readonly VariableNode[];
  readonly commands: readonly CommandNode[];
}

export interface CommandNode {
  readonly type: 'command';
  readonly pos: number;
  readonly args: readonly Operand[];
}

export interface IdentifierNode {
  readonly type: 'identifier';
  readonly pos: number;
  readonly name: string;
}

export interface VariableNode {
  readonly type: 'variable';
  readonly pos: number;
  readonly idents: readonly string[];
}

export interface FieldNode {
  readonly type: 'field';
  readonly pos: number;
  readonly idents: readonly string[];
}

export interface ChainNode {
  readonly type: 'chain';
  readonly pos: number;
  readonly node: Operand;
  readonly fields: readonly string[];
}

/** A literal number is "ideal": what it may become depends on who asks for it. */
export interface NumberNode {
  readonly type: 'number';
  readonly pos: number;
  readonly text: string;
  readonly int: bigint | undefined;
  readonly uint: bigint | undefined;
  readonly float: number | undefined;
}

export interface StringNode {
  readonly type: 'string';
  readonly pos: number;
  readonly quoted: string;
  readonly text: string;
}

/** A template as it was written, for error messages. */
export function nodeText(node: Node): string {
  switch (node.type) {
    case 'text':
      return node.text;
    case 'action':
      return `{{${nodeText(node.pipe)}}}`;
    case 'if':
    case 'range':
    case 'with': {
      const otherwise = node.elseList ? `{{else}}${node.elseList.map(nodeText).join('')}` : '';
      return `{{${node.type} ${nodeText(node.pipe)}}}${node.list.map(nodeText).join('')}${otherwise}{{end}}`;
    }
    case 'template':
      return `{{template ${quote(node.name)}${node.pipe ? ` ${nodeText(node.pipe)}` : ''}}}`;
    case 'break':
    case 'continue':
    case 'else':
    case 'end':
      return `{{${node.type}}}`;
    case 'pipe': {
      const declared = node.variables.map(nodeText).join(', ');
      const sign = node.variables.length === 0 ? '' : node.assigns ? ' = ' : ' := ';
      return declared + sign + node.commands.map(nodeText).join(' | ');
    }
    case 'command':
      return node.args.map((arg) => (arg.type === 'pipe' ? `(${nodeText(arg)})` : nodeText(arg))).join(' ');
    case 'identifier':
      return node.name;
    case 'variable':
      return node.idents.join('.');
    case 'field':
      return node.idents.map((ident) => `.${ident}`).join('');
    case 'chain': {
      const head = node.node.type === 'pipe' ? `(${nodeText(node.node)})` : nodeText(node.node);
      return head + node.fields.map((field) => `.${field}`).join('');
    }
    case 'number':
      return node.text;
    case 'string':
      return node.quoted;
    case 'bool':
      return String(node.value);
    case 'dot':
      return '.';
    case 'nil':
      return 'nil';
  }
}

/** Whether a template has nothing to say: such a definition does not replace one that has. */
export function isEmptyTree(list: readonly ListItem[]): boolean {
  return list.every((node) => node.type === 'text' && node.text.trim() === '');
}
