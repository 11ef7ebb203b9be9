import { type KubeObject, Secret } from '@slipway/kube';
import { type TestCluster } from '@slipway/testing';
import { expect, test } from 'vitest';

import { APIServer, Authentication } from '../src/api/components.ts';
import { OpenIDConnect } from '../src/target/open-id-connect.ts';
import { ContractStage } from '../src/testing/index.ts';
import { realSubjects } from './real-subjects.ts';

const key = { namespace: 'default', name: 'contract' };
const kubeconfigKey = { namespace: 'default', name: 'contract.kubeconfig' };
const subject = realSubjects.find(({ type }) => type === 'Authentication')!;

async function live(spec: object = subject.spec): Promise<ContractStage> {
  const stage = await ContractStage.open({ ...subject, spec: { ...spec } });
  await stage.createDependencies();
  await stage.createOwn();
  return stage;
}

const provider = { name: 'corp', issuerURL: 'https://corp.example.com', clientID: 'c', usernameClaim: 'sub' };
const withSecret = {
  identityProviders: [{ ...provider, clientConfig: { clientSecret: { name: 'login', key: 'secret' } } }],
};
const login: KubeObject = {
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { namespace: 'default', name: 'login' },
  stringData: { secret: 'canary-client-secret' },
} as KubeObject;

const kubeconfigIn = async ({ client }: TestCluster): Promise<string> => {
  const secret = await client.get(Secret, kubeconfigKey);
  return Buffer.from(secret?.data?.['kubeconfig'] ?? '', 'base64').toString();
};

test('the kubeconfig of users lies in a Secret of their namespace, and the status says where', async () => {
  await using stage = await live();
  await stage.settled();
  const { client } = stage.cluster;
  const secret = await client.get(Secret, kubeconfigKey);
  expect(secret?.metadata.finalizers).toEqual(['dependency.openmcp.cloud/authentication']);
  expect(secret?.metadata.ownerReferences).toBeUndefined();
  expect((await client.get(Authentication, key))?.status?.access).toEqual({ ...kubeconfigKey, key: 'kubeconfig' });
  expect(await kubeconfigIn(stage.cluster)).toContain('current-context: mcp-default-contract--corp');
});

test('what others write into the Secret is taken out again', async () => {
  await using stage = await live();
  await stage.settled();
  const { client } = stage.cluster;
  await client.patch(Secret, kubeconfigKey, { type: 'merge', body: { data: { mine: 'eA==' } } });
  await stage.patchOwn({ metadata: { annotations: { 'openmcp.cloud/operation': 'reconcile' } } });
  await stage.until('it is', async () => {
    const secret = await client.get(Secret, kubeconfigKey);
    return Object.keys(secret?.data ?? {}).join() === 'kubeconfig';
  });
});

test('a client secret that is missing is named in the condition, and found when it comes', async () => {
  await using stage = await live(withSecret);
  const condition = await stage.until('the condition says what is missing', async () =>
    (await stage.own())?.status?.conditions?.find(({ message }) => message?.includes('login')),
  );
  expect(condition).toMatchObject({
    type: 'AuthenticationReconciliation',
    status: 'False',
    reason: 'ManagingOpenIDConnectResourcesProblem',
  });
  expect(condition.message).toMatch(/Secret login with the key secret does not exist; create it or correct/);
  await stage.cluster.client.create(login);
  await stage.settled();
  expect(await kubeconfigIn(stage.cluster)).toContain('--oidc-client-secret=canary-client-secret');
  expect(JSON.stringify([(await stage.own())?.status, stage.logs])).not.toContain('canary-client-secret');
});

test('identity providers that left the spec leave the control plane; those of others stay', async () => {
  await using stage = await live();
  await stage.settled();
  const { client } = stage.cluster;
  const foreign = { apiVersion: OpenIDConnect.apiVersion, kind: 'OpenIDConnect', metadata: { name: 'foreign' } };
  await client.create({ ...foreign, spec: { issuerURL: 'https://x', clientID: 'x' } } as KubeObject);
  await stage.patchOwn({ spec: { identityProviders: [{ ...provider, name: 'other' }] } });
  await stage.until('the new one is there', async () => await client.get(OpenIDConnect, { name: 'other' }));
  await stage.until('the old one is gone', async () => !(await client.get(OpenIDConnect, { name: 'corp' })));
  await stage.deleteOwn();
  await stage.until('it is gone', async () => !(await stage.own()));
  expect(await client.get(OpenIDConnect, { name: 'other' })).toBeUndefined();
  expect(await client.get(OpenIDConnect, { name: 'foreign' })).toBeDefined();
  expect(await client.get(Secret, kubeconfigKey)).toBeUndefined();
  expect((await client.get(APIServer, key))?.metadata.finalizers ?? []).toEqual([]);
});
