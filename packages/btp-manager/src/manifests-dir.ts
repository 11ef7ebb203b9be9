import { join } from 'node:path';

/** The resources that come with the package, in the layout `--resources-path` and its siblings take. */
export const manifestsDir = join(import.meta.dirname, '..', 'manifests');
