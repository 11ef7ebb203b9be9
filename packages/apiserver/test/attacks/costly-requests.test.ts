import { afterAll, beforeAll, expect, it } from 'vitest';
import { attackedServer, type AttackedServer } from './attacked-server.ts';
import { costlyRequests, thingsCrd, type CostlyRequest } from './costly-requests.ts';

let server: AttackedServer;
beforeAll(async () => {
  server = await attackedServer({ crds: [thingsCrd] });
});
afterAll(() => server[Symbol.asyncDispose]());

const send = ({ method, path, type, body }: CostlyRequest) =>
  server.call({ method, path, headers: { 'content-type': type }, body });

/** Growth is measured by `npm run bench:growth`; here a request that grows with the square of its size runs into the timeout. */
it.each(costlyRequests)('$name: is answered, and so is the next request', { timeout: 60_000 }, async (costly) => {
  const n = process.env['SLIPWAY_ATTACKS'] ? costly.largest : Math.ceil(costly.largest / 10);
  for (const request of costly.before?.(n) ?? []) {
    expect((await send(request)).status).toBeLessThan(300);
  }
  const { status } = await send(costly.request(n));
  expect([200, 201, 400, 409, 413, 422]).toContain(status);
  expect((await server.call({ path: '/readyz' })).status).toBe(200);
});
