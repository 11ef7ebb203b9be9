const inKubeconfig = 'write it into a kubeconfig, and name that with --kubeconfig';
const nothingInstalled = 'nothing is installed: leave it out';

/** Flags of helm's that no command of ours has, and what to do instead. */
const helmsOwn = {
  '--post-renderer': 'no program is run on manifests: print them with slipway chart template and change what it prints',
  '--post-renderer-args': 'no program is run on manifests',
  '--verify': 'provenance files are not checked; every archive is checked against the digest of its repository',
  '--keyring': 'provenance files are not checked',
  '--enable-dns': 'templates ask no name server',
  '--kube-context': 'use --context',
  '--kube-apiserver': inKubeconfig,
  '--kube-token': inKubeconfig,
  '--kube-ca-file': inKubeconfig,
  '--kube-tls-server-name': inKubeconfig,
  '--kube-insecure-skip-tls-verify': inKubeconfig,
  '--kube-as-user': inKubeconfig,
  '--kube-as-group': inKubeconfig,
  '--registry-config': 'set HELM_REGISTRY_CONFIG',
  '--repository-config': 'set HELM_REPOSITORY_CONFIG',
  '--repository-cache': 'set HELM_REPOSITORY_CACHE',
  '--debug': '--verbose says more',
} as const;

/** Of those that render. */
export const helmsOwnTemplating = {
  ...helmsOwn,
  '--validate': 'slipway chart install --dry-run=server asks the cluster',
  '--dry-run': 'slipway chart template asks no cluster; slipway chart install --dry-run=server does',
  '--skip-crds': 'files under crds/ are printed with --include-crds only: leave it out',
  '--create-namespace': nothingInstalled,
  '--wait': nothingInstalled,
  '--wait-for-jobs': nothingInstalled,
  '--timeout': nothingInstalled,
  '--atomic': nothingInstalled,
  '--rollback-on-failure': nothingInstalled,
  '--replace': nothingInstalled,
  '--take-ownership': nothingInstalled,
  '--force-conflicts': nothingInstalled,
  '--server-side': nothingInstalled,
  '--description': nothingInstalled,
  '--labels': nothingInstalled,
  '--disable-openapi-validation': nothingInstalled,
} as const;

/** Of those that write to a cluster. */
export const helmsOwnApplying = {
  ...helmsOwn,
  '--force': 'objects are not replaced; fields others wrote are taken over with --force-conflicts',
  '--force-replace': 'objects are not replaced; fields others wrote are taken over with --force-conflicts',
  '--server-side': 'objects are always written by server-side apply; --server-side=true is all there is',
  '--disable-openapi-validation': 'the API server checks every object, there is nothing to turn off',
} as const;
