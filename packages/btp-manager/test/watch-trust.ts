import { ValidatingWebhookConfiguration } from '@slipway/kube';
import { isIssuedBy, splitBundle } from '@slipway/runtime';
import type { TestCluster } from '@slipway/testing';
import { expect } from 'vitest';

import { decode } from './kit.ts';

/** At every instant the webhook configuration trusts the certificate that pods load. Sees the embedded cluster only. */
export function watchTrust(cluster: TestCluster): { verify(): void } {
  let leaf = '';
  let bundle = '';
  const gaps: string[] = [];
  cluster.embedded?.observe(({ type, object }) => {
    const { kind, metadata, data, webhooks } = object as unknown as {
      kind: string;
      metadata: { name: string };
      data?: Record<string, string>;
      webhooks?: { clientConfig: { caBundle?: string } }[];
    };
    if (type !== 'DELETED' && metadata.name === 'webhook-server-cert') leaf = decode(data?.['tls.crt']);
    if (kind === ValidatingWebhookConfiguration.kind) bundle = decode(webhooks?.[0]?.clientConfig.caBundle);
    if (leaf && bundle && !splitBundle(bundle).some((ca) => isIssuedBy(leaf, ca))) gaps.push(`after ${type} ${kind}`);
  });
  return { verify: () => expect(gaps).toEqual([]) };
}
