import type { CST } from 'yaml';

import { SopsError } from '../sops-error.ts';
import { maxDepth } from '../tree.ts';

type Collection = CST.BlockMap | CST.BlockSequence;
type Item = Collection['items'][number];

/**
 * Moves comments to the collection they are indented for, before the library makes nodes of them: a sealed comment opens only there.
 * The library leaves a run of comments in which some belong to a collection above to the innermost one, and gives what stands at
 * the end of the line of a key to the value below.
 */
export function placeComments(token: CST.Token | undefined, depth = 0): void {
  if (!isCollection(token)) return;
  if (depth > maxDepth) throw new SopsError('input', `nested more than ${maxDepth} levels deep`);
  for (let index = 0; index < token.items.length; index += 1) {
    const item = token.items[index]!;
    const { value } = item;
    if (!isCollection(value)) continue;
    giveToKey(item);
    placeComments(value, depth + 1);
    const above = takeCommentsAbove(value, token);
    if (above.length === 0) continue;
    const next = token.items[index + 1];
    if (next === undefined) token.items.push({ start: above });
    else next.start = [...above, ...next.start];
  }
}

function isCollection(token: CST.Token | null | undefined): token is Collection {
  return token?.type === 'block-map' || token?.type === 'block-seq';
}

/** The comment of `key: # comment` goes before the key. */
function giveToKey({ key, start, sep }: Item): void {
  if (!key || !sep) return;
  const line = sep.findIndex(({ type }) => type === 'newline');
  const found = sep.findIndex(({ type }, index) => type === 'comment' && index < line);
  if (found < 0) return;
  const [comment] = sep.splice(found, 1) as [CST.SourceToken];
  start.push(blank(comment), comment, { ...blank(comment), type: 'newline', source: '\n' });
}

/** So that the comment is apart from what is before it. */
function blank({ offset, indent }: CST.SourceToken): CST.SourceToken {
  return { type: 'space', offset, indent, source: ' ' };
}

/** Takes out the comments after the last item of a collection that are indented less than it. */
function takeCommentsAbove(collection: Collection, parent: Collection): CST.SourceToken[] {
  const last = collection.items.at(-1);
  if (!last || last.key || last.sep || last.value) return [];
  const { start } = last;
  // A list may begin in the column of the map it is a value of.
  const least = collection.indent === parent.indent ? collection.indent + 1 : collection.indent;
  const first = start.findIndex(({ type, indent }) => type === 'comment' && indent < least);
  if (first < 0) return [];
  const above = start.splice(first);
  if (!start.some(({ type }) => type === 'comment')) collection.items.pop();
  return above;
}
