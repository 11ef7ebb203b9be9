import type { ChartFile } from '../chart/chart.ts';
import { compileGlob } from '../chart/glob.ts';
import { bytesToText } from '../go/bytes.ts';
import { GoObject, strings, type GoFunction, type GoMap, type Value } from '../go/values.ts';
import { fn } from '../template/signature.ts';
import { UnwritableError, writeYaml } from '../yaml/write.ts';

/** `.Files`. */
export class Files extends GoObject {
  override readonly goType = 'engine.files';
  override readonly goKind = 'map';
  readonly #files: ReadonlyMap<string, Uint8Array>;

  constructor(files: Iterable<ChartFile>) {
    super();
    this.#files = new Map([...files].map(({ name, data }) => [name, data]));
  }

  override method(name: string): GoFunction<unknown> | undefined {
    switch (name) {
      case 'Get':
        return fn(['string'], (path) => bytesToText(this.#get(path)));
      case 'GetBytes':
        return fn(['string'], (path) => this.#get(path));
      case 'Glob':
        return fn(['string'], (pattern) => this.#glob(pattern));
      case 'Lines':
        return fn(['string'], (path) => this.#lines(path));
      case 'AsConfig':
        return fn([], () => this.#asYaml(bytesToText));
      case 'AsSecrets':
        return fn([], () => this.#asYaml((data) => Buffer.from(data).toString('base64')));
      default:
        return undefined;
    }
  }

  #get(path: string): Uint8Array {
    return this.#files.get(path) ?? new Uint8Array();
  }

  #glob(pattern: string): Files {
    const matches = compileGlob(pattern);
    return new Files([...this.#files].filter(([name]) => matches(name)).map(([name, data]) => ({ name, data })));
  }

  #lines(path: string): Value {
    const text = bytesToText(this.#get(path));
    return strings(text === '' ? [] : text.replace(/\n$/, '').split('\n'));
  }

  #asYaml(show: (data: Uint8Array) => string): string {
    const entries = [...this.#files].map(([name, data]): [string, Value] => [
      name.slice(name.lastIndexOf('/') + 1),
      show(data),
    ]);
    try {
      return writeYaml(new Map(entries), { throughJson: true }).replace(/\n$/, '');
    } catch (error) {
      // What cannot be written is nothing to Helm.
      if (error instanceof UnwritableError) return '';
      throw error;
    }
  }

  override contents(): GoMap {
    return new Map(this.#files);
  }

  override plain(): Value {
    return this.contents();
  }

  override text(): string {
    return `map[${[...this.#files.keys()]
      .sort()
      .map((name) => `${name}:[${this.#files.get(name)!.join(' ')}]`)
      .join(' ')}]`;
  }
}
