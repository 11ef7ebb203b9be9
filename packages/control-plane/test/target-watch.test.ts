import {
  ClusterRole,
  ClusterRoleBinding,
  type Kind,
  type ObjectKey,
  RoleBinding,
  Secret,
  seconds,
  ServiceAccount,
  type Stream,
  type Transport,
} from '@slipway/kube';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { APIServer } from '../src/api/components.ts';
import { ManagedControlPlane } from '../src/api/managed-control-plane.ts';
import { OpenIDConnect } from '../src/target/open-id-connect.ts';
import { targetSecret } from '../src/testing/index.ts';
import { everything, key, Landscape, mcp } from './landscape.ts';
import { Door, LossyWay } from './way.ts';

/** Far below every poll, retry and resync: only a watch is that fast. */
const soon = { withinMs: seconds(5) };
const { authentication, authorization } = everything;
const spec = { authentication, authorization, components: { apiServer: { type: 'Gardener' } } };

/** Watches on the control plane that are open, by what they watch. */
class OpenWatches {
  readonly paths: string[] = [];

  through(inner: Transport): Transport {
    return {
      send: (request, signal) => inner.send(request, signal),
      close: () => inner.close(),
      open: (request, handler): Stream => {
        const path = request.path.split('?')[0]!;
        this.paths.push(path);
        const over = (): void => {
          const index = this.paths.indexOf(path);
          if (index >= 0) this.paths.splice(index, 1);
        };
        const stream = inner.open(request, {
          head: (status, headers) => handler.head(status, headers),
          data: (chunk) => handler.data(chunk),
          end: () => (over(), handler.end()),
          error: (error) => (over(), handler.error(error)),
        });
        return { abort: () => (over(), stream.abort()) };
      },
    };
  }
}

async function live(names: readonly string[] = [key.name]) {
  const landscape = await Landscape.open();
  const watches = new OpenWatches();
  landscape.throughTarget = (transport) => watches.through(transport);
  for (const name of names) await landscape.cluster.client.create(mcp(spec, name));
  await landscape.run();
  for (const name of names) await landscape.ready(name);
  return { landscape, watches };
}

describe('what somebody changes on a control plane is mended in seconds', () => {
  let landscape: Landscape;
  beforeAll(async () => ({ landscape } = await live()));
  afterAll(() => landscape?.[Symbol.asyncDispose]());

  const deleted: readonly (readonly [Kind, ObjectKey])[] = [
    [ClusterRole, { name: 'openmcp:aggregate-to-view' }],
    [ClusterRoleBinding, { name: 'openmcp:admin' }],
    [RoleBinding, { namespace: 'default', name: 'openmcp:view' }],
    [OpenIDConnect, { name: 'corp' }],
  ];
  test.each(deleted)('$kind is made again', async (kind, name) => {
    const { target, cluster } = landscape;
    const before = await target.get(kind, name);
    expect(before).toBeDefined();
    await target.delete(kind, name);
    const again = await cluster.eventually('it is there', () => target.get(kind, name), soon);
    expect(again.metadata.uid).not.toBe(before!.metadata.uid);
  });

  test('rights somebody gave themselves are taken back', async () => {
    const { target, cluster } = landscape;
    const name = { name: 'openmcp:admin' };
    const eve = { kind: 'User', name: 'corp:eve', apiGroup: 'rbac.authorization.k8s.io' };
    const body = { subjects: [eve] };
    await target.patch(ClusterRoleBinding, name, { type: 'merge', body });
    await cluster.eventually(
      'eve has none',
      async () => {
        const { subjects = [] } = (await target.get(ClusterRoleBinding, name))!;
        return subjects.length === 1 && subjects[0]!.name === 'corp:ann';
      },
      soon,
    );
  });

  test('a new namespace of users has its bindings', async () => {
    const { target, cluster } = landscape;
    await target.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } });
    const binding = { namespace: 'shop', name: 'openmcp:admin' };
    await cluster.eventually('they are there', () => target.get(RoleBinding, binding), soon);
  });

  test('access of ours that somebody took away is given again', async () => {
    const { target, cluster } = landscape;
    const account = { namespace: 'openmcp-system', name: 'admin' };
    const secret = { ...key, name: `${key.name}.apiserver-admin` };
    const before = await cluster.client.get(Secret, secret);
    await target.delete(ServiceAccount, account);
    await cluster.eventually('there is an account', () => target.get(ServiceAccount, account), soon);
    await cluster.eventually(
      'there is another token',
      async () => (await cluster.client.get(Secret, secret))?.data?.['kubeconfig'] !== before!.data!['kubeconfig'],
      soon,
    );
    await landscape.ready();
  });
});

