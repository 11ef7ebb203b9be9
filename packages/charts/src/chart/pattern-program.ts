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
 * one after the other, and a few stars are enough for it never to end.
 */
export function patternMatcher(pieces: readonly PatternPiece[]): (path: string) => boolean {
  const program: Instruction[] = [];
  compile(pieces, program);
  return (path) => {
    let states = new Set<number>();
    reach(0, program, states);
    for (const character of path) {
      const next = new Set<number>();
      for (const state of states) {
        const instruction = program[state];
        if (instruction === undefined || 'goTo' in instruction) continue;
        if ('one' in instruction) {
          if (instruction.one(character)) reach(state + 1, program, next);
        } else if (instruction.many(character)) reach(state, program, next);
      }
      if (next.size === 0) return false;
      states = next;
    }
    return states.has(program.length);
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
function reach(start: number, program: readonly Instruction[], states: Set<number>): void {
  const open = [start];
  for (let state = open.pop(); state !== undefined; state = open.pop()) {
    if (states.has(state)) continue;
    states.add(state);
    const instruction = program[state];
    if (instruction === undefined) continue;
    if ('goTo' in instruction) open.push(...instruction.goTo);
    else if ('many' in instruction) open.push(state + 1);
  }
}
