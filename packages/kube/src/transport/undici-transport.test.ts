import { getEventListeners } from 'node:events';
import type { ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';

import { VirtualClock } from '@slipway/testing';
import { describe, expect, test } from 'vitest';

import { answer, createCertificateAuthority, serve } from '../../test/loopback.ts';
import type { Credential } from '../connection.ts';
import type { StreamHandler, Transport } from '../transport.ts';
import { actingTransport } from './impersonation.ts';
import { instrumentTransport } from './instrument-transport.ts';
import { undiciTransport } from './undici-transport.ts';

const get = (path: string) => ({ method: 'GET', path }) as const;

/** Collects what a stream does, and lets a test wait for it. */
function recorder() {
  const calls: string[] = [];
  let wake = () => {};
  const note = (call: string) => {
    calls.push(call);
    wake();
  };
  const handler: StreamHandler = {
    head: (status) => note(`head ${status}`),
    data: (chunk) => note(`data ${chunk.toString()}`),
    end: () => note('end'),
    error: (error) => note(`error ${error.message}`),
  };
  const until = async (call: string) => {
    while (!calls.some((made) => made.startsWith(call))) await new Promise<void>((resolve) => (wake = resolve));
  };
  return { calls, handler, until };
}

async function closing<T>(transport: Transport, use: (transport: Transport) => Promise<T>): Promise<T> {
  try {
    return await use(transport);
  } finally {
    await transport.close();
  }
}

describe('send', () => {
  test('many requests share a connection (a second one may open while the first is being freed) (watch failure 21)', async () => {
    await using server = await serve(answer({ ok: true }));
    await closing(undiciTransport({ server: server.url }), async (transport) => {
      for (let round = 0; round < 20; round += 1) await transport.send(get('/'));
      expect(server.connections).toBeLessThanOrEqual(2);
    });
  });

  test('a DELETE with a body leaves its connection open for the next request', async () => {
    await using server = await serve(answer({ ok: true }));
    await closing(undiciTransport({ server: server.url }), async (transport) => {
      const body = JSON.stringify({ propagationPolicy: 'Background' });
      for (let round = 0; round < 20; round += 1) await transport.send({ method: 'DELETE', path: '/', body });
      expect(server.connections).toBeLessThanOrEqual(2);
    });
  });

  test('a signal that lives as long as the process gathers no listeners (watch failure 18)', async () => {
    await using server = await serve(answer({}));
    const { signal } = new AbortController();
    await closing(undiciTransport({ server: server.url }), async (transport) => {
      await Promise.all(Array.from({ length: 30 }, () => transport.send(get('/'), signal)));
      expect(getEventListeners(signal, 'abort')).toHaveLength(0);
    });
    await closing(undiciTransport({ server: 'http://127.0.0.1:1' }), async (transport) => {
      await expect(transport.send(get('/'), signal)).rejects.toMatchObject({ reason: 'ConnectionFailed' });
      expect(getEventListeners(signal, 'abort')).toHaveLength(0);
    });
  });

  test('a server that never answers is given up on, and the timer goes with the request (watch failure 3)', async () => {
    await using server = await serve(() => {});
    const clock = new VirtualClock();
    await closing(undiciTransport({ server: server.url }, { clock, requestTimeoutMs: 5_000 }), async (transport) => {
      const request = transport.send(get('/'));
      const failure = request.catch((error: unknown) => error);
      await clock.advance(5_000);
      expect(await failure).toMatchObject({ reason: 'RequestTimeout', code: 0 });
      expect(clock.pending).toBe(0);
    });
  });

  test('an abort rejects with its reason and closes the connection', async () => {
    let arrived = () => {};
    const arrival = new Promise<void>((resolve) => (arrived = resolve));
    let closed = () => {};
    const closure = new Promise<void>((resolve) => (closed = resolve));
    await using server = await serve((request) => {
      request.socket.once('close', closed);
      arrived();
    });
    await closing(undiciTransport({ server: server.url }), async (transport) => {
      const controller = new AbortController();
      const failure = transport.send(get('/'), controller.signal).catch((error: unknown) => error);
      await arrival;
      controller.abort(new Error('enough'));
      expect(await failure).toMatchObject({ message: 'enough' });
      await closure;
      await expect(transport.send(get('/'), controller.signal)).rejects.toThrow('enough');
    });
  });

  test('a request that waited for a connection asks whether it may still go, and is not sent when it may not', async () => {
    const arrived: string[] = [];
    const release = Promise.withResolvers<void>();
    await using server = await serve((request, response) => {
      arrived.push(request.url ?? '');
      void release.promise.then(() => response.end('done'));
    });
    await closing(undiciTransport({ server: server.url }, { maxConnections: 1 }), async (transport) => {
      let allowed = true;
      const beforeSend = () => {
        if (!allowed) throw new Error('no longer');
      };
      const first = transport.send({ method: 'POST', path: '/first', beforeSend });
      while (arrived.length === 0) await new Promise(setImmediate);
      const second = transport.send({ method: 'POST', path: '/second', beforeSend });
      second.catch(() => undefined);
      await new Promise(setImmediate);
      allowed = false;
      release.resolve();
      expect((await first).status).toBe(200);
      await expect(second).rejects.toThrow('no longer');
      allowed = true;
      expect((await transport.send({ method: 'POST', path: '/third', beforeSend })).status).toBe(200);
      expect(arrived).toEqual(['/first', '/third']);
    });
  });

  test('a request as somebody else carries nothing of whom the connection acts as', async () => {
    const seen: Record<string, unknown>[] = [];
    await using server = await serve((request, response) => {
      seen.push(
        Object.fromEntries(Object.entries(request.headers).filter(([name]) => name.startsWith('impersonate-'))),
      );
      response.end('{}');
    });
    const impersonate = { user: 'jane', uid: '7', groups: ['system:masters'], extra: { team: ['a'] } };
    await closing(undiciTransport({ server: server.url, impersonate }), async (transport) => {
      await actingTransport(transport, 'system:serviceaccount:shop:deployer').send(get('/'));
      await transport.send(get('/'));
    });
    expect(seen[0]).toEqual({ 'impersonate-user': 'system:serviceaccount:shop:deployer' });
    expect(seen[1]).toMatchObject({ 'impersonate-user': 'jane', 'impersonate-group': 'system:masters' });
  });

  test('an HTTP error is an answer', async () => {
    await using server = await serve((_request, response) => {
      response.writeHead(500, { 'x-one': ['a', 'b'] });
      response.end('broken');
    });
    await closing(undiciTransport({ server: server.url }), async (transport) => {
      const response = await transport.send(get('/'));
      expect(response).toMatchObject({ status: 500, body: Buffer.from('broken') });
    });
  });

  test('gzip is asked for and undone when it is wanted', async () => {
    await using server = await serve((request, response) => {
      const compress = request.headers['accept-encoding'] === 'gzip';
      if (compress) response.setHeader('content-encoding', 'gzip');
      response.end(compress ? gzipSync('packed') : 'plain');
    });
    await closing(undiciTransport({ server: server.url }, { compression: true }), async (transport) => {
      expect((await transport.send(get('/'))).body.toString()).toBe('packed');
    });
    await closing(undiciTransport({ server: server.url }), async (transport) => {
      expect((await transport.send(get('/'))).body.toString()).toBe('plain');
    });
  });

  test.each([
    ['plain', false],
    ['packed into little', true],
  ])('an answer that is too long, %s, is an error and not a full memory', async (_how, packed) => {
    const long = Buffer.alloc(3_000_000, 'a');
    await using server = await serve((_request, response) => {
      if (packed) response.setHeader('content-encoding', 'gzip');
      response.end(packed ? gzipSync(long) : long);
    });
    await closing(undiciTransport({ server: server.url }, { maxAnswerBytes: 1_000_000 }), async (transport) => {
      for (let round = 0; round < 3; round += 1) {
        await expect(transport.send(get('/'))).rejects.toMatchObject({
          reason: 'BadAnswer',
          message: 'the answer to GET is longer than 1000000 bytes',
        });
      }
    });
  });

  test('nobody listening is an error that names the server and where its address came from', async () => {
    await closing(undiciTransport({ server: 'http://127.0.0.1:1', origin: 'my.yaml' }), async (transport) => {
      await expect(transport.send(get('/'))).rejects.toThrow(/no answer from http:\/\/127\.0\.0\.1:1 \(my\.yaml\)/);
    });
  });

  test.each(['nonsense', 'ftp://x'])('a server called %s is refused when the transport is made', (server) => {
    expect(() => undiciTransport({ server })).toThrow(`server "${server}"`);
  });
});

describe('open', () => {
  test('rows 2 and 19: a quiet stream has no time limit; the limit is on the first byte alone', async () => {
    let body: ServerResponse | undefined;
    await using server = await serve((_request, response) => {
      body = response;
      response.writeHead(200);
      response.write('one');
    });
    const clock = new VirtualClock();
    await closing(undiciTransport({ server: server.url }, { clock }), async (transport) => {
      const { calls, handler, until } = recorder();
      transport.open(get('/'), handler);
      await until('data');
      await clock.advance(3_600_000);
      body!.end('two');
      await until('end');
      expect(calls).toEqual(['head 200', 'data one', 'data two', 'end']);
    });
  });

  test('a server that accepts and says nothing is an error after headersTimeoutMs', async () => {
    let arrived = () => {};
    const arrival = new Promise<void>((resolve) => (arrived = resolve));
    await using server = await serve(() => arrived());
    const clock = new VirtualClock();
    await closing(undiciTransport({ server: server.url }, { clock }), async (transport) => {
      const { calls, handler } = recorder();
      transport.open(get('/'), handler);
      await arrival;
      await clock.advance(30_000);
      expect(calls).toEqual([`error ${server.url} did not answer GET within 30 s`]);
    });
  });

  test('after abort no handler is called, and neither timer nor socket stays', async () => {
    let closed = () => {};
    const closure = new Promise<void>((resolve) => (closed = resolve));
    await using server = await serve((request, response) => {
      response.writeHead(200);
      if (request.url !== '/') {
        response.end();
        return;
      }
      request.socket.once('close', closed);
      response.write('one');
    });
    const clock = new VirtualClock();
    await closing(undiciTransport({ server: server.url }, { clock }), async (transport) => {
      const { calls, handler, until } = recorder();
      const stream = transport.open(get('/'), handler);
      await until('data');
      stream.abort();
      await closure;
      expect(calls).toEqual(['head 200', 'data one']);
      expect(clock.pending).toBe(0);
      const silent = recorder();
      transport.open(get('/'), silent.handler).abort();
      await transport.send(get('/other'));
      expect(silent.calls).toEqual([]);
    });
  });

  test('a request does not wait behind streams', async () => {
    await using server = await serve((request, response) => {
      response.writeHead(200);
      if (request.url === '/watch') response.write('one');
      else response.end('{}');
    });
    await closing(undiciTransport({ server: server.url }, { maxConnections: 1 }), async (transport) => {
      const streams = Array.from({ length: 5 }, () => recorder());
      for (const { handler } of streams) transport.open(get('/watch'), handler);
      await Promise.all(streams.map(({ until }) => until('data')));
      expect((await transport.send(get('/'))).status).toBe(200);
    });
  });

  test('close ends what is under way, with an error', async () => {
    await using server = await serve((_request, response) => {
      response.writeHead(200);
      response.write('one');
    });
    const transport = undiciTransport({ server: server.url });
    const { calls, handler, until } = recorder();
    transport.open(get('/'), handler);
    await until('data');
    const failure = transport.send(get('/')).catch((error: unknown) => error);
    await new Promise((resolve) => setImmediate(resolve));
    await transport.close();
    expect(await failure).toMatchObject({ message: 'the transport has been closed' });
    expect(calls.at(-1)).toBe('error the transport has been closed');
    await expect(transport.send(get('/'))).rejects.toThrow('the transport has been closed');
  });

  test('a 401 is asked about once, with fresh credentials', async () => {
    const seen: (string | undefined)[] = [];
    await using server = await serve((request, response) => {
      seen.push(request.headers.authorization);
      response.statusCode = request.headers.authorization === 'two' ? 200 : 401;
      response.end('body');
    });
    let current: Credential = { authorization: 'one' };
    const credentials = {
      current: () => Promise.resolve(current),
      refused: () => {
        current = { authorization: 'two' };
        return Promise.resolve(true);
      },
    };
    await closing(undiciTransport({ server: server.url, credentials }), async (transport) => {
      const { calls, handler, until } = recorder();
      transport.open(get('/'), handler);
      await until('end');
      expect(calls).toEqual(['head 200', 'data body', 'end']);
      expect(seen).toEqual(['one', 'two']);
    });
  });
});

test('a new client certificate gets new connections', async () => {
  const ca = await createCertificateAuthority('ca');
  const issued = await Promise.all(['one', 'two'].map((commonName) => ca.issue({ commonName })));
  await using server = await serve(
    (request, response) => {
      const socket = request.socket as typeof request.socket & { getPeerCertificate(): { subject: { CN: string } } };
      response.end(socket.getPeerCertificate().subject.CN);
    },
    {
      ...(await ca.issue({ commonName: 'server', ipAddresses: ['127.0.0.1'] })),
      requestCert: true,
      ca: ca.certificate,
    },
  );
  let current = 0;
  const credentials = {
    current: () => {
      const { certificate, key } = issued[current]!;
      return Promise.resolve({ clientCertificate: { cert: certificate, key } });
    },
    refused: () => Promise.resolve(false),
  };
  await closing(
    undiciTransport({ server: server.url, tls: { ca: ca.certificate }, credentials }),
    async (transport) => {
      const whoAmI = async () => (await transport.send(get('/'))).body.toString();
      expect([await whoAmI(), await whoAmI()]).toEqual(['one', 'one']);
      current = 1;
      expect([await whoAmI(), await whoAmI()]).toEqual(['two', 'two']);
    },
  );
});

test('an instrument hears of requests, streams and failures', async () => {
  await using server = await serve((_request, response) => void response.end('four'));
  const heard: unknown[] = [];
  const clock = new VirtualClock();
  const watched = instrumentTransport(
    undiciTransport({ server: server.url }),
    {
      begin: (info) => {
        heard.push(info);
        return {
          answered: (status) => heard.push(status),
          ended: ({ responseBytes, error }) => heard.push(error ? 'failed' : responseBytes),
        };
      },
    },
    clock,
  );
  await watched.send({ method: 'POST', path: '/a', body: 'böse' });
  const { handler, until } = recorder();
  watched.open(get('/b'), handler);
  await until('end');
  await watched.close();
  await expect(watched.send(get('/c'))).rejects.toThrow('closed');
  expect(heard).toEqual([
    { method: 'POST', path: '/a', stream: false, requestBytes: 5 },
    200,
    4,
    { method: 'GET', path: '/b', stream: true, requestBytes: 0 },
    200,
    4,
    { method: 'GET', path: '/c', stream: false, requestBytes: 0 },
    'failed',
  ]);
});
