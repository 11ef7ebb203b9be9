/**
 * What a user sees of an address as somebody wrote it: neither user and password nor query, which may carry secrets. Whatever
 * stands before the last `@` may be a password, be it written as it should be or not.
 */
export function shownAddress(text: string): string {
  const shown = text.slice(0, 1024).replace(/[?#][^@]*$/, '');
  const at = shown.lastIndexOf('@');
  if (at < 1) return shown;
  const scheme = /^[A-Za-z][A-Za-z0-9+.-]*:\/\//.exec(shown)?.[0] ?? '';
  return `${scheme}***${shown.slice(at)}`;
}
