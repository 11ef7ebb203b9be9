/** The words of a command line as a shell would take them: quotes join, a backslash takes what follows as it is. */
export function shellWords(line: string): string[] {
  const words: string[] = [];
  for (const [word] of line.matchAll(/(?:[^\s"'\\]|\\[^]|"(?:[^"\\]|\\[^])*"|'[^']*')+/g)) {
    words.push(
      word.replaceAll(
        /\\([^])|"((?:[^"\\]|\\[^])*)"|'([^']*)'/g,
        (_, escaped?: string, double?: string, single?: string) =>
          double === undefined ? (escaped ?? single ?? '') : double.replaceAll(/\\(["\\$`])/g, '$1'),
      ),
    );
  }
  return words;
}
