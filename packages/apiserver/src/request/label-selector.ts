import { badRequest } from '../api-error.ts';

export type LabelTest = (labels: Readonly<Record<string, string>>) => boolean;

interface Token {
  readonly kind: 'identifier' | 'operator' | 'end';
  readonly text: string;
}

const operators = ['==', '!=', '=', '!', '(', ')', ',', '>', '<'];

/** Understands `a=b`, `a!=b`, `a in (x,y)`, `a notin (x)`, `a`, `!a`, `a>1`; `undefined` selects everything. */
export function parseLabelSelector(text: string): LabelTest | undefined {
  const parser = new Parser(tokenize(text));
  const tests = parser.requirements();
  return tests.length === 0 ? undefined : (labels) => tests.every((test) => test(labels));
}

function tokenize(text: string): Token[] {
  const tokens: Token[] = [];
  let index = 0;
  while (index < text.length) {
    if (/\s/.test(text[index]!)) {
      index += 1;
      continue;
    }
    const operator = operators.find((candidate) => text.startsWith(candidate, index));
    if (operator) {
      tokens.push({ kind: 'operator', text: operator });
      index += operator.length;
      continue;
    }
    let end = index;
    while (end < text.length && !/[\s=!(),<>]/.test(text[end]!)) end += 1;
    tokens.push({ kind: 'identifier', text: text.slice(index, end) });
    index = end;
  }
  tokens.push({ kind: 'end', text: '' });
  return tokens;
}

class Parser {
  readonly #tokens: readonly Token[];
  #at = 0;

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens;
  }

  requirements(): LabelTest[] {
    const tests: LabelTest[] = [];
    if (this.#peek().kind === 'end') return tests;
    for (;;) {
      const token = this.#peek();
      if (token.kind !== 'identifier' && token.text !== '!') {
        throw badRequest(`found '${token.text}', expected: !, identifier, or 'end of string'`);
      }
      tests.push(this.#requirement());
      const next = this.#next();
      if (next.kind === 'end') return tests;
      if (next.text !== ',') throw badRequest(`found '${next.text}', expected: ',' or 'end of string'`);
      const following = this.#peek();
      if (following.kind !== 'identifier' && following.text !== '!') {
        throw badRequest(`found '${following.text}', expected: identifier after ','`);
      }
    }
  }

  #requirement(): LabelTest {
    if (this.#peek().text === '!' && this.#peek().kind === 'operator') {
      this.#next();
      const key = this.#key();
      return (labels) => labels[key] === undefined;
    }
    const key = this.#key();
    const token = this.#peek();
    if (token.kind === 'end' || token.text === ',') return (labels) => labels[key] !== undefined;
    this.#next();
    const word = token.text;
    if (token.kind === 'operator') {
      switch (word) {
        case '=':
        case '==': {
          const value = this.#value();
          return (labels) => labels[key] === value;
        }
        case '!=': {
          const value = this.#value();
          return (labels) => labels[key] !== value;
        }
        case '>':
        case '<':
          return this.#comparison(key, word);
        default:
      }
    } else if (word === 'in' || word === 'notin') {
      const values = this.#values();
      return word === 'in'
        ? (labels) => labels[key] !== undefined && values.has(labels[key])
        : (labels) => labels[key] === undefined || !values.has(labels[key]);
    }
    throw unparsed(`found '${word}', expected: in, notin, =, ==, !=, gt, lt`);
  }

  #comparison(key: string, operator: '<' | '>'): LabelTest {
    const text = this.#value();
    if (!/^-?\d+$/.test(text)) {
      throw unparsed(`values[0]: Invalid value: "${text}": for 'Gt', 'Lt' operators, the value must be an integer`);
    }
    const bound = BigInt(text);
    return (labels) => {
      const value = labels[key];
      if (value === undefined || !/^-?\d+$/.test(value)) return false;
      return operator === '>' ? BigInt(value) > bound : BigInt(value) < bound;
    };
  }

  #key(): string {
    const token = this.#next();
    if (token.kind !== 'identifier') throw unparsed(`found '${token.text}', expected: identifier`);
    const problem = labelKeyProblem(token.text);
    if (problem) throw unparsed(`<nil>: Invalid value: ${JSON.stringify(token.text)}: ${problem}`);
    return token.text;
  }

  /** A single value; nothing at all means the empty string. */
  #value(): string {
    const token = this.#peek();
    if (token.kind === 'end' || token.text === ',') return '';
    this.#next();
    if (token.kind !== 'identifier') throw unparsed(`found '${token.text}', expected: identifier`);
    return checkedValue(token.text);
  }

  #values(): Set<string> {
    const open = this.#next();
    if (open.text !== '(') throw unparsed(`found '${open.text}' expected: '('`);
    const values = new Set<string>();
    for (;;) {
      const token = this.#peek();
      if (token.kind === 'identifier') {
        this.#next();
        values.add(checkedValue(token.text));
      } else if (token.text === ',' || token.text === ')') values.add('');
      else throw unparsed(`found '${token.text}', expected: ',', ')' or identifier`);
      const separator = this.#next();
      if (separator.text === ')') return values;
      if (separator.text !== ',') throw unparsed(`found '${separator.text}', expected: ',' or ')'`);
    }
  }

  #peek(): Token {
    return this.#tokens[Math.min(this.#at, this.#tokens.length - 1)]!;
  }

  #next(): Token {
    const token = this.#peek();
    this.#at += 1;
    return token;
  }
}

const namePart = /^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/;
const valuePart = /^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$/;
const prefixPart = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

function labelKeyProblem(key: string): string | undefined {
  const slash = key.indexOf('/');
  const name = slash < 0 ? key : key.slice(slash + 1);
  if (slash === 0) return 'prefix part must be non-empty';
  if (slash > 0 && !prefixPart.test(key.slice(0, slash))) {
    return "prefix part a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
  }
  if (name.length > 63) return 'name part must be no more than 63 bytes';
  if (!namePart.test(name)) {
    return "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
  }
  return undefined;
}

function unparsed(problem: string): Error {
  return badRequest(`unable to parse requirement: ${problem}`);
}

function checkedValue(value: string): string {
  if (value.length > 63) throw unparsed(`values[0]: Invalid value: "${value}": must be no more than 63 bytes`);
  if (!valuePart.test(value)) {
    throw unparsed(
      `values[0]: Invalid value: "${value}": a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')`,
    );
  }
  return value;
}
