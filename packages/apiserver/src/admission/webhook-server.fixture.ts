import * as https from 'node:https';
import type { AddressInfo } from 'node:net';
import { createCertificateAuthority } from '../tls.ts';
import { VirtualClock } from '../virtual-clock.ts';

/** An AdmissionReview or another review; tests look into all of it. */
export type Review = Record<string, any>; // oxlint-disable-line typescript/no-explicit-any

export interface Received {
  readonly path: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly review: Review;
}

/** The `response` to send; a number is an HTTP status with the body `boom`; `'hang'` never answers. */
export type Behaviour = (review: Review) => object | number | 'hang';

export interface WebhookServer extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
  readonly caBundle: string;
  /** The certificate of the server itself, without that of its authority. */
  readonly leafBundle: string;
  readonly received: Received[];
  /** How a path is answered. */
  on(path: string, behaviour: Behaviour): void;
}

/** A webhook over HTTPS with a certificate of its own authority, also good for `hook.default.svc`. */
export async function startWebhookServer(): Promise<WebhookServer> {
  const authority = await createCertificateAuthority({ clock: new VirtualClock(), commonName: 'webhook ca' });
  const { certificate, key } = await authority.issue({
    commonName: 'hook',
    dnsNames: ['localhost', 'hook.default.svc'],
    ipAddresses: ['127.0.0.1'],
    usage: 'server',
  });
  const behaviours = new Map<string, Behaviour>();
  const received: Received[] = [];
  const server = https.createServer({ cert: certificate, key }, (request, response) => {
    let text = '';
    request.on('data', (chunk: Buffer) => (text += chunk.toString()));
    request.on('end', () => {
      const review = JSON.parse(text) as Review;
      received.push({ path: request.url!, headers: request.headers, review });
      const answer = behaviours.get(request.url!.split('?')[0]!)?.(review) ?? 404;
      if (answer === 'hang') {
        return;
      }
      if (typeof answer === 'number') {
        response.writeHead(answer).end('boom');
        return;
      }
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(
        JSON.stringify({
          kind: review['kind'],
          apiVersion: review['apiVersion'],
          response: { uid: review['request'].uid, ...answer },
        }),
      );
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `https://127.0.0.1:${port}`,
    port,
    caBundle: Buffer.from(authority.certificate).toString('base64'),
    leafBundle: Buffer.from(certificate).toString('base64'),
    received,
    on: (path, behaviour) => void behaviours.set(path, behaviour),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
