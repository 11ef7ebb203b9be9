/** Puts an import behind the last one of a module. */
export function withImport(text: string, line: string): string {
  const imports = [...text.matchAll(/^import .*;$/gm)];
  const last = imports.at(-1);
  if (!last) return `${line}\n\n${text}`;
  const end = last.index + last[0].length;
  const gap = last[0].includes("'./") ? '\n' : '\n\n';
  return `${text.slice(0, end)}${gap}${line}${text.slice(end)}`;
}
