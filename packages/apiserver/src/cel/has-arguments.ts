import type { ASTNode } from '@marcbachmann/cel-js';
import type { Schema } from '../schema/schema.ts';
import { escapedName, plainName } from './escaped-name.ts';

type Scope = ReadonlyMap<string, Schema | undefined>;

/** A field an expression asks for that its schema does not have. `offset` is that of the dot before it. */
export interface UndefinedField {
  readonly name: string;
  readonly offset: number;
}

const loops = new Set(['all', 'exists', 'exists_one', 'filter', 'map']);

/** Finds `has(self.nope)`, which the type check of the language lets pass. */
export function undefinedField(
  ast: ASTNode,
  variables: ReadonlyMap<string, Schema | undefined>,
): UndefinedField | undefined {
  let found: UndefinedField | undefined;
  const visit = (node: ASTNode, scope: Scope): Schema | undefined => {
    switch (node.op) {
      case 'value':
        return undefined;
      case 'id':
        return scope.get(node.args);
      case '.': {
        const [target, name] = node.args;
        const holder = visit(target, scope);
        const member = memberOf(holder, name);
        if (holder && isClosed(holder) && !member) found ??= { name, offset: node.range.end - name.length - 1 };
        return member;
      }
      case '[]': {
        const [target, index] = node.args;
        visit(index, scope);
        const holder = visit(target, scope);
        return holder?.type === 'array' ? holder.items : additional(holder);
      }
      case 'rcall': {
        const [name, target, parameters] = node.args;
        const holder = visit(target, scope);
        const variable = parameters[0];
        if (loops.has(name) && variable?.op === 'id') {
          const inner = new Map(scope).set(variable.args, holder?.type === 'array' ? holder.items : undefined);
          for (const parameter of parameters.slice(1)) visit(parameter, inner);
          return name === 'filter' ? holder : undefined;
        }
        for (const parameter of parameters) visit(parameter, scope);
        return undefined;
      }
      default:
        visitAll(node.args, scope);
        return undefined;
    }
  };
  const visitAll = (value: unknown, scope: Scope): void => {
    if (Array.isArray(value)) for (const part of value) visitAll(part, scope);
    else if (typeof value === 'object' && value !== null && 'op' in value) visit(value as ASTNode, scope);
  };
  visit(ast, variables);
  return found;
}

function isClosed(schema: Schema): boolean {
  return (
    schema.type === 'object' &&
    schema.properties !== undefined &&
    Object.keys(schema.properties).length > 0 &&
    schema.additionalProperties === undefined &&
    schema.nullable !== true &&
    schema.embeddedResource !== true
  );
}

function additional(schema: Schema | undefined): Schema | undefined {
  return typeof schema?.additionalProperties === 'object' ? schema.additionalProperties : undefined;
}

function memberOf(schema: Schema | undefined, name: string): Schema | undefined {
  for (const [property, found] of Object.entries(schema?.properties ?? {})) {
    if (escapedName(property) === name || plainName(property) === name) return found;
  }
  return additional(schema);
}
