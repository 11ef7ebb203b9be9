import type { ASTNode, Environment } from '@marcbachmann/cel-js';

/** What the library keeps beside a node: an expression that is checked and evaluated in its place. */
interface Replaceable {
  setMeta(key: 'alternate', replacement: ASTNode): void;
}

/**
 * The library asks `has` of names only, such as `self.a.b`. Of a field of what comes out of a list, a map or a function it is asked as an
 * optional field, which means the same.
 */
export function widenHas(environment: Environment, node: ASTNode): void {
  if (node.op !== 'call' || node.args[0] !== 'has') return;
  const [field] = node.args[1];
  if (field?.op !== '.' || isChainOfNames(field)) return;
  const asked = environment.parse('holder.?field.hasValue()').ast;
  const optional = (asked.args as readonly unknown[])[1] as { readonly args: unknown[] };
  optional.args[0] = field.args[0];
  optional.args[1] = field.args[1];
  (node as unknown as Replaceable).setMeta('alternate', asked);
}

function isChainOfNames(node: ASTNode): boolean {
  return node.op === 'id' || ((node.op === '.' || node.op === '.?') && isChainOfNames(node.args[0]));
}
