import { ApiError, badRequest } from '../api-error.ts';
import type { Resource } from '../resource.ts';
import type { Entry } from '../store/entry.ts';
import { RevisionCompacted } from '../store/store.ts';
import type { Answer, ListMetadata } from './answer.ts';
import { decodeContinueToken, encodeContinueToken } from './continue-token.ts';
import type { Core, ResourceRequest } from './core.ts';
import { listOptions, type ListOptions } from './options.ts';
import { parseResourceVersion, waitForRevision } from './resource-version.ts';
import { selectionOf, type Selection } from './selection.ts';
import { convertTogether, inVersion } from './versions.ts';

/** GET of a collection. */
export async function list(core: Core, request: ResourceRequest): Promise<Answer> {
  const { resource } = request;
  const options = listOptions(request.query);
  const selection = selectionOf(resource, request.namespace, options);
  const page = await pageOf(core, resource, selection, options, request.staleBy);
  return { kind: 'list', entries: page.entries, metadata: page.metadata, resource };
}

interface Page {
  readonly entries: readonly Entry[];
  readonly metadata: ListMetadata;
}

export async function pageOf(
  core: Core,
  resource: Resource,
  selection: Selection,
  options: ListOptions,
  staleBy = 0,
): Promise<Page> {
  const { store } = core;
  const asked = parseResourceVersion(options.resourceVersion, 'list');
  let revision: number;
  let start = '';
  if (options.continueToken) {
    if (options.resourceVersion && options.resourceVersion !== '0') {
      throw badRequest('specifying resource version is not allowed when using continue');
    }
    const token = decodeContinueToken(options.continueToken);
    revision = token.revision < 0 ? store.revision : token.revision;
    start = selection.namespace ? `${selection.namespace}/${token.start}` : token.start;
  } else {
    await waitForRevision(core, asked);
    revision =
      options.resourceVersionMatch === 'Exact' ? asked : Math.max(store.compactedRevision, store.revision - staleBy);
  }
  let candidates = candidatesAt(core, resource, selection, revision, start, options);
  if (start) candidates = candidates.filter((entry) => entry.key >= start);
  const matching = await filtered(candidates, resource, selection);
  const resourceVersion = String(revision);
  if (!options.limit || matching.length <= options.limit) return { entries: matching, metadata: { resourceVersion } };
  const entries = matching.slice(0, options.limit);
  const last = entries.at(-1)!.key;
  const token = encodeContinueToken({
    revision,
    start: selection.namespace ? last.slice(selection.namespace.length + 1) : last,
  });
  return {
    entries,
    metadata: {
      resourceVersion,
      continue: token,
      // Counting past a selector would mean reading everything; the real server does not and neither do we tell.
      ...(selection.matches ? {} : { remainingItemCount: matching.length - options.limit }),
    },
  };
}

function candidatesAt(
  core: Core,
  resource: Resource,
  selection: Selection,
  revision: number,
  start: string,
  options: ListOptions,
): Entry[] {
  const { store } = core;
  if (selection.key !== undefined && revision >= store.revision) {
    const entry = store.get(resource.storageId, selection.key);
    return entry ? [entry] : [];
  }
  try {
    return store.listAt(resource.storageId, selection.namespace, revision);
  } catch (error) {
    if (!(error instanceof RevisionCompacted)) throw error;
    throw options.continueToken
      ? continueExpired(selection, start)
      : expired('The resourceVersion for the provided list is too old.');
  }
}

async function filtered(entries: Entry[], resource: Resource, selection: Selection): Promise<Entry[]> {
  const { matches } = selection;
  if (!matches) return entries;
  await convertTogether(entries, resource);
  const kept: Entry[] = [];
  for (const entry of entries) {
    let object = inVersion(entry, resource);
    if (object instanceof Promise) object = await object;
    if (matches(object)) kept.push(entry);
  }
  return kept;
}

function expired(message: string): ApiError {
  return new ApiError({ code: 410, reason: 'Expired', message });
}

/** The answer carries a token to go on with, at the price of a list that mixes two revisions. */
function continueExpired(selection: Selection, start: string): ApiError {
  const error = expired(
    'The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.',
  );
  const rest = selection.namespace ? start.slice(selection.namespace.length + 1) : start;
  Object.assign(error.status.metadata, {
    continue: encodeContinueToken({ revision: -1, start: rest.split('\0')[0]! }),
  });
  return error;
}
