import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

import { PlatformError } from './platform-error.ts';
import { isTree, type Tree } from './tree.ts';
import { ValuesError } from './values-error.ts';
import { parseYaml } from './yaml-file.ts';

/** Its name in error texts too. */
export const schemaFile = 'values-schema.yaml';
/** Values under which every chart of the platform is rendered. */
export const sampleFile = 'values-sample.yaml';

/** The unchanging part of a platform: charts, helmfiles, schema, defaults. A user writes one, or starts from ours. */
export class PlatformRoot {
  readonly directory: string;
  readonly #parsed = new Map<string, { readonly text: string; readonly tree: Tree }>();

  constructor(directory: string) {
    this.directory = directory;
  }

  path(...parts: readonly string[]): string {
    return join(this.directory, ...parts);
  }

  async schema(): Promise<Tree> {
    const schema = await this.#tree(schemaFile);
    // An empty schema would let everything through.
    if (Object.keys(schema).length === 0)
      throw new ValuesError('InvalidSchema', `Schema is invalid: ${schemaFile} of the platform is empty`);
    return schema;
  }

  async changes(): Promise<readonly Tree[]> {
    const { changes } = await this.#tree('values-changes.yaml');
    return Array.isArray(changes) ? changes.filter(isTree) : [];
  }

  /** What the platform is made of besides the user's choices: namespaces and the apps of administrators and teams. */
  async core(): Promise<Tree> {
    return await this.#tree('core.yaml');
  }

  /** Values that bring what the defaults do not, such as a team with an app. */
  async sample(): Promise<Tree> {
    return await this.optional(sampleFile);
  }

  /** The map in a file; empty when the platform has no such file. */
  async optional(name: string): Promise<Tree> {
    return await this.#tree(name).catch((error: unknown) => {
      if (!(error instanceof PlatformError)) throw error;
      return {};
    });
  }

  /** The platform's version, from its `package.json` as the charts' repository has it. */
  async version(): Promise<string> {
    const { version } = JSON.parse(await this.text('package.json')) as { version: string };
    return version;
  }

  async text(...parts: readonly string[]): Promise<string> {
    return await readFile(this.path(...parts), 'utf8').catch((error: NodeJS.ErrnoException) => {
      if (!['ENOENT', 'ENOTDIR', 'EISDIR'].includes(error.code ?? '')) throw error;
      throw new PlatformError(this.directory, parts.join('/'), error);
    });
  }

  /** The same object as long as the file is the same; nobody changes it. */
  async #tree(name: string): Promise<Tree> {
    const text = await this.text(name);
    const known = this.#parsed.get(name);
    if (known?.text === text) return known.tree;
    const tree = parseYaml(text, name) ?? {};
    this.#parsed.set(name, { text, tree });
    return tree;
  }
}
