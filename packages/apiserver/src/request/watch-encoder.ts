import type { StatusBody } from '../api-error.ts';
import { encodeEntry, type EncodedObject } from '../http/encode.ts';
import type { Representation } from '../http/negotiate.ts';
import type { ApiObject, JsonObject } from '../object.ts';
import type { Resource } from '../resource.ts';
import type { Entry } from '../store/entry.ts';
import type { ChangeType } from '../store/storage.ts';
import type { Change, Store } from '../store/store.ts';
import { partialMetadata, tableOf, tableRow } from '../table/table.ts';
import type { Core } from './core.ts';
import { apiVersionOf, identityOf, inVersion } from './versions.ts';

/** An event for somebody in this process. */
export class SharedEvent {
  readonly type: string;
  readonly object: ApiObject;

  constructor(type: string, object: ApiObject) {
    this.type = type;
    this.object = object;
  }
}

/** What one watch is told: a line, or without bytes the object itself. */
export type WatchLine = Buffer | SharedEvent;

/** Makes the lines of one watch. */
export interface EventEncoder {
  /** The line for a change; the same bytes for every watcher with the same representation. */
  change(type: ChangeType, change: Change): WatchLine | Promise<WatchLine>;
  event(type: ChangeType, entry: Entry): WatchLine | Promise<WatchLine>;
  bookmark(revision: number, initialEventsEnd: boolean): WatchLine;
  error(status: StatusBody): WatchLine;
}

/** For watches inside this process: the stored objects themselves. */
export function sharedEvents(resource: Resource): EventEncoder {
  const event = (type: ChangeType, entry: Entry) => {
    const object = inVersion(entry, resource);
    return object instanceof Promise
      ? object.then((converted) => new SharedEvent(type, converted))
      : new SharedEvent(type, object);
  };
  return {
    event,
    change: (type, { entry }) => event(type, entry),
    bookmark(revision, initialEventsEnd) {
      const metadata = bookmarkMetadata(revision, initialEventsEnd);
      const object = { kind: resource.kind, apiVersion: apiVersionOf(resource), metadata } as unknown as ApiObject;
      return new SharedEvent('BOOKMARK', object);
    },
    error: (status) => new SharedEvent('ERROR', status as unknown as ApiObject),
  };
}

/** The lines of the change that is being told right now. One slot is enough: changes are told one after the other. */
interface Memo {
  change: Change | undefined;
  readonly lines: Map<string, Buffer | Promise<Buffer>>;
}

const memos = new WeakMap<Store, Memo>();

export function eventEncoder(core: Core, resource: Resource, representation: Representation): EventEncoder {
  const shape = representation.as === 'Table' ? 'table' : representation.as ? 'metadata' : 'object';
  if (shape === 'table') return tableEncoder(core, resource, representation);
  const name = `${shape} ${identityOf(resource)}`;
  const event = (type: ChangeType, entry: Entry) =>
    shape === 'metadata' ? metadataLine(type, entry, resource) : objectLine(type, entry, resource);
  return {
    event,
    change: (type, change) => shared(core.store, change, `${type} ${name}`, () => event(type, change.entry)),
    bookmark(revision, initialEventsEnd) {
      const identity =
        shape === 'metadata'
          ? { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1' }
          : { kind: resource.kind, apiVersion: apiVersionOf(resource) };
      return line('BOOKMARK', { ...identity, metadata: bookmarkMetadata(revision, initialEventsEnd) });
    },
    error: (status) => line('ERROR', status as unknown as JsonObject),
  };
}

function shared(
  store: Store,
  change: Change,
  name: string,
  make: () => Buffer | Promise<Buffer>,
): Buffer | Promise<Buffer> {
  let memo = memos.get(store);
  if (!memo) memos.set(store, (memo = { change: undefined, lines: new Map() }));
  if (memo.change !== change) {
    memo.change = change;
    memo.lines.clear();
  }
  let made = memo.lines.get(name);
  if (!made) memo.lines.set(name, (made = make()));
  return made;
}

/** Columns come with the first event only, so its line cannot be shared. */
function tableEncoder(core: Core, resource: Resource, representation: Representation): EventEncoder {
  let first = true;
  const { includeObject } = representation;
  const table = (type: string, object: ApiObject) => {
    const columns = first ? resource.columns : null;
    first = false;
    const row = tableRow(object, resource, includeObject, core.clock.now());
    return line(type, tableOf({ resourceVersion: object.metadata.resourceVersion! }, columns, [row]));
  };
  const event = (type: ChangeType, entry: Entry) => {
    const object = inVersion(entry, resource);
    return object instanceof Promise ? object.then((converted) => table(type, converted)) : table(type, object);
  };
  return {
    event,
    change(type, change) {
      if (first) return event(type, change.entry);
      const name = `${type} table ${includeObject} ${identityOf(resource)}`;
      return shared(core.store, change, name, () => event(type, change.entry));
    },
    bookmark(revision, initialEventsEnd) {
      const metadata = bookmarkMetadata(revision, initialEventsEnd);
      const object = { kind: resource.kind, apiVersion: apiVersionOf(resource), metadata } as unknown as ApiObject;
      return table('BOOKMARK', object);
    },
    error: (status) => line('ERROR', status as unknown as JsonObject),
  };
}

function objectLine(type: ChangeType, entry: Entry, resource: Resource): Buffer | Promise<Buffer> {
  const encoded = encodeEntry(entry, resource);
  return encoded instanceof Promise ? encoded.then((done) => wrap(type, done)) : wrap(type, encoded);
}

function wrap(type: ChangeType, { head, body }: EncodedObject): Buffer {
  return Buffer.from(`{"type":"${type}","object":${head}${body}}\n`);
}

function metadataLine(type: ChangeType, entry: Entry, resource: Resource): Buffer | Promise<Buffer> {
  const object = inVersion(entry, resource);
  const encode = (converted: ApiObject) => line(type, partialMetadata(converted));
  return object instanceof Promise ? object.then(encode) : encode(object);
}

function bookmarkMetadata(revision: number, initialEventsEnd: boolean): JsonObject {
  return {
    resourceVersion: String(revision),
    ...(initialEventsEnd ? { annotations: { 'k8s.io/initial-events-end': 'true' } } : {}),
  };
}

function line(type: string, object: JsonObject): Buffer {
  return Buffer.from(`{"type":"${type}","object":${JSON.stringify(object)}}\n`);
}
