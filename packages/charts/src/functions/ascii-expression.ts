/**
 * Regular expressions as most charts write them (`[^A-Za-z0-9]+$`), for texts of ASCII. RE2's own library has tables for the letters of
 * the whole world, which take longer to load than such an expression takes to answer. Time is linear in the text here too: no place in
 * the expression is tried twice at the same place in the text.
 */
export class AsciiExpression {
  readonly #program: readonly Instruction[];
  /** How many groups it has, the whole match included. */
  readonly groupCount: number;
  readonly #unmatched: readonly number[];

  private constructor(program: readonly Instruction[], groupCount: number) {
    this.#program = program;
    this.groupCount = groupCount;
    this.#unmatched = Array.from({ length: 2 * groupCount }, () => -1);
  }

  /** Answers nothing for an expression with anything else in it, right or wrong: then RE2 decides. */
  static compile(expression: string): AsciiExpression | undefined {
    const compiler = new Compiler(expression);
    try {
      return new AsciiExpression(compiler.program(), compiler.groupCount);
    } catch (error) {
      if (error === unusual) return undefined;
      throw error;
    }
  }

  get size(): number {
    return this.#program.length;
  }

  /** The first match that begins at `from` or later: where each group begins and ends, -1 for those that took no part. */
  search(text: string, from: number): number[] | undefined {
    const visited = new Uint8Array(this.#program.length * (text.length + 1));
    for (let start = from; start <= text.length; start += 1) {
      const found = this.#matchAt(text, start, visited);
      if (found) return found;
    }
    return undefined;
  }

  #matchAt(text: string, start: number, visited: Uint8Array): number[] | undefined {
    const places = this.#unmatched.slice();
    const width = text.length + 1;
    /** What is still to be tried: an instruction and a place, or, as -1 - slot and a place, what a group was before. */
    const open: number[] = [0, start];
    while (open.length > 0) {
      let at = open.pop()!;
      let pc = open.pop()!;
      if (pc < 0) {
        places[-1 - pc] = at;
        continue;
      }
      for (;;) {
        const mark = pc * width + at;
        if (visited[mark] === 1) break;
        visited[mark] = 1;
        const instruction = this.#program[pc]!;
        if (instruction.type === 'match') return places;
        if (instruction.type === 'split') {
          open.push(instruction.other, at);
          pc = instruction.next;
          continue;
        }
        if (instruction.type === 'save') {
          open.push(-1 - instruction.slot, places[instruction.slot]!);
          places[instruction.slot] = at;
        } else if (instruction.type === 'set') {
          if (at >= text.length || instruction.set[text.charCodeAt(at)] !== 1) break;
          at += 1;
        } else if (at !== (instruction.type === 'begin' ? 0 : text.length)) break;
        pc += 1;
      }
    }
    return undefined;
  }
}

type Instruction =
  | { readonly type: 'set'; readonly set: Uint8Array }
  | { readonly type: 'split'; readonly next: number; readonly other: number }
  | { readonly type: 'save'; readonly slot: number }
  | { readonly type: 'begin' | 'end' | 'match' };

/** A part of an expression: it writes its instructions, and may match nothing at all. */
interface Part {
  readonly write: (program: Instruction[]) => void;
  readonly nullable: boolean;
}

/** Thrown at what is not of the usual kind. */
const unusual = Symbol('unusual');

const asciiCount = 128;
const longestExpression = 200;
const mostNesting = 20;

class Compiler {
  readonly #text: string;
  #at = 0;
  #depth = 0;
  groupCount = 1;

  constructor(text: string) {
    this.#text = text;
  }

