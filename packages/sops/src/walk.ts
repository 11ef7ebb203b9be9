import { SopsError } from './sops-error.ts';
import type { Place } from './selection.ts';
import { type Comment, type Documents, type Leaf, Mapping, maxDepth, Sequence, type Value } from './tree.ts';

/**
 * What becomes of a leaf or of the text of a comment. The place is good for the call only. sops seals the comments of a list into elements of the list, so a leaf there may
 * turn out to be a comment, and a comment may become a leaf.
 */
export interface LeafVisitor {
  leaf(leaf: Exclude<Leaf, null>, place: Place): Leaf | Comment;
  comment(text: string, place: Place, parent: 'map' | 'list'): CommentText;
}

export interface CommentText {
  readonly text: string;
  readonly sealed: boolean;
}

/** Visits every leaf and comment in document order and puts what the visitor answers in its place. Null stays null. */
export function walk(documents: Documents, visitor: LeafVisitor): void {
  for (const document of documents) walkMapping(document, [], [], visitor);
}

type Levels = readonly (readonly string[])[];

function walkMapping(mapping: Mapping, path: readonly string[], levels: Levels, visitor: LeafVisitor): void {
  // One array for the whole map: a copy for each comment would make a long run of them take for ever.
  const comments: string[] = [];
  const here = [...levels, comments];
  for (const entry of mapping.entries) {
    if (entry.kind === 'comment') {
      comments.push(entry.text);
      entry.text = visitor.comment(entry.text, { path, comments: here, isComment: true }, 'map').text;
      continue;
    }
    const value = walkValue(entry.value, [...path, entry.key], here, visitor);
    if (isComment(value)) {
      throw new SopsError('tampered', `${[...path, entry.key].join('.')}: a comment stands in the place of a value`);
    }
    entry.value = value;
    comments.length = 0;
  }
}

function walkSequence(sequence: Sequence, path: readonly string[], levels: Levels, visitor: LeafVisitor): void {
  const comments: string[] = [];
  const here = [...levels, comments];
  sequence.elements = sequence.elements.map((element) => {
    if (element.kind === 'comment') {
      comments.push(element.text);
      const { text, sealed } = visitor.comment(element.text, { path, comments: here, isComment: true }, 'list');
      return sealed ? { kind: 'element', value: text } : { ...element, text };
    }
    const value = walkValue(element.value, path, here, visitor);
    comments.length = 0;
    return isComment(value) ? value : { kind: 'element', value };
  });
}

function walkValue(value: Value, path: readonly string[], levels: Levels, visitor: LeafVisitor): Value | Comment {
  if (levels.length > maxDepth) {
    throw new SopsError('input', `${path.slice(0, 3).join('.')}…: nested more than ${maxDepth} levels deep`);
  }
  if (value instanceof Mapping) {
    walkMapping(value, path, levels, visitor);
    return value;
  }
  if (value instanceof Sequence) {
    walkSequence(value, path, levels, visitor);
    return value;
  }
  return value === null ? null : visitor.leaf(value, { path, comments: levels, isComment: false });
}

function isComment(value: Value | Comment): value is Comment {
  return typeof value === 'object' && value !== null && 'kind' in value && value.kind === 'comment';
}
