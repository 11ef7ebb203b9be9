import type { Line, Span } from './screen.ts';

const colours: Readonly<Record<number, string>> = { 31: '#ff7b72', 32: '#7ee787', 33: '#e3b341', 34: '#79c0ff' };
const lineHeight = 18;
const charWidth = 7.8;
const margin = 16;

export interface PictureOptions {
  /** Width in characters. */
  readonly columns: number;
  /** What the picture shows, for those who do not see it. */
  readonly title: string;
}

/** Draws lines as a terminal shows them; each appears at its moment. */
export function svgOf(lines: readonly Line[], { columns, title }: PictureOptions): string {
  const width = Math.ceil(columns * charWidth + 2 * margin);
  const height = lines.length * lineHeight + 2 * margin;
  const rows = lines.flatMap(({ spans, atMs }, index) => {
    if (spans.length === 0) return [];
    const y = margin + (index + 1) * lineHeight - 5;
    const delay = atMs === 0 ? '' : ` style="animation-delay:${(atMs / 1000).toFixed(2)}s"`;
    return [`<text x="${margin}" y="${y}"${delay}>${spans.map(spanOf).join('')}</text>`];
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" xml:space="preserve" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${escaped(title)}">
<title>${escaped(title)}</title>
<style>
text{font:13px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;fill:#d8dee9;white-space:pre;animation:appear .01s both}
@keyframes appear{from{opacity:0}to{opacity:1}}
@media (prefers-reduced-motion:reduce){text{animation:none}}
</style>
<rect width="100%" height="100%" rx="8" fill="#14181f"/>
${rows.join('\n')}
</svg>
`;
}

function spanOf({ text, codes }: Span): string {
  const colour = codes.map((code) => colours[code]).findLast((found) => found !== undefined);
  const style = [
    ...(colour ? [`fill="${colour}"`] : []),
    ...(codes.includes(1) ? ['font-weight="bold"'] : []),
    ...(codes.includes(2) ? ['opacity=".6"'] : []),
  ];
  return style.length === 0 ? escaped(text) : `<tspan ${style.join(' ')}>${escaped(text)}</tspan>`;
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}
