/** A piece of a pattern for paths: one character, any number of them, or one of several patterns. */
export type PatternPiece =
  | { readonly one: (character: string) => boolean }
  | { readonly many: (character: string) => boolean }
  | { readonly anyOf: readonly (readonly PatternPiece[])[] };

type Instruction = Exclude<PatternPiece, { readonly anyOf: unknown }> | { readonly goTo: readonly number[] };

/** Longer than any path; what follows takes the product of the lengths of pattern and path. */
export const longestPattern = 4096;

/**
 * Whether the pieces match the whole of a path. All ways through the pattern are followed at once: a regular expression would try
 * one after the other, and a few stars are enough for it never to end. Tells how often it looked at a character.
 */
export function patternMatcher(
  pieces: readonly PatternPiece[],
  countLooks: (looks: number) => void = () => undefined,
): (path: string) => boolean {
  const program: Instruction[] = [];
  compile(pieces, program);
  // Two lists of places that change their parts with every character, and a mark that tells which are in the list already.
  const marks = new Uint32Array(program.length + 1);
  let mark = 0;
  return (path) => {
    let states: number[] = [];
    mark += 1;
    reach(0, program, states, marks, mark);
    let next: number[] = [];
    for (const character of path) {
      countLooks(states.length);
      next.length = 0;
      mark += 1;
      for (const state of states) {
        const instruction = program[state];
        if (instruction === undefined || 'goTo' in instruction) continue;
        if ('one' in instruction) {
          if (instruction.one(character)) reach(state + 1, program, next, marks, mark);
        } else if (instruction.many(character)) reach(state, program, next, marks, mark);
      }
      if (next.length === 0) return false;
      [states, next] = [next, states];
    }
    return states.includes(program.length);
  };
}

function compile(pieces: readonly PatternPiece[], program: Instruction[]): void {
  for (const piece of pieces) {
    if (!('anyOf' in piece)) {
      program.push(piece);
      continue;
    }
    const starts: number[] = [];
    const ends: number[] = [];
    program.push({ goTo: starts });
    for (const choice of piece.anyOf) {
      starts.push(program.length);
      compile(choice, program);
      ends.push(program.length);
      program.push({ goTo: [] });
    }
    for (const end of ends) program[end] = { goTo: [program.length] };
  }
}

/** Adds a place in the program, and all that is reached from it without a character. */
function reach(
  start: number,
  program: readonly Instruction[],
  states: number[],
  marks: Uint32Array,
  mark: number,
): void {
  for (let state = start; marks[state] !== mark; state += 1) {
    marks[state] = mark;
    states.push(state);
    const instruction = program[state];
    if (instruction === undefined || 'one' in instruction) return;
    if ('goTo' in instruction) {
      for (const place of instruction.goTo) reach(place, program, states, marks, mark);
      return;
    }
  }
}
