import { parseExactly } from '../big-integer.ts';
import { internalError } from '../api-error.ts';
import type { ApiObject } from '../object.ts';
import { applyJsonPatch, type JsonPatchOperation } from '../patch/json-patch.ts';

/** Applies the base64 JSON patch of a webhook; what does not fit is an internal error in the words of the real server's library. */
export function applyWebhookPatch(object: ApiObject, patch: string): ApiObject {
  let operations: JsonPatchOperation[];
  try {
    operations = parseExactly(Buffer.from(patch, 'base64').toString()) as unknown as JsonPatchOperation[];
  } catch (error) {
    throw internalError((error as Error).message);
  }
  let patched = object;
  for (const operation of Array.isArray(operations) ? operations : []) {
    try {
      patched = applyJsonPatch(patched, [operation]);
    } catch {
      throw internalError(whyNot(patched, operation));
    }
  }
  return patched;
}

function segments(pointer: string): string[] {
  return pointer
    .split('/')
    .slice(1)
    .map((segment) => segment.replaceAll('~1', '/').replaceAll('~0', '~'));
}

function parentExists(document: unknown, pointer: string): boolean {
  let value = document;
  for (const segment of segments(pointer).slice(0, -1)) {
    value = (value as Record<string, unknown> | null | undefined)?.[segment];
  }
  return typeof value === 'object' && value !== null;
}

function whyNot(document: unknown, { op, path, from }: JsonPatchOperation): string {
  const key = segments(path).at(-1) ?? '';
  const hasParent = parentExists(document, path);
  switch (op) {
    case 'remove':
      return hasParent
        ? `error in remove for path: '${path}': Unable to remove nonexistent key: ${key}: missing value`
        : `remove operation does not apply: doc is missing path: "${path}": missing value`;
    case 'replace':
      return hasParent
        ? `replace operation does not apply: doc is missing key: ${path}: missing value`
        : `replace operation does not apply: doc is missing path: ${path}: missing value`;
    case 'add':
      return `add operation does not apply: doc is missing path: "${path}": missing value`;
    case 'test':
      return `testing value ${path} failed: test failed`;
    case 'move':
    case 'copy':
      return `${op} operation does not apply: doc is missing from path: ${from ?? ''}: missing value`;
    default:
      return `Unexpected kind: ${op}`;
  }
}
