import {
  ConfigMap,
  Deployment,
  type KubeObject,
  Namespace,
  PersistentVolumeClaim,
  Pod,
  Secret,
  Service,
  StatefulSet,
} from '@slipway/kube';
import { inspectCertificate, isIssuedBy } from '@slipway/runtime';
import { onReference, snapshotCluster, type TestCluster, type TestManager, WriteCount } from '@slipway/testing';
import { parse } from 'yaml';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { APIServer } from '../src/api/components.ts';
import { OpenIDConnect } from '../src/target/open-id-connect.ts';
import { names } from '../src/names.ts';
import {
  apiServer,
  health,
  hostCluster,
  hostedController,
  key,
  lookNow,
  place,
  settings,
  StandIn,
  version,
  whenReady,
} from './hosted-kit.ts';

let standIn: StandIn;
beforeAll(async () => {
  standIn = await StandIn.start();
});
afterAll(async () => {
  await standIn[Symbol.asyncDispose]();
});

const service = { ...settings.service, externalHost: '{name}.{namespace}.example.com' };
const inPlace = (name: string) => ({ namespace: place, name });

async function texts({ client }: TestCluster, name: string): Promise<Record<string, string>> {
  const { data = {} } = (await client.get(Secret, inPlace(name))) ?? {};
  return Object.fromEntries(
    Object.entries(data).map(([field, value]) => [field, Buffer.from(value, 'base64').toString('utf8')]),
  );
}

async function started(
  changes: Parameters<typeof hostedController>[1] = {},
  spec: object = {},
): Promise<TestCluster & { operator: TestManager }> {
  const cluster = await hostCluster();
  const operator = await cluster.run([hostedController(standIn.connect, changes)]);
  await cluster.client.create(apiServer(spec));
  return Object.assign(cluster, { operator });
}

