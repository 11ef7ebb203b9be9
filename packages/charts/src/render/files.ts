import type { ChartFile } from '../chart/chart.ts';
import { compileGlob } from '../chart/glob.ts';
import { bytesToText } from '../go/bytes.ts';
import { GoObject, strings, type GoFunction, type GoMap, type Value } from '../go/values.ts';
import type { Run } from '../template/run.ts';
import { inRun } from '../template/signature.ts';
import { UnwritableError, writeYaml } from '../yaml/write.ts';

/** Bytes of files that count as one step of a template. */
const bytesPerStep = 100;
/** Looks of a pattern at a character that count as one. */
const looksPerStep = 5;

/** `.Files`. */
export class Files extends GoObject {
  override readonly goType = 'engine.files';
  override readonly goKind = 'map';
  readonly #files: Map<string, Uint8Array>;

  constructor(files: Iterable<ChartFile>) {
    super();
    this.#files = new Map([...files].map(({ name, data }) => [name, data]));
  }

  override method(name: string): GoFunction<Run> | undefined {
    switch (name) {
      case 'Get':
        return inRun(['string'], (run, path) => bytesToText(this.#read(run, path)));
      case 'GetBytes':
        return inRun(['string'], (_run, path) => this.#get(path));
      case 'Glob':
        return inRun(['string'], (run, pattern) => this.#glob(run, pattern));
      case 'Lines':
        return inRun(['string'], (run, path) => this.#lines(run, path));
      case 'AsConfig':
        return inRun([], (run) => this.#asYaml(run, bytesToText));
      case 'AsSecrets':
        return inRun([], (run) => this.#asYaml(run, (data) => Buffer.from(data).toString('base64')));
      default:
        return undefined;
    }
  }

  #get(path: string): Uint8Array {
    return this.#files.get(path) ?? new Uint8Array();
  }

  /** The bytes of a file, which are counted: what comes of them may be short. */
  #read(run: Run, path: string): Uint8Array {
    const data = this.#get(path);
    run.step(Math.floor(data.length / bytesPerStep));
    return data;
  }

  #glob(run: Run, pattern: string): Files {
    let looks = 0;
    const matches = compileGlob(pattern, (more) => (looks += more));
    const found: ChartFile[] = [];
    for (const [name, data] of this.#files) {
      if (matches(name)) found.push({ name, data });
      // Some files of long names and a pattern of many stars take minutes.
      run.step(Math.floor(looks / looksPerStep));
      looks %= looksPerStep;
    }
    return new Files(found);
  }

  #lines(run: Run, path: string): Value {
    const text = bytesToText(this.#read(run, path));
    return strings(text === '' ? [] : text.replace(/\n$/, '').split('\n'));
  }

  #asYaml(run: Run, show: (data: Uint8Array) => string): string {
    const entries = [...this.#files.keys()].map((name): [string, Value] => [
      name.slice(name.lastIndexOf('/') + 1),
      show(this.#read(run, name)),
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
    return this.#files;
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
