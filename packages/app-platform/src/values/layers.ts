import {
  fromPlain,
  helmFunctions,
  makeEnvironment,
  TemplateSet,
  watchedEnvironment,
  type GoMap,
} from '@slipway/charts';

import { findFiles, teamsIn, valuesIn, type FoundFile, type LoadedValues } from './load.ts';
import { ParsedFiles } from './parsed-files.ts';
import type { PlatformRoot } from './platform-root.ts';
import { merge, type Tree } from './tree.ts';
import { parseYaml } from './yaml-file.ts';

/** Which layers are wanted: what the files say, that over all defaults, or everything with what follows from it. */
export type Layers = 'files' | 'defaults' | 'all';

/** There is always a team of administrators, with or without a folder. */
const adminTeam = 'admin';

/** Files and what they make; the same as long as every file is. */
interface Loaded {
  readonly found: readonly FoundFile[];
  readonly values: LoadedValues;
}

/** A layered tree, and everything it was made from. */
interface Layered {
  readonly from: readonly unknown[];
  readonly tree: Tree;
}

/**
 * The values of a platform, layer over layer: static defaults, defaults of each team, the files of the repository, and what is
 * derived from all that. Later ones win; maps are merged, lists replaced.
 *
 * An apply asks for them a dozen times. Each time all files are looked at; what has not changed is not made again, and whoever asks
 * gets the same tree, which nobody changes.
 */
export class ValuesLayers {
  /** The files as they were read last. */
  readonly parsed = new ParsedFiles();
  readonly #root: PlatformRoot;
  readonly #directory: string;
  #loaded: Loaded | undefined;
  readonly #layered = new Map<Layers, Layered>();

  constructor(root: PlatformRoot, directory: string) {
    this.#root = root;
    this.#directory = directory;
  }

  async files(): Promise<LoadedValues> {
    const found = await findFiles(this.#directory, this.parsed);
    if (this.#loaded && areSame(found, this.#loaded.found)) return this.#loaded.values;
    const values = valuesIn(found);
    this.#loaded = { found, values };
    return values;
  }

  async values(layers: Layers): Promise<Tree> {
    const { tree } = await this.files();
    if (layers === 'files') return tree;
    const withDefaults = await this.#withDefaults(tree);
    if (layers === 'defaults') return withDefaults;
    const [derived, core, version] = [
      await this.#root.text('values/derived.gotmpl'),
      await this.#root.core(),
      await this.#root.version(),
    ];
    return this.#remember('all', [withDefaults, derived, core, version], (impure) => {
      const data = { Values: withDefaults, Platform: { Version: version } };
      return merge(withDefaults, render('values/derived.gotmpl', derived, data, impure), core);
    });
  }

  async #withDefaults(tree: Tree): Promise<Tree> {
    const teams = [...new Set([adminTeam, ...(await teamsIn(this.#directory))])].sort();
    const [fixed, perTeam, version] = [
      await this.#root.text('values', 'defaults.yaml'),
      await this.#root.text('values/defaults.gotmpl'),
      await this.#root.version(),
    ];
    return this.#remember('defaults', [tree, teams.join('/'), fixed, perTeam, version], (impure) => {
      const data = { Values: tree, Teams: teams, Platform: { Version: version } };
      const ofTeams = render('values/defaults.gotmpl', perTeam, data, impure);
      return merge(parseYaml(fixed, 'values/defaults.yaml') ?? {}, ofTeams, tree);
    });
  }

  /** What was made from the same things is the same, unless the clock or chance had a part in it. */
  #remember(layers: Layers, from: readonly unknown[], make: (impure: () => void) => Tree): Tree {
    const known = this.#layered.get(layers);
    if (known?.from.every((part, index) => part === from[index])) return known.tree;
    let pure = true;
    const tree = make(() => (pure = false));
    if (pure) this.#layered.set(layers, { from, tree });
    return tree;
  }
}

function areSame(files: readonly FoundFile[], others: readonly FoundFile[]): boolean {
  return (
    files.length === others.length &&
    files.every(({ path, parsed }, index) => path === others[index]!.path && parsed === others[index]!.parsed)
  );
}

function render(name: string, text: string, data: Tree, impure: () => void): Tree {
  const templates = new TemplateSet({
    functions: helmFunctions,
    missingKey: 'error',
    environment: watchedEnvironment(makeEnvironment(), impure),
  });
  templates.add(name, text);
  return parseYaml(templates.execute(name, fromPlain(data) as GoMap), `${name} (rendered)`) ?? {};
}