describe('a hosted control plane', () => {
  let cluster: Awaited<ReturnType<typeof started>>;
  beforeAll(async () => {
    // The version of this one alone is another.
    cluster = await started(
      { service, version: '1.36.2' },
      { internal: { gardener: { k8sVersionOverwrite: version } } },
    );
    await whenReady(cluster);
  });
  afterAll(async () => {
    await cluster[Symbol.asyncDispose]();
  });

  test('is etcd with a volume, an API server and a controller manager, each with the credentials it needs and no other', async () => {
    const { client } = cluster;
    const ready = await whenReady(cluster);
    expect(ready.status).toMatchObject({
      endpoint: 'https://demo.default.example.com:6443',
      serviceAccountIssuer: `https://apiserver.${place}.svc:6443`,
      adminAccess: { secretRef: { name: 'demo.apiserver-admin', key: 'kubeconfig' } },
    });

    const etcd = await client.get(StatefulSet, inPlace('etcd'));
    const server = await client.get(Deployment, inPlace('apiserver'));
    const controllers = await client.get(Deployment, inPlace('controller-manager'));
    const secretsOf = (workload: Deployment | StatefulSet | undefined) =>
      workload?.spec?.template.spec?.volumes?.flatMap(({ secret }) => (secret ? [secret['secretName']] : []));
    expect(secretsOf(etcd)).toEqual(['etcd-certificate']);
    expect(secretsOf(server)).toEqual([
      'apiserver-certificate',
      'apiserver-etcd-client',
      'front-proxy-client',
      'service-account',
    ]);
    expect(secretsOf(controllers)).toEqual(['controller-manager-kubeconfig', 'ca', 'service-account']);
    expect(etcd?.spec?.volumeClaimTemplates?.[0]?.spec?.resources).toEqual({ requests: { storage: '8Gi' } });
    expect(server?.spec?.template.spec?.containers[0]?.image).toBe('registry.k8s.io/kube-apiserver:v1.36.3');
    for (const workload of [etcd, server, controllers]) {
      expect(workload?.spec?.template.spec).toMatchObject({
        automountServiceAccountToken: false,
        securityContext: { runAsNonRoot: true },
        containers: [{ securityContext: { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true } }],
      });
    }
  });

  test('proves its names: inside the host cluster, inside itself, and outside', async () => {
    const serving = await texts(cluster, 'apiserver-certificate');
    const { dnsNames, ipAddresses } = inspectCertificate(serving['tls.crt']!);
    const service = await cluster.client.get(Service, inPlace('apiserver'));
    expect(dnsNames).toEqual(
      expect.arrayContaining([
        'demo.default.example.com',
        `apiserver.${place}.svc`,
        'kubernetes.default.svc',
        'localhost',
      ]),
    );
    expect(ipAddresses).toEqual(expect.arrayContaining([service?.spec?.clusterIP, '10.96.0.1', '127.0.0.1']));
    const [etcdCa, ca, frontProxyCa] = await Promise.all(
      ['etcd-ca', 'ca', 'front-proxy-ca'].map((name) => texts(cluster, name)),
    );
    const issued = async (name: string, by: Record<string, string>) =>
      isIssuedBy((await texts(cluster, name))['tls.crt']!, by['tls.crt']!);
    expect(await issued('apiserver-certificate', ca!)).toBe(true);
    expect(await issued('apiserver-etcd-client', etcdCa!)).toBe(true);
    expect(await issued('front-proxy-client', frontProxyCa!)).toBe(true);
    expect(inspectCertificate((await texts(cluster, 'admin-kubeconfig'))['tls.crt']!).subject).toContain(
      'O=system:masters',
    );
  });

  test('shows no private key anywhere but in Secrets', async () => {
    const everything = Object.entries(await snapshotCluster(cluster.client)).filter(
      ([id]) => !id.startsWith('secrets/'),
    );
    const said = JSON.stringify([everything, cluster.operator.logs]);
    const keys: string[] = [];
    for await (const { data = {} } of cluster.client.list(Secret, { namespace: place })) {
      for (const [field, value] of Object.entries(data)) {
        if (!field.endsWith('.key') && field !== 'kubeconfig') continue;
        const text = Buffer.from(value, 'base64').toString('utf8');
        keys.push(value, ...text.split('\n').filter((line) => line.length > 60));
      }
    }
    expect(keys.length).toBeGreaterThan(40);
    for (const secret of keys) expect(said).not.toContain(secret);
  });

  test('trusts whom the OpenIDConnects on it name, and leaves out what the API server would refuse', async () => {
    const file = async () => {
      const { data } = (await cluster.client.get(ConfigMap, inPlace('authentication')))!;
      return parse(data!['authentication.yaml']!) as { jwt: { issuer: { url: string } }[] };
    };
    expect((await file()).jwt).toEqual([]);
    const provider = (name: string, spec: object): KubeObject => ({
      apiVersion: OpenIDConnect.apiVersion,
      kind: OpenIDConnect.kind,
      metadata: { name },
      spec: {
        issuerURL: 'https://login.example.com',
        clientID: 'c',
        usernameClaim: 'email',
        usernamePrefix: 'corp:',
        ...spec,
      },
    });
    const made = [
      provider('corp', { groupsClaim: 'groups', groupsPrefix: 'corp:', requiredClaims: { tenant: 't' } }),
      provider('twin', {}),
      provider('plain', { issuerURL: 'http://login.example.com' }),
    ];
    for (const each of made) await standIn.client.create(each);
    await lookNow(cluster);
    const written = await cluster.eventually('the file names it', async () => {
      const { jwt } = await file();
      return jwt.length > 0 ? jwt : undefined;
    });
    expect(written).toEqual([
      {
        issuer: { url: 'https://login.example.com', audiences: ['c'] },
        claimMappings: {
          username: { claim: 'email', prefix: 'corp:' },
          groups: { claim: 'groups', prefix: 'corp:' },
        },
        claimValidationRules: [{ claim: 'tenant', requiredValue: 't' }],
      },
    ]);
    for (const { metadata } of made) await standIn.client.delete(OpenIDConnect, { name: metadata.name! });
    await lookNow(cluster);
    await cluster.eventually('nobody is trusted', async () => (await file()).jwt.length === 0);
  });
  test('is written once: a second operator finds everything as it should be', async () => {
    await cluster.operator.stop();
    const writes = new WriteCount();
    const transport = writes.counting(cluster.transport());
    await cluster.run([hostedController(standIn.connect, { service, version: '1.36.2' })], { cluster: { transport } });
    for (let look = 0; look < 3; look += 1) {
      await lookNow(cluster);
      await cluster.eventually('it was looked at', async () => {
        const found = await cluster.client.get(APIServer, key);
        return found?.metadata.annotations?.[names.operationAnnotation] === undefined;
      });
    }
    await cluster.advance(onReference ? 3_000 : 300_000);
    // Three annotations had to go; everything else was right.
    expect(writes.total()).toBe(3);
  });
});

// Each on a cluster of its own.
describe('a hosted control plane that cannot be made yet', () => {
  test('says what it waits for: a load balancer without an address', async () => {
    await using cluster = await started({ service: { type: 'LoadBalancer', annotations: { team: 'a' } } });
    const waiting = await cluster.eventually('it waits', async () => {
      const found = await health(cluster);
      return found?.message?.includes('load balancer') ? found : undefined;
    });
    expect(waiting).toMatchObject({ status: 'False', reason: 'WaitingForAPIServer' });
    expect(await cluster.client.get(StatefulSet, inPlace('etcd'))).toBeUndefined();
    const status = { loadBalancer: { ingress: [{ ip: '192.0.2.7' }] } };
    await cluster.client.patch(
      Service,
      inPlace('apiserver'),
      { type: 'merge', body: { status } },
      { subresource: 'status' },
    );
    const ready = await whenReady(cluster);
    expect(ready.status?.endpoint).toBe('https://192.0.2.7:6443');
    expect(inspectCertificate((await texts(cluster, 'apiserver-certificate'))['tls.crt']!).ipAddresses).toContain(
      '192.0.2.7',
    );
  });

  test('does not touch a namespace of somebody else, neither to make nor to remove', async () => {
    await using cluster = await hostCluster();
    const foreign = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: place, labels: { team: 'other' } } };
    await cluster.client.create(foreign);
    await cluster.run([hostedController(standIn.connect)]);
    await cluster.client.create(apiServer());
    await cluster.eventually('it is refused', async () => {
      const found = await cluster.client.get(APIServer, key);
      return found?.status?.conditions?.some(
        ({ reason, message }) => reason === 'ConfigurationProblem' && message?.includes('belongs to somebody else'),
      );
    });
    await cluster.client.delete(APIServer, key);
    await cluster.eventually('it is gone', async () => (await cluster.client.get(APIServer, key)) === undefined);
    expect((await cluster.client.get(Namespace, { name: place }))?.metadata.labels).toMatchObject({ team: 'other' });
  });
});

