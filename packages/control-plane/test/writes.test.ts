import { onReference, skipped } from '@slipway/testing';
import { expect, test } from 'vitest';

import { Authentication } from '../src/api/components.ts';
import { everything, key, Landscape, mcp } from './landscape.ts';
import { RequestLog } from './request-log.ts';

const embeddedOnly = skipped(onReference, 'on the real API server: how often is written, which needs virtual time');

/** With an API server, identity providers and roles, as in `npm run bench:control-plane`. */
const small = { ...everything, components: { apiServer: { type: 'Gardener' } } };

/** How often each object was written, by the end of its path. */
function tally(writes: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const write of writes) {
    const [, method, object] = /^(\S+) .*\/(?:namespaces\/team|v1|v1alpha1)\/(.*)$/.exec(write)!;
    const name = `${method} ${object}`;
    counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
}

test.skipIf(embeddedOnly)(
  'from its creation until it is ready, a control plane takes exactly these writes',
  async () => {
    await using landscape = await Landscape.open();
    const [here, there] = [new RequestLog(), new RequestLog()];
    landscape.throughTarget = (transport) => there.through(transport);
    await landscape.run(here.through(landscape.cluster.transport()));
    await landscape.cluster.client.create(mcp(small));
    await landscape.ready();
    await landscape.cluster.advance(10_000);
    expect(tally(here.writes)).toEqual({
      // Its finalizer; then: made, the API server, identity providers and roles are there.
      'PATCH managedcontrolplanes/demo': 1,
      'PATCH managedcontrolplanes/demo/status': 4,
      'POST apiservers': 1,
      'POST authentications': 1,
      'POST authorizations': 1,
      // Its own finalizer, and one for each of the two that depend on it.
      'PATCH apiservers/demo': 3,
      'PATCH authentications/demo': 1,
      'PATCH authorizations/demo': 1,
      'PATCH apiservers/demo/status': 1,
      'PATCH authentications/demo/status': 1,
      'PATCH authorizations/demo/status': 1,
      'PATCH secrets/demo.apiserver-admin': 1,
      'PATCH secrets/demo.kubeconfig': 1,
    });
    expect(Object.values(tally(there.writes))).toEqual(Array.from({ length: 17 }, () => 1));

    here.clear();
    there.clear();
    await landscape.cluster.client.create(mcp(small, 'second'));
    await landscape.ready('second');
    await landscape.cluster.advance(10_000);
    expect(here.writes.filter((write) => !write.includes('second') && !write.startsWith('POST'))).toEqual([]);
    expect(here.writes).toHaveLength(18);
    // All but the token is there already.
    expect(tally(there.writes)).toEqual({ 'POST namespaces/openmcp-system/serviceaccounts/admin/token': 1 });
  },
);

test.skipIf(embeddedOnly)('one whose API server says nothing says so itself, after two seconds', async () => {
  await using landscape = await Landscape.open();
  const { cluster } = landscape;
  landscape.flags = { 'components-elsewhere': 'APIServer' };
  await landscape.run();
  await cluster.client.create(mcp(small));
  const said = async () =>
    (await cluster.client.get(Authentication, key))?.status?.conditions?.map((each) => each.reason);
  await cluster.advance(900);
  expect(await said()).toBeUndefined();
  await cluster.advance(2_000);
  expect(await said()).toContain('WaitingForDependencies');
});
