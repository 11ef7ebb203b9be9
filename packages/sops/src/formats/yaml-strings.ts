import { SopsError } from '../sops-error.ts';
import { resolvePlain } from './yaml-scalars.ts';

/** Blanks for each level, as sops writes it. */
export const defaultIndent = 4;

/** A string on one line, in the quotes the Go library of sops would give it, so that a file is the same whoever wrote it. */
export function inlineText(text: string): string {
  if (isSpecial(text) || /[\t\n]/.test(text)) return doubleQuoted(text);
  if (!readsAsString(text)) return doubleQuoted(text);
  if (!beginsOrHoldsIndicators(text)) return text;
  return `'${text.replaceAll("'", "''")}'`;
}

/**
 * A string of several lines as a block, indented by this many blanks; undefined where a block could not carry it. One that begins with
 * a blank has to say how far it is indented, which the Go library gets right only where that is one step, as it is not in lists: there
 * the step is not given.
 */
export function blockText(text: string, indent: number, step: number | undefined): string | undefined {
  if (!text.includes('\n') || isSpecial(text) || / $| \n/.test(text)) return undefined;
  const beginsWithBlank = /^[ \n]/.test(text);
  if (beginsWithBlank && step === undefined) return undefined;
  const ends = text.endsWith('\n') ? (/^\n$|\n\n$/.test(text) ? '+' : '') : '-';
  const margin = ' '.repeat(indent);
  const lines = text.replace(/\n$/, '').split('\n');
  const header = `|${beginsWithBlank ? step : ''}${ends}`;
  return `${header}\n${lines.map((line) => (line === '' ? '' : margin + line)).join('\n')}`;
}

function readsAsString(text: string): boolean {
  // Words that were booleans, and numbers to the base of 60 that were numbers, to older readers.
  if (/^(y|yes|on|n|no|off)$/.test(text.toLowerCase()) && /^(.|[A-Z]?[a-z]+|[A-Z]+)$/.test(text)) return false;
  if (/^[-+]?[0-9][0-9_]*(:[0-5]?[0-9])+(\.[0-9_]*)?$/.test(text)) return false;
  if (text === '<<') return false;
  try {
    return typeof resolvePlain(text, '') === 'string';
  } catch (error) {
    if (error instanceof SopsError) return false;
    throw error;
  }
}

function beginsOrHoldsIndicators(text: string): boolean {
  return /^(---|\.\.\.|[ #,[\]{}&*!|>'"%@`]|[?:-](\s|$))|:(\s|$)|\s#| $/.test(text);
}

/** Holds what has to be written as an escape: what is not printable, and beyond the 16 bits the Go library takes for printable. */
function isSpecial(text: string): boolean {
  // oxlint-disable-next-line no-control-regex -- these are the ones
  return /[^\t\n\u0020-\u007e\u00a0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd]/u.test(text);
}

const named: Readonly<Record<string, string>> = {
  '\0': '0',
  '\u0007': 'a',
  '\b': 'b',
  '\t': 't',
  '\n': 'n',
  '\v': 'v',
  '\f': 'f',
  '\r': 'r',
  '\u001b': 'e',
  '"': '"',
  '\\': '\\',
  '\u0085': 'N',
  '\u2028': 'L',
  '\u2029': 'P',
};

function doubleQuoted(text: string): string {
  // oxlint-disable-next-line no-control-regex -- these are the ones
  const escaped = text.replaceAll(
    /[^\u0020-\u007e\u00a0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd]|["\\]/gu,
    (at) => {
      const name = named[at];
      if (name !== undefined) return `\\${name}`;
      const code = at.codePointAt(0)!;
      const digits = code.toString(16).toUpperCase();
      if (code <= 0xff) return `\\x${digits.padStart(2, '0')}`;
      return code <= 0xffff ? `\\u${digits.padStart(4, '0')}` : `\\U${digits.padStart(8, '0')}`;
    },
  );
  return `"${escaped}"`;
}
