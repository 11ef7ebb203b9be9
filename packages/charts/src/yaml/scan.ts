import { createRequire } from 'node:module';
import type * as JsYaml from 'js-yaml';
import type { YamlDialect } from './resolve.ts';
import { YamlError } from './yaml-error.ts';

const require = createRequire(import.meta.url);

/** Loaded by the first text that is not plain: most charts have none. */
export const jsYaml = () => require('js-yaml') as typeof JsYaml;

const maxDepth = 1000;

/** How the parser is told that a key is written twice, which no other reader would know better. */
export const alreadyDefined = 'already defined';

type Events = ReturnType<typeof JsYaml.parseEvents>;

/** How often a text is mended before it is somebody else's; a long one is read once more only. */
const mostRepairs = 20;
const longText = 200_000;

/**
 * The parser's events, with what go-yaml's scanner does otherwise: a text in quotes may go on in any column, what stands after the first
 * thing of a document is not looked at, and a block whose last line is cut off ends without a line break.
 */
export function scan(text: string, dialect: YamlDialect, firstOnly: boolean): { source: string; events: Events } {
  checkCharacters(text);
  let source = text;
  for (let repairs = 0; ; repairs += 1) {
    try {
      const events = jsYaml().parseEvents(source, { maxDepth });
      if (dialect === 'v2') checkDirectives(events);
      checkEscapes(source, events);
      cutLastBlock(source, events);
      return { source, events };
    } catch (error) {
      const mended =
        error instanceof jsYaml().YAMLException && repairs < (text.length > longText ? 1 : mostRepairs)
          ? mend(source, error, firstOnly)
          : undefined;
      if (mended === undefined) throw error;
      source = mended;
    }
  }
}

function mend(source: string, { reason, mark }: JsYaml.YAMLException, firstOnly: boolean): string | undefined {
  if (!mark) return undefined;
  const start = source.lastIndexOf('\n', mark.position - 1) + 1;
  if (reason === 'unknown escape sequence' && source[mark.position] === "'")
    return withoutEscapes(source, mark.position);
  if (reason === 'deficient indentation') {
    const isMarker = /^(?:---|\.\.\.)(?:\s|$)/.test(source.slice(start, start + 4));
    return isMarker ? undefined : `${source.slice(0, start)}${' '.repeat(deepestQuote)}${source.slice(start)}`;
  }
  if (!firstOnly || reason !== 'end of the stream or a document separator is expected') return undefined;
  const content = /^(?:---[ \t]*\n|[ \t]*(?:#.*)?\r?\n)*( *)(.)/.exec(source);
  if (!content) return undefined;
  // What is in brackets is a whole; a mapping or list ends where a line begins further out.
  if (content[2] === '{' || content[2] === '[') return source.slice(0, mark.position);
  const isOutside = source.slice(start, mark.position).trim() === '' && mark.position - start < content[1]!.length;
  return isOutside ? source.slice(0, start) : undefined;
}

/** In double quotes, go-yaml lets a single one be escaped. `start` is where the first of a text stands that is. */
function withoutEscapes(source: string, start: number): string {
  const rest = /(?:[^"\\]|\\.)*/suy;
  rest.lastIndex = start;
  const [written = ''] = rest.exec(source) ?? [];
  const mended = written.replaceAll(/\\(.)/gsu, (escape, char: string) => (char === "'" ? char : escape));
  return source.slice(0, start - 1) + mended + source.slice(start + written.length);
}

/** JSON's escapes that go-yaml does not know: of a slash, and of a character in two halves. */
function checkEscapes(source: string, events: Events): void {
  if (!/\\(?:\/|[uU])/.test(source)) return;
  const { DOUBLE_QUOTED } = jsYaml().SCALAR_STYLE;
  for (const event of events) {
    if (!('style' in event && 'chomping' in event && event.style === DOUBLE_QUOTED)) continue;
    for (const [, escape] of source.slice(event.valueStart, event.valueEnd).matchAll(/\\(u.{4}|U.{8}|.)/gsu)) {
      if (escape === '/') throw new YamlError('yaml: found unknown escape character');
      if (/^(?:u|U0000)d[89a-f]/i.test(escape!))
        throw new YamlError('yaml: found invalid Unicode character escape code');
    }
  }
}

/** Columns that are enough for a text in quotes to go on, however deep it began. */
const deepestQuote = 200;

/** go-yaml's reader lets pass what YAML calls printable, and tabs. */
function checkCharacters(text: string): void {
  // oxlint-disable-next-line no-control-regex
  if (/[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ufffe\uffff]/.test(text))
    throw new YamlError('yaml: control characters are not allowed');
  if (!text.isWellFormed()) throw new YamlError('yaml: invalid leading UTF-8 octet');
}

function checkDirectives(events: Events): void {
  for (const event of events) {
    if (!('directives' in event)) continue;
    const isForeign = event.directives.some((directive) => directive.kind === 'yaml' && directive.version !== '1.1');
    if (isForeign) throw new YamlError('yaml: found incompatible YAML document');
  }
}

function cutLastBlock(source: string, events: Events): void {
  if (source.endsWith('\n')) return;
  const last = events.findLast((event) => 'chomping' in event);
  const { CHOMPING_MODE, SCALAR_STYLE } = jsYaml();
  const isBlock = last?.style === SCALAR_STYLE.LITERAL_BLOCK || last?.style === SCALAR_STYLE.FOLDED_BLOCK;
  const line = source.slice(source.lastIndexOf('\n') + 1);
  // Spaces are a line of it, too, where they go further than its indentation.
  const isContent = last && (line.trim() !== '' || line.length > last.indent);
  if (isContent && isBlock && last.valueEnd >= source.length) last.chomping = CHOMPING_MODE.STRIP;
}

export function scanError(error: JsYaml.YAMLException): YamlError {
  const line = error.mark ? error.mark.line + 1 : undefined;
  const reason = error.reason ?? error.message;
  const text = `yaml: ${line === undefined ? '' : `line ${line}: `}${reason}`;
  return new YamlError(text, line, reason.includes('maxDepth') || reason.endsWith(alreadyDefined));
}
