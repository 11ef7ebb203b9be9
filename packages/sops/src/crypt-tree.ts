import { createHash, type Hash } from 'node:crypto';

import { type Cipher, OpenedComment } from './cipher.ts';
import { leafBytes } from './leaf-bytes.ts';
import type { Selection } from './selection.ts';
import { SopsError } from './sops-error.ts';
import type { Comment, Documents } from './tree.ts';
import { walk } from './walk.ts';

export interface CryptOptions {
  readonly cipher: Cipher;
  readonly selection: Selection;
  /** Whether only encrypted leaves count for the MAC. */
  readonly macOnlyEncrypted: boolean;
}

/** Encrypts the selected leaves in place and answers the MAC of what they were. */
export function encryptTree(documents: Documents, { cipher, selection, macOnlyEncrypted }: CryptOptions): string {
  const mac = macHash(macOnlyEncrypted);
  walk(documents, {
    leaf(leaf, place) {
      const selected = selection(place);
      if (selected || !macOnlyEncrypted) mac.update(leafBytes(leaf));
      return selected ? cipher.encrypt(leaf, additionalData(place.path)) : leaf;
    },
    comment(text, place, parent) {
      // As sops has it; but in a list that would make a value of it.
      if (!selection(place) || (text === '' && parent === 'map')) return { text, sealed: false };
      const sealed = cipher.encrypt(new OpenedComment(text || ' '), additionalData(place.path));
      // Whoever reads the encrypted file finds it in the place of the clear one.
      if (!selection({ ...place, comments: [...place.comments, [sealed]], isComment: false })) {
        throw new SopsError(
          'config',
          'unencrypted_comment_regex matches an encrypted comment: it could not be opened',
          {
            hint: 'write an expression that no ENC[…] matches',
          },
        );
      }
      return { text: sealed, sealed: true };
    },
  });
  return mac.digest('hex').toUpperCase();
}

/** Decrypts the selected leaves in place and answers the MAC of what they are. */
export function decryptTree(documents: Documents, { cipher, selection, macOnlyEncrypted }: CryptOptions): string {
  const mac = macHash(macOnlyEncrypted);
  walk(documents, {
    leaf(leaf, place) {
      if (!selection(place)) {
        if (!macOnlyEncrypted) mac.update(leafBytes(leaf));
        return leaf;
      }
      if (typeof leaf !== 'string') {
        throw new SopsError(
          'tampered',
          `${place.path.join('.')}: expected an encrypted value, found a ${typeof leaf}`,
          {
            hint: 'a value was added by hand; use edit instead',
          },
        );
      }
      const opened = cipher.decrypt(leaf, additionalData(place.path));
      if (opened instanceof OpenedComment) {
        const comment: Comment = { kind: 'comment', text: textOf(opened), inline: false };
        return comment;
      }
      mac.update(leafBytes(opened));
      return opened;
    },
    comment: (text, place) => ({
      text: selection(place) ? openComment(text, cipher, additionalData(place.path)) : text,
      sealed: false,
    }),
  });
  return mac.digest('hex').toUpperCase();
}

/** Comments are not signed: one that is clear, or was moved, is left as it is. */
function openComment(text: string, cipher: Cipher, place: string): string {
  try {
    const opened = cipher.decrypt(text, place);
    return opened instanceof OpenedComment ? textOf(opened) : text;
  } catch (error) {
    if (error instanceof SopsError && error.code === 'tampered') return text;
    throw error;
  }
}

function textOf({ text }: OpenedComment): string {
  return text === ' ' ? '' : text;
}

/** Keys joined and closed by colons. Lists add nothing, so that only the MAC sees two elements change places. */
function additionalData(path: readonly string[]): string {
  return `${path.join(':')}:`;
}

function macHash(macOnlyEncrypted: boolean): Hash {
  const hash = createHash('sha512');
  // So that the two kinds of MAC can never be taken for each other.
  if (macOnlyEncrypted) hash.update(createHash('sha256').update('sops').digest());
  return hash;
}
