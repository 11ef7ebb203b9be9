import { goKind } from '../schema/go-types.ts';
import { isJsonObject, parseExactly } from '../big-integer.ts';
import { cloneJson } from '../clone-json.ts';
import { equalJson } from '../equal-json.ts';
import { ApiError, badRequest } from '../api-error.ts';
import type { Json, JsonObject } from '../object.ts';
import { getOwn, setOwn } from '../own-property.ts';

/** One operation of RFC 6902. */
export interface JsonPatchOperation {
  readonly op: string;
  readonly path: string;
  readonly from?: string;
  readonly value?: Json;
}

const maxOperations = 10_000;
/** Bytes that the `copy` operations of one patch may copy in all. A patch of a few lines can double a value with each of them. */
const maxCopiedBytes = 3 * 1024 * 1024;
/** Elements that may make room for others in all. A short patch of a long list moves all of it with each operation. */
const maxMovedElements = 100_000_000;

/** What the operations of one patch have used up together. */
interface Effort {
  copiedBytes: number;
  movedElements: number;
}

/** The 422 without details that the real server gives when a patch does not fit the object. */
export function patchRejected(): ApiError {
  return new ApiError({
    code: 422,
    reason: 'Invalid',
    message: 'the server rejected our request due to an error in our request',
    details: {},
  });
}

/** Checks the shape of a decoded patch body. Throws a 400 or a 413. */
export function jsonPatchOperations(body: Json): JsonPatchOperation[] {
  const fail = (what: Json, type: string): ApiError =>
    badRequest(`error decoding patch: json: cannot unmarshal ${goKind(what)} into Go value of type ${type}`);
  if (body === null) return [];
  if (!Array.isArray(body)) throw fail(body, '[]handlers.jsonPatchOp');
  if (body.length > maxOperations) {
    const message = `The allowed maximum operations in a JSON patch is ${maxOperations}, got ${body.length}`;
    throw new ApiError({
      code: 413,
      reason: 'RequestEntityTooLarge',
      message: `Request entity is too large: ${message}`,
    });
  }
  return body.map((item) => {
    if (typeof item !== 'object' || item === null || Array.isArray(item)) throw fail(item, 'handlers.jsonPatchOp');
    for (const field of ['op', 'path', 'from']) {
      const value = getOwn(item, field);
      if (value !== undefined && value !== null && typeof value !== 'string') {
        throw badRequest(
          `error decoding patch: json: cannot unmarshal ${goKind(value)} into Go struct field jsonPatchOp.${field} of type string`,
        );
      }
    }
    return {
      op: (getOwn(item, 'op') as string | null) ?? '',
      path: (getOwn(item, 'path') as string | null) ?? '',
      ...(typeof getOwn(item, 'from') === 'string' ? { from: getOwn(item, 'from') as string } : {}),
      ...(Object.hasOwn(item, 'value') ? { value: item['value'] as Json } : {}),
    };
  });
}

/** Applies RFC 6902 operations to a copy of `document`. Throws the 422 of {@link patchRejected} when one does not fit. */
export function applyJsonPatch<T extends object>(document: T, operations: readonly JsonPatchOperation[]): T {
  let result = cloneJson(document) as unknown as Json;
  const effort: Effort = { copiedBytes: 0, movedElements: 0 };
  for (const operation of operations) {
    const { op, path, value = null } = operation;
    if (path !== '') applyOperation(result, operation, effort);
    else if (op === 'replace' && (Array.isArray(value) || isJsonObject(value))) result = cloneJson(value);
    // The whole document can be replaced and tested, nothing else.
    else if (op !== 'test' || !equalJson(result, value)) throw patchRejected();
  }
  return result as unknown as T;
}

function applyOperation(document: Json, { op, path, from, value }: JsonPatchOperation, effort: Effort): void {
  const at = (pointer: string) => locate(document, pointer, effort);
  switch (op) {
    case 'add':
      return at(path).add(cloneJson(value ?? null));
    case 'replace':
      // A missing field is simply set, a missing list element is an error.
      return at(path).set(cloneJson(value ?? null));
    case 'remove':
      return at(path).remove();
    case 'test': {
      const found = at(path).get();
      // A field that is not there equals null.
      if (!equalJson(found ?? null, value ?? null)) throw patchRejected();
      return;
    }
    case 'copy': {
      const text = JSON.stringify(at(from ?? '').get() ?? null);
      effort.copiedBytes += Buffer.byteLength(text);
      if (effort.copiedBytes > maxCopiedBytes) throw patchRejected();
      return at(path).add(parseExactly(text));
    }
    case 'move': {
      const source = at(from ?? '');
      const found = source.get();
      source.remove();
      return at(path).add(found ?? null);
    }
    default:
      throw patchRejected();
  }
}

/** The place a pointer names: its parent exists, the place itself may not. */
interface Place {
  get(): Json | undefined;
  set(value: Json): void;
  add(value: Json): void;
  remove(): void;
}

function locate(document: Json, pointer: string, effort: Effort): Place {
  const tokens = pointer.split('/').map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'));
  const last = tokens.pop();
  // A pointer starts with a slash.
  if (last === undefined || tokens.length === 0) throw patchRejected();
  let parent = document;
  for (const token of tokens.slice(1)) {
    const next = Array.isArray(parent) ? itemAt(parent, token) : isObject(parent) ? getOwn(parent, token) : undefined;
    if (next === undefined || next === null) throw patchRejected();
    parent = next;
  }
  if (Array.isArray(parent)) return placeInList(parent, last, effort);
  if (isObject(parent)) return placeInObject(parent, last);
  throw patchRejected();
}

function isObject(value: Json): value is JsonObject {
  return isJsonObject(value);
}

function itemAt(list: Json[], token: string): Json | undefined {
  const index = indexOf(token, list.length - 1);
  return index === undefined ? undefined : list[index];
}

/** Negative positions count from behind the last possible one, as the real server's library does. */
function indexOf(token: string, highest: number): number | undefined {
  if (!/^[-+]?\d+$/.test(token)) return undefined;
  const index = Number(token);
  const resolved = index < 0 ? index + highest + 1 : index;
  return resolved >= 0 && resolved <= highest ? resolved : undefined;
}

function placeInObject(object: JsonObject, key: string): Place {
  return {
    get: () => getOwn(object, key),
    set: (value) => setOwn(object, key, value),
    add: (value) => setOwn(object, key, value),
    remove() {
      if (!Object.hasOwn(object, key)) throw patchRejected();
      delete object[key];
    },
  };
}

function placeInList(list: Json[], token: string, effort: Effort): Place {
  const splice = (index: number, remove: number, ...items: Json[]): void => {
    effort.movedElements += list.length - index;
    if (effort.movedElements > maxMovedElements) throw patchRejected();
    list.splice(index, remove, ...items);
  };
  const existing = (): number => {
    const index = indexOf(token, list.length - 1);
    if (index === undefined) throw patchRejected();
    return index;
  };
  return {
    get: () => list[existing()],
    set: (value) => {
      list[existing()] = value;
    },
    add(value) {
      if (token === '-') {
        list.push(value);
        return;
      }
      const index = indexOf(token, list.length);
      if (index === undefined) throw patchRejected();
      splice(index, 0, value);
    },
    remove() {
      splice(existing(), 1);
    },
  };
}
