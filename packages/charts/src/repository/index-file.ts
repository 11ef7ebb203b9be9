import { fromPlain, isMap, type GoMap, type Value } from '../go/values.ts';
import { bytesToText } from '../go/bytes.ts';
import { readYaml } from '../yaml/read.ts';
import { RepositoryError } from './repository-error.ts';
import { choose, newestFirst } from './version-choice.ts';

/** One version of a chart in an index. */
export interface IndexedChart {
  readonly name: string;
  readonly version: string;
  /** As the index has them: absolute, or relative to it. */
  readonly urls: readonly string[];
  /** Lower-case hexadecimal SHA-256; empty when the index does not say. */
  readonly digest: string;
}

/** index.yaml of a repository. */
export class IndexFile {
  readonly #entries: ReadonlyMap<string, readonly IndexedChart[]>;
  readonly #place: string;

  private constructor(entries: ReadonlyMap<string, readonly IndexedChart[]>, place: string) {
    this.#entries = entries;
    this.#place = place;
  }

  /** Reads an index; `place` is where it came from, for errors. Entries that are wrong are passed over, as Helm does. */
  static read(data: Uint8Array, place: string): IndexFile {
    let document: Value;
    try {
      document = readDocument(bytesToText(data));
    } catch (cause) {
      throw new RepositoryError('BadAnswer', `${place} is no index: ${(cause as Error).message}`, { cause });
    }
    const entries = isMap(document) ? document.get('entries') : undefined;
    if (!isMap(document) || (typeof document.get('apiVersion') !== 'string' && !isMap(entries)))
      throw new RepositoryError('BadAnswer', `${place} is no index of charts`);
    const charts = new Map<string, IndexedChart[]>();
    for (const [name, versions] of isMap(entries) ? entries : []) {
      const usable = (Array.isArray(versions) ? versions : []).flatMap((each) => readEntry(name, each));
      charts.set(
        name,
        newestFirst(usable, ({ version }) => version),
      );
    }
    return new IndexFile(charts, place);
  }

  /** The newest version first. */
  versions(name: string): readonly IndexedChart[] {
    return this.#entries.get(name) ?? [];
  }

  /** The version Helm would take. */
  find(name: string, wanted: string): IndexedChart {
    const versions = this.versions(name);
    if (versions.length === 0) throw new RepositoryError('NotFound', `${this.#place} has no chart "${name}"`);
    const chosen = choose(versions, ({ version }) => version, wanted);
    if (!chosen)
      throw new RepositoryError(
        'NotFound',
        `${this.#place} has no version of ${name} that satisfies "${wanted || '*'}"; the newest is ${versions[0]!.version}`,
      );
    return chosen;
  }
}

/** An index is JSON or YAML, as Helm has it; some have the line breaks of another system. */
function readDocument(text: string): Value {
  if (/^\s*\{/.test(text)) {
    try {
      return fromPlain(JSON.parse(text));
    } catch {
      // Braces are YAML, too.
    }
  }
  return readYaml(text.includes('\r\n') ? text.replaceAll('\r\n', '\n') : text);
}

function readEntry(name: string, entry: Value): IndexedChart[] {
  if (!isMap(entry)) return [];
  const version = textOf(entry, 'version');
  const urls = entry.get('urls');
  return [
    {
      name,
      version,
      urls: Array.isArray(urls) ? urls.filter((url) => typeof url === 'string') : [],
      digest: textOf(entry, 'digest').replace(/^sha256:/, ''),
    },
  ];
}

function textOf(map: GoMap, key: string): string {
  const value = map.get(key);
  return typeof value === 'string' ? value : '';
}
