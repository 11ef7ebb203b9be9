import * as https from 'node:https';
import type { AddressInfo } from 'node:net';
import type { KubeObject } from '@slipway/kube';
import { issueCa, issueLeaf } from '@slipway/runtime';

/** A validating webhook on HTTPS that refuses every ConfigMap called `blue`. */
export interface RefusingWebhook extends AsyncDisposable {
  /** What to create on the cluster to have it asked. */
  readonly configuration: KubeObject;
}

export async function startRefusingWebhook(nowMs: number): Promise<RefusingWebhook> {
  // Valid on the clocks of the cluster and of this machine, which need not agree.
  const validity = {
    notBeforeMs: Math.min(nowMs, Date.UTC(2026, 0, 1)) - 86_400_000,
    notAfterMs: Date.UTC(2040, 0, 1),
  };
  const ca = await issueCa({ commonName: 'webhook ca', ...validity });
  const leaf = await issueLeaf({ commonName: 'webhook', ca, ipAddresses: ['127.0.0.1'], ...validity });
  const server = https.createServer({ cert: leaf.certificate, key: leaf.privateKey }, (request, response) => {
    let text = '';
    request.on('data', (chunk: Buffer) => (text += chunk.toString()));
    request.on('end', () => {
      const {
        apiVersion,
        kind,
        request: asked,
      } = JSON.parse(text) as {
        apiVersion: string;
        kind: string;
        request: { uid: string; name: string };
      };
      const verdict =
        asked.name === 'blue' ? { allowed: false, status: { message: 'blue is not allowed here' } } : { allowed: true };
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ apiVersion, kind, response: { uid: asked.uid, ...verdict } }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    configuration: {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'ValidatingWebhookConfiguration',
      metadata: { name: 'no-blue' },
      webhooks: [
        {
          name: 'no-blue.example.com',
          clientConfig: {
            url: `https://127.0.0.1:${port}/`,
            caBundle: Buffer.from(ca.certificate).toString('base64'),
          },
          rules: [
            { apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'], operations: ['CREATE', 'UPDATE'] },
          ],
          matchConditions: [{ name: 'colours', expression: "object.metadata.name in ['blue', 'green']" }],
          sideEffects: 'None',
          admissionReviewVersions: ['v1'],
          failurePolicy: 'Fail',
        },
      ],
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
