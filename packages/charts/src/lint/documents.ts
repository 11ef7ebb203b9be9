/**
 * The documents of a text as the decoder of Kubernetes cuts them, which lint asks: whatever else stands on the line of a separator, such as the
 * `# comment` a trimmed action has drawn up to it, goes with it.
 */
export function documentsIn(text: string): string[] {
  return text.split(/\n---[^\n]*(?:\n|$)/);
}
