/** Longest message of an error, in characters. A terminal, a log and the status of an object have to hold it. */
export const longestErrorText = 8000;

/**
 * A message that fits. Templates that fail may say megabytes, and those that call each other for ever name every call: the
 * beginning says where it happened and the end what the innermost complaint is.
 */
export function errorText(message: string, longest = longestErrorText): string {
  if (message.length <= longest) return message;
  const end = Math.floor(longest / 4);
  const left = message.length - longest;
  return `${message.slice(0, longest - end)} […${left} characters more…] ${message.slice(-end)}`;
}
