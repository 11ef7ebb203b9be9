/** Flags of helm's that no command of ours has, and what to do instead. */
const helmsOwn = {
  '--post-renderer': 'no program is run on manifests: print them with slipway chart template and change what it prints',
  '--post-renderer-args': 'no program is run on manifests',
  '--verify': 'provenance files are not checked; every archive is checked against the digest of its repository',
  '--keyring': 'provenance files are not checked',
  '--enable-dns': 'templates ask no name server',
  '--kube-context': 'use --context',
  '--debug': '--verbose says more',
} as const;

/** Of those that render. */
export const helmsOwnTemplating = {
  ...helmsOwn,
  '--validate': 'slipway chart install --dry-run=server asks the cluster',
  '--dry-run': 'slipway chart template asks no cluster; slipway chart install --dry-run=server does',
} as const;

/** Of those that write to a cluster. */
export const helmsOwnApplying = {
  ...helmsOwn,
  '--force': 'objects are not replaced; fields others wrote are taken over with --force-conflicts',
  '--force-replace': 'objects are not replaced; fields others wrote are taken over with --force-conflicts',
  '--server-side': 'objects are always written by server-side apply; --server-side=true is all there is',
  '--disable-openapi-validation': 'the API server checks every object, there is nothing to turn off',
} as const;
