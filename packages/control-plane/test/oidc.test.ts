import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type KubeObject, Secret, seconds, systemClock } from '@slipway/kube';
import type { Controller } from '@slipway/runtime';
import { skipped, testCluster, type TestCluster } from '@slipway/testing';
import { expect, test } from 'vitest';

import { startTokenIssuer, type TokenIssuer } from '../../apiserver/src/auth/token-issuer.fixture.ts';
import { ManagedControlPlane } from '../src/api/managed-control-plane.ts';
import { apiServerComponent } from '../src/api-server/component.ts';
import type { ApiServerProvider } from '../src/api-server/provider.ts';
import { eraseAll } from '../src/api-server/providers/cluster-process.ts';
import { embeddedProvider } from '../src/api-server/providers/embedded.ts';
import { hostedProvider } from '../src/api-server/providers/hosted/provider.ts';
import { authenticationComponent } from '../src/authentication/component.ts';
import { authorizationComponent } from '../src/authorization/component.ts';
import { componentController } from '../src/component/define-component.ts';
import { managedControlPlaneController } from '../src/managed-control-plane/controller.ts';
import { controlPlaneOperator } from '../src/operator.ts';
import { tokenKubeconfig } from '../src/target/kubeconfig.ts';
import { type ConnectTarget, Targets } from '../src/target/target.ts';
import { settings } from './hosted-kit.ts';
import { key, mcp, team } from './landscape.ts';
import { hostOfProcesses, images, leftOut as noProcesses } from './process-host.ts';
import { expectRights, makeThings, people } from './rights.ts';

const leftOut = skipped(
  process.env['SLIPWAY_CLUSTER'] !== 'reference' && process.env['SLIPWAY_SWEEP'] !== 'full',
  'people with tokens of an issuer: API servers as processes take seconds to start (npm run test:reference or SLIPWAY_SWEEP=full)',
);

const main = join(import.meta.dirname, '..', '..', 'cli', 'src', 'main.ts');
const kinds = controlPlaneOperator.kinds;
const user = (name: string) => ({ kind: 'User', name: `corp:${name}@example.com` });

/** Ann may change things, Bob may look; both are known by what their issuer says. */
const specFor = ({ url, certificateAuthority }: TokenIssuer) => ({
  authentication: {
    enableSystemIdentityProvider: false,
    identityProviders: [
      { name: 'corp', issuerURL: url, clientID: 'shop', usernameClaim: 'email', caBundle: certificateAuthority },
    ],
  },
  authorization: {
    roleBindings: [
      { role: 'admin', subjects: [user('ann')] },
      { role: 'view', subjects: [user('bob')] },
    ],
  },
  components: { apiServer: { type: 'GardenerDedicated' } },
});

function operator(provider: ApiServerProvider, connect: ConnectTarget): Controller[] {
  const active = ['APIServer', 'Authentication', 'Authorization'] as const;
  return [
    managedControlPlaneController({ active }),
    componentController(apiServerComponent({ provider, connect })),
    componentController(authenticationComponent({ connect, config: {}, installDefinition: true })),
    componentController(authorizationComponent({ connect })),
  ];
}

/** People log in with tokens of the issuer, and nobody else does. */
async function expectPeople(cluster: TestCluster, issuer: TokenIssuer, targets: Targets): Promise<void> {
  await cluster.client.create(mcp(specFor(issuer)));
  await cluster.eventually(
    'it is ready',
    async () => (await cluster.client.get(ManagedControlPlane, key))?.status?.status === 'Ready',
  );
  const secret = await cluster.client.get(Secret, { ...key, name: `${key.name}.apiserver-admin` });
  const admin = await targets.connect(Buffer.from(secret!.data!['kubeconfig']!, 'base64').toString('utf8'));
  await makeThings(admin.client);
  const clientWith = async (token: string) =>
    (await targets.connect(tokenKubeconfig({ ...admin, token, user: 'user' }))).client;
  const claims = (name: string) => ({ sub: name, email: `${name}@example.com`, aud: 'shop' });
  const clients = await Promise.all(people.map((name) => clientWith(issuer.token(claims(name)))));
  await expectRights(cluster, clients);

  await using stranger = await startTokenIssuer('ES256');
  const bad = [
    issuer.token({ ...claims('ann'), exp: 1_000 }),
    issuer.token({ ...claims('ann'), aud: 'somebody-else' }),
    stranger.token({ ...claims('ann'), iss: issuer.url }),
  ];
  for (const token of bad) {
    const request = (await clientWith(token)).request({ method: 'GET', path: '/api/v1/namespaces/default/configmaps' });
    await expect(request).rejects.toMatchObject({ code: 401 });
  }

  await cluster.client.delete(ManagedControlPlane, key);
  await cluster.eventually('it is gone', async () => !(await cluster.client.get(ManagedControlPlane, key)));
}

test.skipIf(leftOut)(
  'people with tokens of their issuer have exactly their rights on an embedded control plane',
  { timeout: 180_000 },
  async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'oidc-'));
    await using issuer = await startTokenIssuer();
    await using targets = new Targets();
    await using cluster = await testCluster({ kinds, objects: [team], time: 'machine' });
    const { connect } = targets;
    try {
      const provider = embeddedProvider({ dataDir, command: [process.execPath, main], connect });
      await cluster.run(operator(provider, connect));
      await expectPeople(cluster, issuer, targets);
    } finally {
      await eraseAll(dataDir, systemClock);
    }
  },
);

test.skipIf(noProcesses)(
  'people with tokens of their issuer have exactly their rights on a hosted control plane',
  { timeout: 240_000 },
  async () => {
    await using cluster = await hostOfProcesses(kinds);
    await cluster.client.create(team as KubeObject);
    await using issuer = await startTokenIssuer('RS256', cluster.hostAddress);
    await using targets = new Targets();
    const { connect } = targets;
    const service = { type: 'LoadBalancer', annotations: {} } as const;
    const provider = hostedProvider({ settings: { ...settings, images, service }, connect, lookMs: seconds(1) });
    try {
      await cluster.run(operator(provider, connect));
      await expectPeople(cluster, issuer, targets);
    } catch (error) {
      throw new Error(`${String(error)}\n${(await cluster.logs?.()) ?? ''}`, { cause: error });
    }
  },
);
