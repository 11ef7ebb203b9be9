import { join } from 'node:path';
import { ConfigMap, Deployment, Namespace, Secret } from '@slipway/kube';
import { expect, test } from 'vitest';

import { servePlatform } from '../src/example/platform-repository.ts';
import { Application } from '../src/platform/applications.ts';
import { names } from '../src/names.ts';
import { readConfigMap, readSecret } from '../src/state/records.ts';
import { nativeSyncController } from '../src/sync/controller.ts';
import { platformWorld, referencePlatform } from './platform-kit.ts';

const status = { namespace: names.operatorNamespace, name: names.installationStatus };
const state = { namespace: names.operatorNamespace, name: names.operatorState };

test(
  'a platform is installed from values and charts, then follows Git: a pushed team has its namespace and its app',
  { timeout: 300_000 },
  async () => {
    await using world = await platformWorld();
    const { cluster, git } = world;
    const { client } = cluster;
    await servePlatform(referencePlatform, join(git.folder, 'server'), 'otomi/platform.git');
    const settings = { ...world.settings, appsRepoUrl: new URL('/otomi/platform.git', git.server.url).href };
    const running = await cluster.run([world.controller({ settings }), nativeSyncController({ settings })]);

    await cluster.eventually('the installation is completed', async () => {
      const now = await readConfigMap(client, status);
      if (now['status'] === 'failed') throw new Error(now['error']);
      return now['status'] === 'completed';
    });
    expect(await readConfigMap(client, { namespace: 'otomi', name: 'deployment-status' })).toMatchObject({
      status: 'deployed',
      version: '1.0.0',
    });
    await cluster.eventually('the first reconcile succeeded', async () => {
      const now = await readConfigMap(client, state);
      if (now['status'] === 'failed') throw new Error(now['errorMessage']);
      return now['status'] === 'succeeded';
    });
    expect(await client.get(Namespace, { name: 'team-red' })).toBeDefined();
    expect(await client.get(Application, { namespace: 'argocd', name: 'console-console' })).toBeDefined();
    expect(await client.get(ConfigMap, { namespace: 'apl-operator', name: 'welcome' })).toBeDefined();
    expect(
      Object.keys(await readSecret(client, { namespace: 'keycloak', name: 'platform-admin-credentials' })),
    ).toEqual(['password', 'username']);
    expect(await client.get(Secret, { namespace: 'apl-operator', name: 'gitea-credentials' })).toBeDefined();

    const pushed = await git.push(
      {
        'env/teams/blue/settings.yaml': 'kind: AplTeamSettingSet\nspec: {}\n',
        'env/teams/blue/workloads/web.yaml': 'kind: AplTeamWorkload\nmetadata: {name: web}\nspec: {image: nginx}\n',
      },
      'a team',
    );
    await cluster.eventually('the team is there', async () => {
      const now = await readConfigMap(client, state);
      return now['commitHash'] === pushed && now['status'] === 'succeeded';
    });
    expect(await client.get(Namespace, { name: 'team-blue' })).toBeDefined();
    await cluster.eventually('the app of the team is there', async () =>
      client.get(Deployment, { namespace: 'team-blue', name: 'web' }),
    );
    await cluster.eventually('its Application is in sync', async () => {
      const { status: said } = (await client.get(Application, { namespace: 'argocd', name: 'team-blue-web' })) ?? {};
      return said?.sync?.status === 'Synced' && said.operationState?.phase === 'Succeeded';
    });
    expect(JSON.stringify(running.logs)).not.toContain('canary');
  },
);
