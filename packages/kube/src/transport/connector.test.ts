import { afterEach, beforeEach, expect, test } from 'vitest';

import { createCertificateAuthority, serve } from '../../test/loopback.ts';
import type { ClientCertificate, Connection } from '../connection.ts';
import type { Transport } from '../transport.ts';
import { undiciTransport } from './undici-transport.ts';

const uncaught: unknown[] = [];
const note = (error: unknown) => void uncaught.push(error);

beforeEach(() => {
  uncaught.length = 0;
  process.on('unhandledRejection', note);
});

afterEach(() => {
  process.off('unhandledRejection', note);
});

async function fixture() {
  const ca = await createCertificateAuthority('ca');
  const [one, two] = await Promise.all(['one', 'two'].map((commonName) => ca.issue({ commonName })));
  const server = await serve(
    (request, response) => {
      const socket = request.socket as typeof request.socket & { getPeerCertificate(): { subject: { CN: string } } };
      // Each request on a connection of its own, so that each shows the certificate of its moment.
      response.setHeader('connection', 'close');
      response.end(socket.getPeerCertificate().subject.CN);
    },
    {
      ...(await ca.issue({ commonName: 'server', ipAddresses: ['127.0.0.1'] })),
      requestCert: true,
      ca: ca.certificate,
    },
  );
  return { ca, one: one!, two: two!, server };
}

const whoAmI = async (transport: Transport) => (await transport.send({ method: 'GET', path: '/' })).body.toString();

test('a client certificate rotated key first is used once both files belong together, and the old one until then', async () => {
  const { ca, one, two, server } = await fixture();
  await using _server = server;
  let current: ClientCertificate = { cert: one.certificate, key: one.key };
  const connection: Connection = {
    server: server.url,
    tls: { ca: ca.certificate, clientCertificate: () => Promise.resolve(current) },
  };
  const transport = undiciTransport(connection);
  try {
    expect(await whoAmI(transport)).toBe('one');
    current = { cert: one.certificate, key: two.key };
    expect(await whoAmI(transport)).toBe('one');
    current = { cert: two.certificate, key: two.key };
    expect(await whoAmI(transport)).toBe('two');
  } finally {
    await transport.close();
  }
  expect(uncaught).toEqual([]);
});

test.each([
  [
    'a key of another certificate',
    (pem: { one: ClientCertificate; two: ClientCertificate }) => ({ cert: pem.one.cert, key: pem.two.key }),
  ],
  ['half a file', ({ one }: { one: ClientCertificate }) => ({ cert: one.cert.slice(0, 200), key: one.key })],
  ['an empty file', ({ one }: { one: ClientCertificate }) => ({ cert: one.cert, key: '' })],
])('%s from the start is an error of the request, not the end of the process', async (_what, broken) => {
  const { ca, one, two, server } = await fixture();
  await using _server = server;
  const clientCertificate = broken({
    one: { cert: one.certificate, key: one.key },
    two: { cert: two.certificate, key: two.key },
  });
  const transport = undiciTransport({ server: server.url, tls: { ca: ca.certificate, clientCertificate } });
  try {
    await expect(whoAmI(transport)).rejects.toThrow(/client certificate|no answer/);
    // A second time as well: what failed is not taken for good.
    await expect(whoAmI(transport)).rejects.toThrow(/client certificate|no answer/);
  } finally {
    await transport.close();
  }
  expect(uncaught).toEqual([]);
});