  program(): Instruction[] {
    if (this.#text.length > longestExpression) throw unusual;
    const whole = this.#alternatives();
    if (this.#at < this.#text.length) throw unusual;
    const program: Instruction[] = [];
    group(whole, 0).write(program);
    program.push({ type: 'match' });
    return program;
  }

  #alternatives(): Part {
    const first = this.#sequence();
    if (this.#text[this.#at] !== '|') return first;
    this.#at += 1;
    return either(first, this.#alternatives());
  }

  #sequence(): Part {
    const parts: Part[] = [];
    while (this.#at < this.#text.length && this.#text[this.#at] !== '|' && this.#text[this.#at] !== ')')
      parts.push(this.#repeated());
    if (parts.length === 0) throw unusual;
    return {
      write: (program) => parts.forEach((part) => part.write(program)),
      nullable: parts.every((part) => part.nullable),
    };
  }

  #repeated(): Part {
    const part = this.#atom();
    const sign = this.#text[this.#at] ?? '';
    if (sign === '{') throw unusual;
    if (!'*+?'.includes(sign) || sign === '') return part;
    this.#at += 1;
    // Lazy ones, and twice repeated ones.
    if ('*+?{'.includes(this.#text[this.#at] ?? ' ')) throw unusual;
    if (sign === '?') return optional(part);
    // What repeats nothing ends where each library says.
    if (part.nullable) throw unusual;
    return sign === '+' ? repeated(part) : optional(repeated(part));
  }

  #atom(): Part {
    const char = this.#next();
    switch (char) {
      case '(':
        return this.#group();
      case '[':
        return one(this.#class());
      case '.':
        return one(except(['\n']));
      case '^':
        return { write: (program) => program.push({ type: 'begin' }), nullable: true };
      case '$':
        return { write: (program) => program.push({ type: 'end' }), nullable: true };
      case '\\':
        return one(this.#escape());
    }
    if ('*+?{}])'.includes(char)) throw unusual;
    return one(setOf([char]));
  }

  #next(): string {
    const char = this.#text[this.#at] ?? '';
    if (!(char >= ' ' && char <= '~')) throw unusual;
    this.#at += 1;
    return char;
  }

  #group(): Part {
    this.#depth += 1;
    if (this.#depth > mostNesting) throw unusual;
    const isPlain = this.#text.startsWith('?:', this.#at);
    if (isPlain) this.#at += 2;
    const index = isPlain ? 0 : this.groupCount;
    if (!isPlain) this.groupCount += 1;
    const inner = this.#alternatives();
    if (this.#next() !== ')') throw unusual;
    this.#depth -= 1;
    return isPlain ? inner : group(inner, index);
  }

  #escape(): Uint8Array {
    const char = this.#next();
    const known = classes[char];
    if (known) return known;
    // Letters have meanings of their own.
    if (/\w/.test(char)) throw unusual;
    return setOf([char]);
  }

  #class(): Uint8Array {
    const isNegated = this.#text[this.#at] === '^';
    if (isNegated) this.#at += 1;
    const set = new Uint8Array(asciiCount);
    let isEmpty = true;
    for (;;) {
      const char = this.#next();
      if (char === ']' && !isEmpty) return isNegated ? set.map((has) => 1 - has) : set;
      if (char === ']' || char === '[') throw unusual;
      if (char === '-' && !isEmpty && this.#text[this.#at] !== ']') throw unusual;
      isEmpty = false;
      const isRange = char !== '\\' && this.#text[this.#at] === '-' && this.#text[this.#at + 1] !== ']';
      const added = char === '\\' ? this.#escape() : isRange ? this.#range(char) : setOf([char]);
      added.forEach((has, code) => (set[code]! |= has));
    }
  }

  #range(first: string): Uint8Array {
    this.#at += 1;
    const last = this.#next();
    if (!/[A-Za-z0-9]/.test(first) || !/[A-Za-z0-9]/.test(last) || last < first) throw unusual;
    return range(first, last);
  }
}

function one(set: Uint8Array): Part {
  return { write: (program) => program.push({ type: 'set', set }), nullable: false };
}

function group(part: Part, index: number): Part {
  return {
    write(program) {
      program.push({ type: 'save', slot: 2 * index });
      part.write(program);
      program.push({ type: 'save', slot: 2 * index + 1 });
    },
    nullable: part.nullable,
  };
}

/** Tries it first, then without it. */
function optional(part: Part): Part {
  return {
    write(program) {
      const split = program.push({ type: 'match' }) - 1;
      part.write(program);
      program[split] = { type: 'split', next: split + 1, other: program.length };
    },
    nullable: true,
  };
}

/** Once or more, as often as it can. */
function repeated(part: Part): Part {
  return {
    write(program) {
      const start = program.length;
      part.write(program);
      program.push({ type: 'split', next: start, other: program.length + 1 });
    },
    nullable: part.nullable,
  };
}

function either(first: Part, second: Part): Part {
  return {
    write(program) {
      const split = program.push({ type: 'match' }) - 1;
      first.write(program);
      const jump = program.push({ type: 'match' }) - 1;
      program[split] = { type: 'split', next: split + 1, other: program.length };
      second.write(program);
      program[jump] = { type: 'split', next: program.length, other: program.length };
    },
    nullable: first.nullable || second.nullable,
  };
}

function setOf(chars: readonly string[]): Uint8Array {
  const set = new Uint8Array(asciiCount);
  for (const char of chars) set[char.charCodeAt(0)] = 1;
  return set;
}

function except(chars: readonly string[]): Uint8Array {
  return setOf(chars).map((has) => 1 - has);
}

function range(first: string, last: string): Uint8Array {
  return new Uint8Array(asciiCount).fill(1, first.charCodeAt(0), last.charCodeAt(0) + 1);
}

function union(...sets: readonly Uint8Array[]): Uint8Array {
  return new Uint8Array(asciiCount).map((_, code) => Number(sets.some((set) => set[code] === 1)));
}

const digits = range('0', '9');
const wordChars = union(digits, range('A', 'Z'), range('a', 'z'), setOf(['_']));
const blanks = setOf(['\t', '\n', '\f', '\r', ' ']);
const inverted = (set: Uint8Array) => set.map((has) => 1 - has);

/** Perl's, as RE2 reads them. */
const classes: Readonly<Record<string, Uint8Array>> = {
  d: digits,
  D: inverted(digits),
  w: wordChars,
  W: inverted(wordChars),
  s: blanks,
  S: inverted(blanks),
};
