import { Pool } from 'undici';
import { expect, test, vi } from 'vitest';

import { seededRandom } from '../../src/random.ts';
import { createCache } from '../../src/cache/create-cache.ts';
import { systemClock } from '../../src/clock.ts';
import { undiciTransport } from '../../src/transport/undici-transport.ts';
import { FaultyServer } from '../faulty-server/faulty-server.ts';
import { TcpServer } from '../faulty-server/tcp-server.ts';
import { Widget } from './world.ts';

// In a file of its own: the HTTP client must not have started its timers before they are faked.
test('a watch survives ten silent minutes, which end a stream with the usual limit on bodies (watch failure 19)', async () => {
  const server = new FaultyServer(systemClock);
  server.serve(Widget);
  server.bookmarks = false;
  await using tcp = await TcpServer.listen(server);
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const transport = undiciTransport({ server: tcp.url });
  // An hour, so that the end the server announces is not what is measured.
  const timings = { watchSeconds: 3_600 };
  await using cache = createCache({
    transport,
    clock: systemClock,
    random: seededRandom(1),
    streamLists: false,
    timings,
  });
  const informer = cache.informer(Widget);
  cache.start();
  await cache.synced();
  await vi.waitFor(() => expect(server.openWatches).toBe(1));

  const plain = new Pool(tcp.url, { bodyTimeout: 300_000 });
  const { body } = await plain.request({ path: '/apis/example.com/v1/widgets?watch=true', method: 'GET' });
  const ended = body.text().then(
    () => 'ended',
    (error: { code: string }) => error.code,
  );
  const requests = server.requests.length;
  await vi.advanceTimersByTimeAsync(600_000);
  vi.useRealTimers();
  expect(await ended).toBe('UND_ERR_BODY_TIMEOUT');
  expect(server.requests).toHaveLength(requests);

  const told = new Promise<string>((resolve) => {
    informer.onEvent(({ key }) => resolve(key.name));
  });
  server.put(Widget, { namespace: 'a', name: 'late', spec: { size: 2 } });
  expect(await told).toBe('late');
  await plain.destroy();
  await transport.close();
});
