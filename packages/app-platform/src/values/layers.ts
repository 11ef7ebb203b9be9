import { fromPlain, helmFunctions, makeEnvironment, TemplateSet, type GoMap } from '@slipway/charts';

import { loadValues, teamsIn, type LoadedValues } from './load.ts';
import { ParsedFiles } from './parsed-files.ts';
import type { PlatformRoot } from './platform-root.ts';
import { merge, type Tree } from './tree.ts';
import { parseYaml } from './yaml-file.ts';

/** Which layers are wanted: what the files say, that over all defaults, or everything with what follows from it. */
export type Layers = 'files' | 'defaults' | 'all';

/** There is always a team of administrators, with or without a folder. */
const adminTeam = 'admin';

/**
 * The values of a platform, layer over layer: static defaults, defaults of each team, the files of the repository, and what is
 * derived from all that. Later ones win; maps are merged, lists replaced.
 */
export class ValuesLayers {
  readonly #root: PlatformRoot;
  readonly #directory: string;
  readonly #known = new ParsedFiles();

  constructor(root: PlatformRoot, directory: string) {
    this.#root = root;
    this.#directory = directory;
  }

  async files(): Promise<LoadedValues> {
    return await loadValues(this.#directory, { known: this.#known });
  }

  async values(layers: Layers): Promise<Tree> {
    const { tree } = await this.files();
    if (layers === 'files') return tree;
    const withDefaults = merge(await this.#static(), await this.#perTeam(tree), tree);
    if (layers === 'defaults') return withDefaults;
    const derived = await this.#render('values/derived.gotmpl', { Values: withDefaults });
    return merge(withDefaults, derived, await this.#root.core());
  }

  async #static(): Promise<Tree> {
    return parseYaml(await this.#root.text('values', 'defaults.yaml'), 'values/defaults.yaml') ?? {};
  }

  async #perTeam(tree: Tree): Promise<Tree> {
    const teams = [...new Set([adminTeam, ...(await teamsIn(this.#directory))])].sort();
    return await this.#render('values/defaults.gotmpl', { Values: tree, Teams: teams });
  }

  async #render(name: string, data: Tree): Promise<Tree> {
    const templates = new TemplateSet({
      functions: helmFunctions,
      missingKey: 'error',
      environment: makeEnvironment(),
    });
    templates.add(name, await this.#root.text(name));
    const context = { ...data, Platform: { Version: await this.#root.version() } };
    const text = templates.execute(name, fromPlain(context) as GoMap);
    return parseYaml(text, `${name} (rendered)`) ?? {};
  }
}
