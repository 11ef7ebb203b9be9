/**
 * Which room may look into which. Dependencies point down only; `apiserver` knows none of the others, so that a bug in
 * the client is not mirrored in the server that tests it.
 */
export const arrows: Readonly<Record<string, readonly string[]>> = {
  kube: [],
  runtime: ['kube'],
  manifests: ['kube', 'runtime'],
  sops: ['kube'],
  charts: ['kube', 'manifests'],
  operand: ['kube', 'runtime', 'manifests'],
  'btp-manager': ['kube', 'runtime', 'manifests'],
  'control-plane': ['kube', 'runtime', 'manifests', 'charts'],
  'app-platform': ['kube', 'runtime', 'manifests', 'charts', 'sops'],
  apiserver: [],
  testing: ['apiserver', 'kube', 'runtime'],
  // It finds the operators and names none.
  cli: ['kube', 'runtime', 'manifests', 'apiserver'],
  slipway: ['cli', 'kube'],
  scaffold: ['kube'],
  'create-slipway': ['scaffold', 'kube'],
};

/** Tests may use the test kit and the embedded server besides what the package itself may use. */
export const testOnly: readonly string[] = ['testing', 'apiserver', 'reference-cluster', 'oracles'];

/** What the tests of one package may use besides. */
export const testArrows: Readonly<Record<string, readonly string[]>> = {
  // An operator to show the commands with.
  cli: ['operand'],
  // What it writes is an operator, which the command runs.
  scaffold: ['cli', 'runtime'],
};

/** Packages whose folders may still import each other; every other one keeps its folders in one direction. */
export const foldersOpen: readonly string[] = ['apiserver'];

/** Pictures the arrows as a Mermaid graph for `docs/architecture.md`. */
export function mermaid(): string {
  const lines = ['graph TD'];
  for (const [from, targets] of Object.entries(arrows)) {
    for (const to of targets) lines.push(`  ${from} --> ${to}`);
  }
  return lines.join('\n');
}
