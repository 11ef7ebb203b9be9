import type { JsonPatchOperation } from './client.ts';
import { jsonEqual } from './equality.ts';
import { isRecord } from './json.ts';
import { mutable } from './mutable.ts';
import { ownField, setField } from './own-field.ts';

/** The RFC 6902 patch that turns `from` into `to`: what a mutating webhook answers with. Empty when they are equal. */
export function createJsonPatch(from: unknown, to: unknown): JsonPatchOperation[] {
  const operations: JsonPatchOperation[] = [];
  compare(from, to, '', operations);
  return operations;
}

function compare(from: unknown, to: unknown, path: string, operations: JsonPatchOperation[]): void {
  if (jsonEqual(from, to)) return;
  if (isRecord(from) && isRecord(to)) compareObjects(from, to, path, operations);
  else if (Array.isArray(from) && Array.isArray(to)) compareLists(from, to, path, operations);
  else operations.push({ op: 'replace', path, value: to });
}

function compareObjects(
  from: Record<string, unknown>,
  to: Record<string, unknown>,
  path: string,
  operations: JsonPatchOperation[],
): void {
  for (const key of Object.keys(from))
    if (from[key] !== undefined && ownField(to, key) === undefined)
      operations.push({ op: 'remove', path: below(path, key) });
  for (const key of Object.keys(to)) {
    if (to[key] === undefined) continue;
    if (ownField(from, key) === undefined) operations.push({ op: 'add', path: below(path, key), value: to[key] });
    else compare(from[key], to[key], below(path, key), operations);
  }
}

/** What the lists have in common at either end stays; only the middle is touched. */
function compareLists(
  from: readonly unknown[],
  to: readonly unknown[],
  path: string,
  operations: JsonPatchOperation[],
): void {
  let start = 0;
  while (start < from.length && start < to.length && jsonEqual(from[start], to[start])) start += 1;
  let end = 0;
  while (
    end < from.length - start &&
    end < to.length - start &&
    jsonEqual(from[from.length - 1 - end], to[to.length - 1 - end])
  )
    end += 1;
  const changed = Math.min(from.length, to.length) - start - end;
  for (let index = start; index < start + changed; index += 1)
    compare(from[index], to[index], `${path}/${index}`, operations);
  for (let index = from.length - end - 1; index >= start + changed; index -= 1)
    if (from.length > to.length) operations.push({ op: 'remove', path: `${path}/${index}` });
  for (let index = start + changed; index < to.length - end; index += 1)
    operations.push({ op: 'add', path: `${path}/${index}`, value: to[index] });
}

/** `target` with a patch applied, as a new value. Fails, changing nothing, when a `test` does not hold or a path leads nowhere. */
export function applyJsonPatch(target: unknown, operations: readonly JsonPatchOperation[]): unknown {
  const root: { value: unknown } = { value: mutable(target) };
  for (const operation of operations) applyOperation(root, operation);
  return root.value;
}

function applyOperation(root: { value: unknown }, operation: JsonPatchOperation): void {
  switch (operation.op) {
    case 'test':
      if (!jsonEqual(read(root, operation.path), operation.value))
        throw new Error(`JSON patch: test of ${operation.path} failed`);
      return;
    case 'add':
      write(root, operation.path, mutable(operation.value), 'insert');
      return;
    case 'replace':
      read(root, operation.path);
      write(root, operation.path, mutable(operation.value), 'replace');
      return;
    case 'remove':
      remove(root, operation.path);
      return;
    case 'copy':
      write(root, operation.path, mutable(read(root, operation.from)), 'insert');
      return;
    case 'move': {
      if (operation.path.startsWith(`${operation.from}/`))
        throw new Error(`JSON patch: ${operation.from} cannot be moved into itself`);
      const value = read(root, operation.from);
      remove(root, operation.from);
      write(root, operation.path, value, 'insert');
    }
  }
}

function read(root: { value: unknown }, path: string): unknown {
  let value: unknown = root.value;
  for (const token of tokens(path)) value = child(value, token, path);
  return value;
}

function child(value: unknown, token: string, path: string): unknown {
  if (Array.isArray(value)) {
    const index = indexOf(token, value.length - 1, path);
    return value[index];
  }
  if (isRecord(value) && Object.hasOwn(value, token)) return value[token];
  throw new Error(`JSON patch: there is nothing at ${path}`);
}

function write(root: { value: unknown }, path: string, value: unknown, mode: 'insert' | 'replace'): void {
  const [last, parent] = locate(root, path);
  if (last === undefined) root.value = value;
  else if (Array.isArray(parent)) {
    if (mode === 'replace') parent[indexOf(last, parent.length - 1, path)] = value;
    else parent.splice(last === '-' ? parent.length : indexOf(last, parent.length, path), 0, value);
  } else if (isRecord(parent)) setField(parent, last, value);
  else throw new Error(`JSON patch: there is nothing that could hold ${path}`);
}

function remove(root: { value: unknown }, path: string): void {
  read(root, path);
  const [last, parent] = locate(root, path);
  if (last === undefined) root.value = undefined;
  else if (Array.isArray(parent)) parent.splice(indexOf(last, parent.length - 1, path), 1);
  else delete (parent as Record<string, unknown>)[last];
}

function locate(root: { value: unknown }, path: string): [last: string | undefined, parent: unknown] {
  const all = tokens(path);
  const last = all.pop();
  let parent: unknown = root.value;
  for (const token of all) parent = child(parent, token, path);
  return [last, parent];
}

function indexOf(token: string, limit: number, path: string): number {
  const index = /^(0|[1-9]\d*)$/.test(token) ? Number(token) : Number.NaN;
  if (!(index <= limit)) throw new Error(`JSON patch: ${path} is outside of its list`);
  return index;
}

function tokens(path: string): string[] {
  if (path === '') return [];
  if (!path.startsWith('/')) throw new Error(`JSON patch: path "${path}" must begin with "/"`);
  return path
    .slice(1)
    .split('/')
    .map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'));
}

function below(path: string, key: string): string {
  return `${path}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`;
}
