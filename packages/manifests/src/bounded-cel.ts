import { Environment, type ASTNode } from '@marcbachmann/cel-js';
import { RE2JS } from 're2js';

/** Steps of loops one evaluation may take: far more than a look at a status needs, and well below a second. */
const mostSteps = 100_000;

/** The name `matches` is evaluated under: the one of the language's library backtracks. Nobody can write it. */
const linearMatches = '@matches';

/**
 * A CEL expression from outside that cannot keep the process busy: its loops are stopped, and its regular expressions take time
 * in proportion to the text. Throws when it does not parse; the function it gives throws when it cannot be evaluated.
 */
export function compileBoundedCel(expression: string): (context: Record<string, unknown>) => unknown {
  const environment = new Environment({ unlistedVariablesAreDyn: true, homogeneousAggregateLiterals: false });
  environment.registerFunction({
    name: linearMatches,
    receiverType: 'string',
    returnType: 'bool',
    params: [{ name: 'pattern', type: 'string' }],
    handler: (text: unknown, pattern: unknown) => RE2JS.compile(String(pattern)).test(String(text)),
  });
  const program = environment.parse(expression);
  let stepsLeft = mostSteps;
  visit(program.ast, (node) => {
    if (node.op === 'rcall' && node.args[0] === 'matches') (node.args as unknown as [string])[0] = linearMatches;
    meter(node, () => {
      stepsLeft -= 1;
      if (stepsLeft < 0) throw new Error(`more than ${mostSteps} steps`);
    });
  });
  return (context) => {
    stepsLeft = mostSteps;
    return program(context) as unknown;
  };
}

interface Comprehension {
  condition?: (accumulated: unknown) => boolean;
}

/** Makes the loop of a macro (`all`, `exists`, `map`, …) tell each of its steps. */
function meter(node: ASTNode, step: () => void): void {
  const { alternate } = (node as unknown as { meta: { alternate?: { op: string; args: Comprehension } } }).meta;
  if (alternate?.op !== 'comprehension') return;
  const { condition } = alternate.args;
  // Asked before each step, and outside of what a quantifier forgives.
  alternate.args.condition = (accumulated) => {
    step();
    return condition ? condition(accumulated) : true;
  };
}

function visit(value: unknown, see: (node: ASTNode) => void): void {
  if (Array.isArray(value)) for (const part of value) visit(part, see);
  else if (typeof value === 'object' && value !== null && 'op' in value && 'args' in value) {
    see(value as ASTNode);
    visit((value as ASTNode).args, see);
  }
}
