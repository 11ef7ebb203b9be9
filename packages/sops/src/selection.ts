import { RE2JS } from 're2js';

import { SopsError } from './sops-error.ts';

/** Which leaves of a file are encrypted, in the words of `.sops.yaml`. At most one is set; none means `unencrypted_suffix: _unencrypted`. */
export interface SelectionRule {
  /** Clear: what is under keys that end so. */
  readonly unencryptedSuffix?: string;
  /** Encrypted: only what is under keys that end so. */
  readonly encryptedSuffix?: string;
  /** Clear: what is under keys that match (RE2). */
  readonly unencryptedRegex?: string;
  /** Encrypted: only what is under keys that match (RE2). */
  readonly encryptedRegex?: string;
  /** Clear: what is under comments that match (RE2). */
  readonly unencryptedCommentRegex?: string;
  /** Encrypted: only what is under comments that match (RE2). */
  readonly encryptedCommentRegex?: string;
}

/** Where a leaf is: the keys above it (lists add none), and for each level the comments right before it. */
export interface Place {
  readonly path: readonly string[];
  readonly comments: readonly (readonly string[])[];
  /** Whether the leaf is itself the last of those comments. */
  readonly isComment: boolean;
}

/** Whether the leaf at a place is encrypted. */
export type Selection = (place: Place) => boolean;

/** The fields of a rule with their names in files. */
export const ruleFields = {
  unencryptedSuffix: 'unencrypted_suffix',
  encryptedSuffix: 'encrypted_suffix',
  unencryptedRegex: 'unencrypted_regex',
  encryptedRegex: 'encrypted_regex',
  unencryptedCommentRegex: 'unencrypted_comment_regex',
  encryptedCommentRegex: 'encrypted_comment_regex',
} as const satisfies Record<keyof SelectionRule, string>;

/** Compiles a rule. Regular expressions are RE2 and run in linear time. */
export function selectionOf(rule: SelectionRule): Selection {
  const named = (Object.keys(ruleFields) as (keyof SelectionRule)[]).filter((field) => rule[field]);
  if (named.length > 1) {
    throw new SopsError(
      'config',
      `only one of ${named.map((field) => ruleFields[field]).join(', ')} can be used at a time`,
    );
  }
  const [field] = named;
  if (field === undefined) return () => true;
  const text = rule[field]!;
  switch (field) {
    case 'unencryptedSuffix':
      return ({ path }) => !path.some((key) => key.endsWith(text));
    case 'encryptedSuffix':
      return ({ path }) => path.some((key) => key.endsWith(text));
    case 'unencryptedRegex': {
      const matches = compile(text, field);
      return ({ path }) => !path.some(matches);
    }
    case 'encryptedRegex': {
      const matches = compile(text, field);
      return ({ path }) => path.some(matches);
    }
    case 'unencryptedCommentRegex': {
      const matches = compile(text, field);
      return ({ comments }) => !comments.some((level) => level.some(matches));
    }
    case 'encryptedCommentRegex': {
      const matches = compile(text, field);
      return ({ comments, isComment }) =>
        comments.some((level, index) => {
          // The comment that asks for encryption stays readable itself.
          const judged = isComment && index === comments.length - 1 ? level.slice(0, -1) : level;
          return judged.some(matches);
        });
    }
  }
}

function compile(text: string, field: keyof SelectionRule): (tried: string) => boolean {
  try {
    const expression = RE2JS.compile(text);
    return (tried) => expression.matcher(tried).find();
  } catch (cause) {
    throw new SopsError('config', `${ruleFields[field]}: '${text}' is not a regular expression (RE2)`, { cause });
  }
}
