import type { CST } from 'yaml';

import { SopsError } from '../sops-error.ts';
import { maxDepth } from '../tree.ts';

type Collection = CST.BlockMap | CST.BlockSequence;
type Item = Collection['items'][number];

/**
 * Moves comments to the collection they are indented for, before the library makes nodes of them: a sealed comment opens only there.
 * The library leaves a run of comments in which some belong to a collection above to the innermost one, gives what stands at the end
 * of the line of a key to the value below, and may give what stands below a value to that.
 */
export function placeComments(token: CST.Token | undefined, depth = 0): void {
  if (!isCollection(token)) return;
  if (depth > maxDepth) throw new SopsError('input', `nested more than ${maxDepth} levels deep`);
  for (let index = 0; index < token.items.length; index += 1) {
    const item = token.items[index]!;
    const { value } = item;
    let above: CST.SourceToken[];
    if (isCollection(value)) {
      giveToKey(item);
      placeComments(value, depth + 1);
      above = takeCommentsAbove(value, token);
    } else above = takeCommentsBelow(item);
    if (above.length === 0) continue;
    const next = token.items[index + 1];
    if (next === undefined) token.items.push({ start: above });
    else next.start = [...above, ...next.start];
  }
}

function isCollection(token: CST.Token | null | undefined): token is Collection {
  return token?.type === 'block-map' || token?.type === 'block-seq';
}

/**
 * Takes out the comments on lines of their own after a single value, or after a key or dash without one. They are about what comes next:
 * a rule that goes by comments would look for them there.
 */
function takeCommentsBelow({ start, key, sep, value }: Item): CST.SourceToken[] {
  if (value && !('end' in value)) return [];
  const after = value ? value.end : key || sep ? sep : start;
  if (!after) return [];
  const begin = value || sep ? 0 : after.findIndex(({ type }) => type === 'seq-item-ind');
  const line = begin < 0 ? -1 : after.findIndex(({ type }, index) => index >= begin && type === 'newline');
  const below = line < 0 ? [] : after.slice(line + 1);
  const isOnlyComments = below.every(({ type }) => type === 'comment' || type === 'newline' || type === 'space');
  if (!isOnlyComments || !below.some(({ type }) => type === 'comment')) return [];
  after.length = line + 1;
  return below;
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
  // A dash without a value.
  if (start.some(({ type }) => type === 'seq-item-ind')) return [];
  // A list may begin in the column of the map it is a value of.
  const least = collection.indent === parent.indent ? collection.indent + 1 : collection.indent;
  const first = start.findIndex(({ type, indent }) => type === 'comment' && indent < least);
  if (first < 0) return [];
  const above = start.splice(first);
  if (!start.some(({ type }) => type === 'comment')) collection.items.pop();
  return above;
}
