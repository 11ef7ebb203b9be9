import { expectTypeOf, test } from 'vitest';

import {
  Conditions,
  defineKind,
  mutable,
  newObject,
  ready,
  Type,
  Deployment,
  type Cache,
  type Client,
  type DeepReadonly,
  type KubeObject,
  type ObjectOf,
} from '../src/index.ts';

const Website = defineKind({
  group: 'example.com',
  version: 'v1',
  kind: 'Website',
  scope: 'Namespaced',
  spec: Type.Object({ image: Type.String(), replicas: Type.Integer({ minimum: 0, default: 1 }) }),
  status: Type.Object({ url: Type.Optional(Type.String()), conditions: Conditions }),
});
type Website = ObjectOf<typeof Website>;

function deploymentFor(site: DeepReadonly<Website>): Deployment {
  const { name, namespace } = site.metadata;
  return newObject(Deployment, {
    metadata: { name, namespace },
    spec: {
      replicas: site.spec.replicas,
      selector: { matchLabels: { app: 'x' } },
      template: { spec: { containers: [{ name: 'web', image: site.spec.image }] } },
    },
  });
}

/** Never run: what matters is what compiles. */
async function reconcile(cache: Cache, client: Client, unstructured: KubeObject): Promise<void> {
  const site = (await cache.get(Website, { namespace: 'a', name: 'b' }))!;
  await client.apply(deploymentFor(site), { owner: site });
  const written = await client.setStatus(site, { conditions: [ready(true, 'Deployed', 'running')] });
  expectTypeOf(written.spec.image).toEqualTypeOf<string>();
  // @ts-expect-error the wrong type
  await client.setStatus(site, { url: 3 });
  // @ts-expect-error no such field
  await client.setStatus(site, { ulr: 'x' });
  // @ts-expect-error a cached object may not be changed
  site.spec.image = 'other';
  const copy = mutable(site);
  copy.spec.image = 'other';
  expectTypeOf(copy).toExtend<Website>();
  expectTypeOf(await client.update(copy)).toExtend<Website>();
  const held = await client.addFinalizer(site, 'example.com/x');
  expectTypeOf(held.spec.replicas).toEqualTypeOf<number>();
  await client.setStatus(unstructured, { anything: ['goes'] });
  for await (const deployment of client.list(Deployment))
    expectTypeOf(deployment.spec?.replicas).toEqualTypeOf<number | undefined>();
}

test('types lead from the schema through cache and client', () => {
  expectTypeOf(reconcile).toBeFunction();
});
