import { isBuiltin } from 'node:module';

import type { PackageManifest } from './published-manifest.ts';

/** No name of a package has a backslash; the pattern of an import in somebody's regular expression does. */
const importPattern = /(?:^|[\s;}])(?:from|import)\s*\(?\s*(['"])([^'"\s\\]+)\1/g;

/** The packages a module or its types import. */
export function importedPackages(text: string): string[] {
  const found = new Set<string>();
  for (const [, , target = ''] of withoutComments(text).matchAll(importPattern)) {
    if (target.startsWith('.') || isBuiltin(target)) continue;
    found.add(target.split('/', target.startsWith('@') ? 2 : 1).join('/'));
  }
  return [...found];
}

/** The packages a package imports and does not ask for, which an isolated installation would not find. */
export function undeclared(imported: Iterable<string>, manifest: PackageManifest): string[] {
  const { name, dependencies, peerDependencies } = manifest;
  const declared = new Set([name, ...Object.keys({ ...dependencies, ...peerDependencies })]);
  return [...new Set(imported)].filter((each) => !declared.has(each)).sort();
}

function withoutComments(text: string): string {
  return text.replaceAll(/^\s*(?:\/\*\*?|\*|\/\/).*$/gm, '');
}
