import { createHmac } from 'node:crypto';
import { undiciTransport } from '@slipway/kube';

import { pushPath } from '../webhook/push-webhook.ts';

/** Calls the push webhook after a push, as a Git server does; a call that fails is made good by the next poll. */
export function announcePushes(port: number, secret: string): { readonly onPush: () => void } & AsyncDisposable {
  const transport = undiciTransport(
    { server: `http://127.0.0.1:${port}` },
    { requestTimeoutMs: 5000, maxConnections: 1 },
  );
  return {
    onPush() {
      const body = Buffer.from(JSON.stringify({ ref: 'refs/heads/main' }));
      const headers = {
        'content-type': 'application/json',
        'x-gitea-signature': createHmac('sha256', secret).update(body).digest('hex'),
      };
      transport.send({ method: 'POST', path: pushPath, headers, body }).catch(() => undefined);
    },
    [Symbol.asyncDispose]: () => transport.close(),
  };
}
