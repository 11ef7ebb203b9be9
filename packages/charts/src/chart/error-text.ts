/** Longest message of an error, in characters. A terminal, a log and the status of an object have to hold it. */
export const longestErrorText = 8000;

/**
 * A message that fits. Templates that fail may say megabytes, and those that call each other for ever name every call: the
 * beginning says where it happened and the end what the innermost complaint is. What a terminal would obey is written out: names of
 * files and what templates say come from strangers.
 */
export function errorText(message: string, longest = longestErrorText): string {
  if (message.length > longest) return errorText(shortened(message, longest), Infinity);
  return message.replace(commands, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** Control characters but for line breaks and tabs, and those that turn the direction of a text. */
// eslint-disable-next-line no-control-regex
const commands = /\r(?!\n)|[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]/g;

function shortened(message: string, longest: number): string {
  const end = Math.floor(longest / 4);
  const left = message.length - longest;
  return `${message.slice(0, longest - end)} […${left} characters more…] ${message.slice(-end)}`;
}
