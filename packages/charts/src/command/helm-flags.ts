/** Flags of helm's that no command of ours has, and what to do instead. */
const helmsOwn = {
  '--post-renderer': 'no program is run on manifests: print them with slipway chart template and change what it prints',
  '--post-renderer-args': 'no program is run on manifests',
  '--dependency-update': 'run slipway chart dependency update before',
  '--verify': 'provenance files are not checked; every archive is checked against the digest of its repository',
  '--keyring': 'provenance files are not checked',
  '--enable-dns': 'templates ask no name server',
  '--kube-context': 'use --context',
  '--generate-name': 'name the release',
  '--debug': '--verbose says more',
} as const;

/** Of those that render. */
export const helmsOwnTemplating = {
  ...helmsOwn,
  '--output-dir': 'print one template with --show-only, or write releases to files with slipway helmfile template',
  '--validate': 'slipway chart diff asks the cluster',
  '--dry-run': 'slipway chart template writes to no cluster',
} as const;

/** Of those that write to a cluster. */
export const helmsOwnApplying = {
  ...helmsOwn,
  '--dry-run': 'slipway chart diff shows what would change, slipway chart template what would be applied',
  '--force': 'objects are not replaced; fields others wrote are taken over with --force-conflicts',
  '--force-replace': 'objects are not replaced; fields others wrote are taken over with --force-conflicts',
  '--server-side': 'objects are always written by server-side apply',
  '--disable-openapi-validation': 'the API server checks every object, there is nothing to turn off',
} as const;
