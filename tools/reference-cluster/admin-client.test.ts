import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { AdminClient, RequestFailed } from './admin-client.ts';
import { createCertificateAuthority } from './certificates.ts';

const authority = await createCertificateAuthority('test authority');
const serving = await authority.issue({ commonName: 'server', ipAddresses: ['127.0.0.1'] });
const admin = await authority.issue({ commonName: 'admin' });

let server: Server | undefined;

afterEach(() => {
  server?.closeAllConnections();
  server?.close();
});

async function serve(answer: (request: IncomingMessage, response: ServerResponse) => void): Promise<AdminClient> {
  server = createServer(
    { cert: serving.certificate, key: serving.key, ca: authority.certificate, requestCert: true },
    answer,
  );
  await new Promise<void>((resolve) => server!.listen(0, '127.0.0.1', resolve));
  return new AdminClient({
    url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
    ca: authority.certificate,
    adminCert: admin.certificate,
    adminKey: admin.key,
  });
}

const event = (name: string) => `${JSON.stringify({ type: 'ADDED', object: { name } })}\n`;

it('sends JSON and returns every status, and throws only when called upon to', async () => {
  using client = await serve((request, response) => {
    response.statusCode = request.url === '/missing' ? 404 : 200;
    let body = '';
    request.on('data', (chunk) => (body += chunk)).on('end', () => response.end(JSON.stringify({ got: body })));
  });
  expect((await client.send('GET', '/missing')).status).toBe(404);
  expect(await client.call('POST', '/there', { body: { ä: 1 } })).toEqual({ got: '{"ä":1}' });
  await expect(client.call('GET', '/missing')).rejects.toThrow(RequestFailed);
});

it('puts events together that arrive in pieces', async () => {
  using client = await serve((_, response) => {
    const bytes = Buffer.from(event('eins') + event('zwölf') + event('drei'));
    const inside = bytes.indexOf('ö') + 1;
    response.write(bytes.subarray(0, inside), () => response.end(bytes.subarray(inside)));
  });
  const names: string[] = [];
  for await (const { object } of client.watch<{ name: string }>('/', new AbortController().signal))
    names.push(object.name);
  expect(names).toEqual(['eins', 'zwölf', 'drei']);
});

it('ends a watch without an error when it is aborted after the reader left', async () => {
  // The connection's end used to come back as an uncaught error, which ended the node simulator.
  const client = await serve((_, response) => {
    response.write(event('one'));
  });
  const uncaught: unknown[] = [];
  const onUncaught = (error: unknown) => uncaught.push(error);
  process.on('uncaughtException', onUncaught);
  try {
    const stop = new AbortController();
    for await (const _ of client.watch('/', stop.signal)) break;
    stop.abort();
    const closed = new Promise((resolve) => server!.once('close', resolve));
    client[Symbol.dispose]();
    server!.close();
    await closed;
    await new Promise((resolve) => setImmediate(resolve));
    expect(uncaught).toEqual([]);
  } finally {
    process.off('uncaughtException', onUncaught);
  }
});

it('tells who watches that the connection broke', async () => {
  using client = await serve((_, response) => {
    response.write(event('one'), () => response.destroy());
  });
  const watching = async () => {
    for await (const _ of client.watch('/', new AbortController().signal));
  };
  await expect(watching()).rejects.toThrow('aborted');
});
