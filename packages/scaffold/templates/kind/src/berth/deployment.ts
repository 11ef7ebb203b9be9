import type { Deployment } from '@slipway/kube';

import type { Berth } from './api.ts';

/** What runs for it. Only the fields written here are ours: others may set the rest. */
export function deploymentFor({ metadata, spec }: Berth): Deployment {
  const { name = '', namespace } = metadata;
  const labels = { 'app.kubernetes.io/name': 'berth', 'app.kubernetes.io/instance': name };
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, namespace, labels },
    spec: {
      replicas: spec.replicas,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: 'main', image: spec.image }] } },
    },
  };
}