describe('an upgrade of a hosted control plane', () => {
  const revision = async ({ client }: TestCluster, name: string) => {
    const deployment = await client.get(Deployment, inPlace(name));
    return deployment?.spec?.template.spec?.containers[0]?.image?.split(':v')[1];
  };

  test('goes to the API server first, then to the controller manager, and leaves etcd alone', async () => {
    await using cluster = await started();
    await whenReady(cluster);
    const etcdBefore = await cluster.client.get(StatefulSet, inPlace('etcd'));
    await cluster.operator.stop();
    const seen = new Set<string>();
    const look = async () =>
      seen.add(`${await revision(cluster, 'apiserver')} ${await revision(cluster, 'controller-manager')}`);
    await look();
    await cluster.run([hostedController(standIn.connect, { version: '1.37.0' })]);
    await cluster.eventually('both are new', async () => {
      await look();
      return seen.has('1.37.0 1.37.0');
    });
    expect([...seen]).toEqual(['1.36.3 1.36.3', '1.37.0 1.36.3', '1.37.0 1.37.0']);
    const etcdAfter = await cluster.client.get(StatefulSet, inPlace('etcd'));
    expect(etcdAfter?.metadata.generation).toBe(etcdBefore?.metadata.generation);
    const upToDate = await cluster.eventually('it says so', async () => {
      const found = await cluster.client.get(APIServer, key);
      return found?.status?.conditions?.find(
        ({ type, reason }) => type === 'APIServerVersion' && reason === 'UpToDate',
      );
    });
    expect(upToDate.message).toBe('1.37.0');
  });

  test('that cannot be is refused, and the control plane goes on', async () => {
    await using cluster = await started();
    await whenReady(cluster);
    await cluster.operator.stop();
    await cluster.run([hostedController(standIn.connect, { version: '1.38.0' })]);
    const refused = await cluster.eventually('it is refused', async () => {
      const found = await cluster.client.get(APIServer, key);
      return found?.status?.conditions?.find(({ reason }) => reason === 'UpgradeRefused');
    });
    expect(refused).toMatchObject({ type: 'APIServerVersion', status: 'True' });
    expect(refused.message).toMatch(/configure 1\.37 first/);
    expect(await revision(cluster, 'apiserver')).toBe('1.36.3');
    expect(await health(cluster)).toMatchObject({ status: 'True' });
  });
});

describe('the removal of a hosted control plane', () => {
  test('takes the controller manager, the API server, etcd and its data in this order, and leaves the host as it was', async () => {
    await using cluster = await hostCluster();
    const { client } = cluster;
    const before = await snapshotCluster(client);
    await cluster.run([hostedController(standIn.connect)]);
    await client.create(apiServer());
    await whenReady(cluster);
    expect(Object.keys(await snapshotCluster(client)).length).toBeGreaterThan(Object.keys(before).length + 15);

    const seen: string[] = [];
    const parts = [
      () => client.get(Deployment, inPlace('controller-manager')),
      () => client.get(Deployment, inPlace('apiserver')),
      () => client.get(StatefulSet, inPlace('etcd')),
      async () => (await client.listPage(PersistentVolumeClaim, { namespace: place })).items[0],
      () => client.get(Namespace, { name: place }),
    ];
    const look = async () => {
      let state = '';
      // What goes last is read first: what goes between two reads must not look like a wrong order.
      for (const read of parts.toReversed()) state = `${(await read()) === undefined ? '-' : 'x'}${state}`;
      seen.push(state);
    };
    await client.delete(APIServer, key);
    await cluster.eventually('it is gone', async () => {
      await look();
      return (await client.get(APIServer, key)) === undefined;
    });
    // Nothing goes before what it writes to.
    for (const state of seen) expect(state).toMatch(/^-*x*$/);
    expect(seen.at(-1)).toBe('-----');
    await cluster.eventually(
      'pods have gone',
      async () => (await client.listPage(Pod, { namespace: place })).items.length === 0,
    );
    const after = await cluster.eventually('nothing is left', async () => {
      const now = await snapshotCluster(client, { without: ['persistentvolumes'] });
      return Object.keys(now).every((id) => id in before) ? now : undefined;
    });
    const expected = Object.keys(before).filter((id) => !id.startsWith('persistentvolumes/'));
    // The real server lists the states of its components in any order.
    expect(Object.keys(after).toSorted()).toEqual(expected.toSorted());
  });
});
