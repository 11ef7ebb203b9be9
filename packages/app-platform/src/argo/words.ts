/** Annotations, labels and finalizers of Argo CD that we read or write. */
export const argo = {
  syncWave: 'argocd.argoproj.io/sync-wave',
  hook: 'argocd.argoproj.io/hook',
  hookDeletePolicy: 'argocd.argoproj.io/hook-delete-policy',
  syncOptions: 'argocd.argoproj.io/sync-options',
  compareOptions: 'argocd.argoproj.io/compare-options',
  trackingId: 'argocd.argoproj.io/tracking-id',
  /** Where Argo CD tracks by label instead. */
  instance: 'app.kubernetes.io/instance',
  /** On an Application: leave it alone. */
  skipReconcile: 'argocd.argoproj.io/skip-reconcile',
  /** On an object: how it is does not count. */
  ignoreHealthcheck: 'argocd.argoproj.io/ignore-healthcheck',
  /** On an Application: look at Git now. */
  refresh: 'argocd.argoproj.io/refresh',
  /** With it, deleting an Application deletes what it brought. */
  cascade: 'resources-finalizer.argocd.argoproj.io',
  /** With it, deleting an Application first runs its PreDelete hooks; with `/cleanup` after it, they are taken away. */
  preDelete: 'pre-delete-finalizer.argocd.argoproj.io',
  /** The same for PostDelete hooks, after everything else. */
  postDelete: 'post-delete-finalizer.argocd.argoproj.io',
  /** On a Secret with the address and credentials of a repository. */
  secretType: 'argocd.argoproj.io/secret-type',
  controllerName: 'argocd-application-controller',
} as const;

export const helm = {
  hook: 'helm.sh/hook',
  hookWeight: 'helm.sh/hook-weight',
  hookDeletePolicy: 'helm.sh/hook-delete-policy',
  resourcePolicy: 'helm.sh/resource-policy',
} as const;
