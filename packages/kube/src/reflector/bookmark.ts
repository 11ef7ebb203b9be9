import { UndecodableError } from './json-bytes.ts';
import { parseVersion, type Version } from './resource-version.ts';

/** How far a watch is, without a change. */
export interface Bookmark {
  readonly version: Version;
  /** All objects of a streamed list have been sent. */
  readonly endsList: boolean;
}

const endMarker = 'k8s.io/initial-events-end';

/** Throws `UndecodableError` when it cannot be read. */
export function parseBookmark(text: string): Bookmark {
  let parsed: { metadata?: { resourceVersion?: unknown; annotations?: Readonly<Record<string, string>> } };
  try {
    parsed = JSON.parse(text);
  } catch (cause) {
    throw new UndecodableError('a bookmark is not JSON', { cause });
  }
  const { resourceVersion, annotations } = parsed.metadata ?? {};
  if (typeof resourceVersion !== 'string') throw new UndecodableError('a bookmark has no resource version');
  return { version: parseVersion(resourceVersion), endsList: annotations?.[endMarker] === 'true' };
}
