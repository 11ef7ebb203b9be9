import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { systemClock } from '../../src/index.ts';
import { createCertificateAuthority, serverNames } from '../../src/tls.ts';

interface Review {
  request: { uid: string };
}

const patchOf = (operations: object[]) => ({
  patchType: 'JSONPatch',
  patch: Buffer.from(JSON.stringify(operations)).toString('base64'),
});

/** What the webhook answers on each of its paths. */
const answers: Record<string, (uid: string) => unknown> = {
  '/allow': (uid) => ({ uid, allowed: true }),
  '/deny': (uid) => ({ uid, allowed: false, status: { code: 403, message: 'no way', reason: 'Forbidden' } }),
  '/deny-bare': (uid) => ({ uid, allowed: false }),
  '/deny422': (uid) => ({
    uid,
    allowed: false,
    warnings: ['careful'],
    status: {
      code: 422,
      message: 'bad field',
      reason: 'Invalid',
      details: { causes: [{ field: 'data.a', message: 'nope', reason: 'FieldValueInvalid' }] },
    },
  }),
  '/mutate': (uid) => ({
    uid,
    allowed: true,
    warnings: ['changed'],
    ...patchOf([{ op: 'add', path: '/metadata/labels', value: { injected: 'yes' } }]),
  }),
  '/bad-patch': (uid) => ({ uid, allowed: true, ...patchOf([{ op: 'remove', path: '/nope' }]) }),
  '/wrong-uid': () => ({ uid: 'somebody', allowed: true }),
};

/** An admission webhook for both servers to ask. */
export async function startWebhooks(): Promise<{ variables: Record<string, string>; stop(): Promise<void> }> {
  const authority = await createCertificateAuthority({ clock: systemClock });
  const { certificate, key } = await authority.issue({
    commonName: 'hooks',
    ...serverNames('127.0.0.1'),
    usage: 'server',
  });
  const server = createServer({ cert: certificate, key }, (request, response) => {
    let text = '';
    request.setEncoding('utf8');
    request.on('data', (chunk: string) => {
      text += chunk;
    });
    request.on('end', () => {
      const path = new URL(request.url ?? '/', 'https://hooks').pathname;
      // A request without an answer is given up by who sent it.
      if (path === '/slow') return;
      if (path === '/500') {
        response.writeHead(500).end('boom');
        return;
      }
      response.setHeader('content-type', 'application/json');
      if (path === '/nonsense') {
        response.end('{"kind":"Nothing"}');
        return;
      }
      const { uid } = (JSON.parse(text) as Review).request;
      const answer = answers[path]?.(uid);
      response.end(JSON.stringify({ apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', response: answer }));
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return {
    variables: {
      hooks: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
      hooksCa: Buffer.from(authority.certificate).toString('base64'),
    },
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => {
        server.close(resolve);
      });
    },
  };
}
