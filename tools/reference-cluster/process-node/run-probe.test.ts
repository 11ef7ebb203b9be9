import { createServer, type RequestListener, type Server } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Server as TcpServer } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { runProbe } from './run-probe.ts';
import type { Probe } from './running-pod.ts';

const servers: TcpServer[] = [];
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => new Promise((resolve) => server.close(resolve))));
});

async function listening(server: Server | TcpServer): Promise<number> {
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

const answering = (listener: RequestListener) => listening(createServer(listener));
const probe = (what: Probe) => runProbe(what, { name: 'c', image: 'i' }, { podAddress: '127.0.0.1', pid: process.pid });

describe('a probe by HTTP', () => {
  it('passes with every status from 200 to 399, and with no other', async () => {
    const port = await answering((incoming, answer) => answer.writeHead(Number(incoming.url!.slice(1))).end());
    for (const status of [200, 204, 302, 399])
      expect(await probe({ httpGet: { path: `/${status}`, port } })).toBe(true);
    for (const status of [400, 404, 500]) expect(await probe({ httpGet: { path: `/${status}`, port } })).toBe(false);
  });

  it('sends the headers it is given', async () => {
    const port = await answering((incoming, answer) => answer.writeHead(incoming.headers['x-probe'] ? 200 : 500).end());
    expect(await probe({ httpGet: { port } })).toBe(false);
    expect(await probe({ httpGet: { port, httpHeaders: [{ name: 'X-Probe', value: '1' }] } })).toBe(true);
  });

  it('fails when the answer takes longer than its limit', async () => {
    const open: { end(): void }[] = [];
    const port = await answering((_, answer) => void open.push(answer));
    expect(await probe({ httpGet: { port }, timeoutSeconds: 0.05 })).toBe(false);
    for (const answer of open) answer.end();
  });

  it('fails when nobody listens', async () => {
    const port = await answering(() => {});
    const [server] = servers.splice(0);
    await new Promise((resolve) => server!.close(resolve));
    expect(await probe({ httpGet: { port } })).toBe(false);
    expect(await probe({ tcpSocket: { port } })).toBe(false);
  });
});

describe('a probe by TCP', () => {
  it('passes when the port can be connected to', async () => {
    const port = await listening(createTcpServer((socket) => socket.destroy()));
    expect(await probe({ tcpSocket: { port } })).toBe(true);
  });
});
