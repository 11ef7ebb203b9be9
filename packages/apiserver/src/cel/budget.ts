import type { ASTNode } from '@marcbachmann/cel-js';

/**
 * Steps of comprehensions one evaluation may take. The real server stops at a cost of 1,000,000, and a step costs a few: this is no
 * stricter, and well below a second.
 */
const mostSteps = 300_000;

let stepsLeft = Infinity;

/** Evaluates within the budget. Throws what the real server says when it is used up. */
export function withinBudget<T>(evaluate: () => T): T {
  const before = stepsLeft;
  stepsLeft = Math.min(before, mostSteps);
  try {
    return evaluate();
  } finally {
    stepsLeft = before;
  }
}

/** Takes `steps` from the budget of the evaluation under way. */
export function spend(steps: number): void {
  stepsLeft -= steps;
  if (stepsLeft < 0) throw new Error('operation cancelled: actual cost limit exceeded');
}

interface Comprehension {
  condition?: (accumulated: unknown) => boolean;
}

/** Makes the loop of a macro (`all`, `exists`, `map`, …) pay for each of its steps. */
export function meterComprehension(node: ASTNode): boolean {
  const { alternate } = (node as unknown as { meta: { alternate?: { op: string; args: Comprehension } } }).meta;
  if (alternate?.op !== 'comprehension') return false;
  const { condition } = alternate.args;
  // Asked before each step, and outside of what a quantifier forgives.
  alternate.args.condition = (accumulated) => {
    spend(1);
    return condition ? condition(accumulated) : true;
  };
  return true;
}
