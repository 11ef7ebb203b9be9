import { usesSops } from '../secrets/crypt.ts';
import { saveValues } from '../values/save.ts';
import { secretPathsInFiles, secretPathsOf, secretRules } from '../values/secret-paths.ts';
import type { Tree } from '../values/tree.ts';
import type { Platform } from './platform.ts';

/** Writes values into the files of the repository; secret ones into files of their own. Gives the files that changed. */
export async function writeValues({ root, directory, layers }: Platform, tree: Tree): Promise<string[]> {
  const rules = secretRules(await root.schema());
  const secretPaths = [...secretPathsOf(rules, tree), ...secretPathsInFiles(await layers.files())];
  return await saveValues({ directory, tree, secretPaths, encrypted: usesSops(directory), known: layers.parsed });
}