test('control planes on one API server share its watches, which end with the last of them', async () => {
  const names = ['one', 'two', 'three', 'four'];
  const { landscape, watches } = await live(names);
  await using _open = landscape;
  const { client } = landscape.cluster;
  const rbac = '/apis/rbac.authorization.k8s.io/v1';
  const all = [
    '/api/v1/namespaces',
    '/api/v1/serviceaccounts',
    '/apis/authentication.gardener.cloud/v1alpha1/openidconnects',
    `${rbac}/clusterrolebindings`,
    // Of our own access, and of the rights of users.
    `${rbac}/clusterrolebindings`,
    `${rbac}/clusterroles`,
    `${rbac}/rolebindings`,
  ];
  await landscape.cluster.eventually('all are open', () => watches.paths.length >= all.length);
  expect(watches.paths.toSorted()).toEqual(all);
  for (const name of names.slice(1)) await client.delete(ManagedControlPlane, { ...key, name });
  for (const name of names.slice(1)) await landscape.gone(name);
  expect(watches.paths.toSorted()).toEqual(all);
  await client.delete(ManagedControlPlane, { ...key, name: 'one' });
  await landscape.gone('one');
  await landscape.cluster.eventually('none is open', () => watches.paths.length === 0);
});

test('an API server that is cut off says so in seconds, and is ready again soon after it can be reached', async () => {
  const { landscape } = await live();
  await using _open = landscape;
  const { cluster } = landscape;
  const health = async (): Promise<string | undefined> => {
    const found = await cluster.client.get(APIServer, key);
    return found?.status?.conditions?.find(({ type }) => type === 'APIServerHealthy')?.status;
  };
  await cluster.eventually('the watches are open', async () => (await health()) === 'True');
  landscape.reachable = false;
  await cluster.eventually('it says so', async () => (await health()) === 'False', soon);
  await cluster.eventually(
    'so does the control plane',
    async () => (await cluster.client.get(ManagedControlPlane, key))?.status?.status === 'Not Ready',
    soon,
  );
  landscape.reachable = true;
  // A watch that failed is tried again within half a minute.
  await cluster.eventually('it is ready', async () => (await health()) === 'True', { withinMs: seconds(40) });
  await landscape.ready();
});

test('an API server that takes packets and answers none says so within half a minute, and is ready again as soon', async () => {
  await using landscape = await Landscape.open();
  const { cluster } = landscape;
  const way = new LossyWay(cluster.clock);
  landscape.throughTarget = (transport) => way.through(transport);
  await cluster.client.create(mcp(spec));
  await landscape.run();
  await landscape.ready();
  const unreachable = async (): Promise<boolean> => {
    const found = await cluster.client.get(APIServer, key);
    return found?.status?.conditions?.some(({ reason }) => reason === 'APIServerUnreachable') ?? false;
  };
  way.isLosing = true;
  await cluster.eventually('it says so', unreachable, { withinMs: seconds(30) });
  way.isLosing = false;
  await cluster.eventually('it is well again', async () => !(await unreachable()), { withinMs: seconds(30) });
  await landscape.ready();
});

describe('credentials an API server does not accept any more are replaced', () => {
  const bootstrap = (targetSecret as unknown as { stringData: { kubeconfig: string } }).stringData.kubeconfig;

  async function behindDoor(names: readonly string[]) {
    const landscape = await Landscape.open();
    const door = new Door();
    landscape.throughTarget = (transport, kubeconfig) =>
      kubeconfig === bootstrap ? transport : door.through(transport, kubeconfig);
    for (const name of names) await landscape.cluster.client.create(mcp(spec, name));
    await landscape.run();
    for (const name of names) await landscape.ready(name);
    const kubeconfigs = async (): Promise<string[]> => {
      const secrets = names.map((name) =>
        landscape.cluster.client.get(Secret, { ...key, name: `${name}.apiserver-admin` }),
      );
      return (await Promise.all(secrets)).map((each) =>
        Buffer.from(each!.data!['kubeconfig']!, 'base64').toString('utf8'),
      );
    };
    return { landscape, door, kubeconfigs };
  }

  test('as soon as a component notices', async () => {
    const { landscape, door, kubeconfigs } = await behindDoor([key.name]);
    await using _open = landscape;
    const { cluster, target } = landscape;
    const [before] = await kubeconfigs();
    door.forgetAll();
    // What has to be made again, by somebody who is refused.
    await target.delete(ClusterRole, { name: 'openmcp:view' });
    await cluster.eventually('it has others', async () => (await kubeconfigs())[0] !== before, soon);
    await cluster.eventually('it is made', () => target.get(ClusterRole, { name: 'openmcp:view' }));
    await landscape.ready();
  });

  test('also when nobody does anything, those of every control plane on it', async () => {
    const names = ['one', 'two', 'three'];
    const { landscape, door, kubeconfigs } = await behindDoor(names);
    await using _open = landscape;
    const before = new Set(await kubeconfigs());
    expect(before).toEqual(door.known);
    door.forgetAll();
    await landscape.cluster.eventually(
      'each has others',
      async () => (await kubeconfigs()).every((text) => !before.has(text)),
      { withinMs: seconds(30) },
    );
    for (const name of names) await landscape.ready(name);
  });
});
