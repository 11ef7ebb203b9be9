import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { systemClock } from '../../src/index.ts';
import { createCertificateAuthority, serverNames } from '../../src/tls.ts';

interface Review {
  request: { uid: string; [field: string]: unknown };
}

interface ConversionReview {
  request: { uid: string; desiredAPIVersion: string; objects: Converted[] };
}

interface Converted {
  apiVersion: string;
  metadata: { name: string };
  spec?: { length?: number; metres?: { value: number } };
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

/** Refuses with everything that was asked, so that the answer of the API server shows it. */
function echo({ request }: Review): unknown {
  const { uid, userInfo, ...rest } = request;
  const { username, groups } = userInfo as { username: string; groups: string[] };
  const message = JSON.stringify(inOrder({ ...rest, userInfo: { username, groups } }));
  return { uid, allowed: false, status: { code: 418, message } };
}

function inOrder(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inOrder);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key]) => key !== 'managedFields')
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, item]) => [key, inOrder(item)]),
  );
}

/** The second version of a boat gives its length in another place; a boat called `wreck` cannot be converted. */
function convert({ request }: ConversionReview): unknown {
  const { uid, desiredAPIVersion, objects } = request;
  if (objects.some(({ metadata }) => metadata.name === 'wreck')) {
    return { uid, result: { status: 'Failed', message: 'a wreck has no length' } };
  }
  const convertedObjects = objects.map((object) => ({
    ...object,
    apiVersion: desiredAPIVersion,
    spec: desiredAPIVersion.endsWith('/v2')
      ? { metres: { value: object.spec?.length ?? object.spec?.metres?.value ?? 0 } }
      : { length: object.spec?.metres?.value ?? object.spec?.length ?? 0 },
  }));
  return { uid, convertedObjects, result: { status: 'Success' } };
}

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
      if (path === '/convert') {
        const converted = convert(JSON.parse(text) as ConversionReview);
        response.end(
          JSON.stringify({ apiVersion: 'apiextensions.k8s.io/v1', kind: 'ConversionReview', response: converted }),
        );
        return;
      }
      const review = JSON.parse(text) as Review;
      const answer = path === '/echo' ? echo(review) : answers[path]?.(review.request.uid);
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
