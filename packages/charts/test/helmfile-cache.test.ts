import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SeededRandom } from '@slipway/testing';
import { afterAll, expect, it, onTestFailed } from 'vitest';

import { buildText } from '../src/helmfile/build.ts';
import { HelmfileCache, loadHelmfile, writeYaml, type LoadHelmfileOptions } from '../src/index.ts';
import { writeTree } from './helmfile-answers.ts';
import { randomTree } from './helmfile-trees.ts';

/** FUZZ_SEED and FUZZ_RUNS choose other trees and more of them; the seed is fixed otherwise. */
const seed = process.env['FUZZ_SEED'] ?? '13';
const runs = Number(process.env['FUZZ_RUNS'] ?? 12);
const editsOfEach = 12;

const scratch = mkdtempSync(join(tmpdir(), 'slipway-helmfile-cache-'));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

type Options = Omit<LoadHelmfileOptions, 'cwd' | 'cache'>;

async function answer(cwd: string, options: Options, cache?: HelmfileCache): Promise<unknown> {
  try {
    const helmfile = await loadHelmfile({ cwd, ...options, ...(cache ? { cache } : {}) });
    return {
      list: helmfile.listReleases(),
      build: helmfile.states.map(({ state, releases }) => buildText(state, releases)),
      values: helmfile.releases.map((release) => writeYaml(helmfile.valuesOf(release), { dialect: 'v3' })),
    };
  } catch (error) {
    return (error as Error).message;
  }
}

/** A tree that somebody works on, and whoever loads it. */
class EditedTree {
  readonly folder: string;
  readonly #written: Readonly<Record<string, string>>;
  readonly #random: SeededRandom;
  #options: Options = { env: { IMAGE_TAG: 'v7' } };
  readonly log: string[] = [];

  constructor(random: SeededRandom) {
    this.#random = random;
    const tree = randomTree(random);
    this.#written = tree.files;
    this.folder = writeTree(tree, scratch);
  }

  get options(): Options {
    return this.#options;
  }

  edit(): void {
    if (this.log.length % 4 === 3) return this.#mend();
    const files = this.#files();
    const file = this.#random.pick(files);
    const other = this.#random.pick(files);
    switch (this.#random.below(8)) {
      case 0:
        return this.#write(file, this.#read(other));
      case 1: {
        const text = this.#read(file);
        this.#write(file, this.#read(other));
        return this.#write(other, text);
      }
      case 2:
        return this.#write(
          file,
          this.#read(file).replaceAll(/\d/g, () => String(this.#random.below(10))),
        );
      case 3:
        this.#remove(file);
        return this.#random.chance(0.5) ? this.#write(`${file}/inner.yaml`, 'a: 1\n') : undefined;
      case 4:
        return this.#write(this.#random.pick(['_helper.tpl', 'sub/_helper.tpl']), '{{ define "own" }}x{{ end }}');
      case 5:
        return this.#write('text.txt', `text ${this.#random.below(3)}\n`);
      case 6:
        return this.#choose({ environment: this.#random.pick(['default', 'prod']) });
      default:
        return this.#choose({
          env: { IMAGE_TAG: this.#random.pick(['v7', 'v8']) },
          set: this.#random.chance(0.5) ? { a: this.#random.below(3) } : {},
        });
    }
  }

  /** What is wrong does not stay so. */
  #mend(): void {
    for (const [name, text] of Object.entries(this.#written)) if (this.#read(name) !== text) this.#write(name, text);
    this.log.push('mend');
  }

  #choose(options: Options): void {
    this.#options = { ...this.#options, ...options };
    this.log.push(JSON.stringify(options));
  }

  #files(): string[] {
    return readdirSync(this.folder, { recursive: true, encoding: 'utf8' })
      .filter((name) => !name.startsWith('chart') && statSync(join(this.folder, name)).isFile())
      .sort();
  }

  #read(name: string): string {
    return statSync(join(this.folder, name), { throwIfNoEntry: false })?.isFile()
      ? readFileSync(join(this.folder, name), 'utf8')
      : '';
  }

  #remove(name: string): void {
    rmSync(join(this.folder, name), { recursive: true });
    this.log.push(`remove ${name}`);
  }

  #write(name: string, text: string): void {
    const path = join(this.folder, name);
    mkdirSync(join(path, '..'), { recursive: true });
    rmSync(path, { recursive: true, force: true });
    writeFileSync(path, text);
    this.log.push(`write ${name}`);
  }
}

it.each(Array.from({ length: runs }, (_, index) => `${seed}/${index}`))(
  'a load with a cache answers as one without, whatever was changed since: %s',
  async (name) => {
    const tree = new EditedTree(new SeededRandom(name));
    onTestFailed(() => void process.stdout.write(`${tree.log.join('\n')}\n`));
    const cache = new HelmfileCache();
    for (let edit = 0; edit <= editsOfEach; edit += 1) {
      const { folder, options } = tree;
      expect(await answer(folder, options, cache)).toEqual(await answer(folder, options));
      tree.edit();
    }
  },
);
