import type { Deployment, ObjectKey } from '@slipway/kube';

import type { Berth } from './api.ts';

/** Objects of different kinds may have the same name: the kind keeps what they own apart. */
export function deploymentKey({ namespace, name }: ObjectKey): ObjectKey {
  return { namespace, name: `berth-${name}` };
}

/** What runs for it. Only the fields written here are ours: others may set the rest. */
export function deploymentFor({ metadata, spec }: Berth): Deployment {
  const { name = '', namespace } = metadata;
  const labels = { 'app.kubernetes.io/name': 'berth', 'app.kubernetes.io/instance': name };
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { ...deploymentKey({ namespace, name }), labels },
    spec: {
      replicas: spec.replicas,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: 'main', image: spec.image }] } },
    },
  };
}
