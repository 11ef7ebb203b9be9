import type { Plugin } from 'esbuild';

import { namedImports } from './named-imports.ts';
import { builtinsOnDemand, narrowUndici, packagesOnDemand } from './quick-start.ts';

/** What every program of ours that is bundled and split is built with: the command, and what is measured in its place. */
export function asShipped(): Plugin[] {
  return [builtinsOnDemand(), packagesOnDemand(), narrowUndici(), namedImports()];
}
