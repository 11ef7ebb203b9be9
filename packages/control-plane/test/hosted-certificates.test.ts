import { type Clock, days, Deployment, type ObjectKey, Secret, StatefulSet, systemClock } from '@slipway/kube';
import { inspectCertificate, isIssuedBy, splitBundle } from '@slipway/runtime';
import { type TestCluster } from '@slipway/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';

import type { APIServer } from '../src/api/components.ts';
import type { ProvidedApiServer } from '../src/api-server/provider.ts';
import { hostedProvider } from '../src/api-server/providers/hosted/provider.ts';
import type { ComponentContext } from '../src/component/define-component.ts';
import { Internal, InternalTexts } from '../src/component/internal.ts';
import { platformNamespace } from '../src/name-hashes.ts';
import { apiServer, hostCluster, settings, StandIn } from './hosted-kit.ts';

let standIn: StandIn;
let cluster: TestCluster;
beforeAll(async () => {
  [standIn, cluster] = await Promise.all([StandIn.start(), hostCluster()]);
});
afterAll(async () => {
  await cluster[Symbol.asyncDispose]();
  await standIn[Symbol.asyncDispose]();
});

type Ready = ProvidedApiServer & { ready: true };

/** A control plane whose provider is asked at times of the test's choice: months need no clock that ticks. */
class ControlPlane {
  readonly #component: APIServer;
  readonly #provider;
  nowMs = systemClock.now();

  private constructor(component: APIServer, changes: object) {
    this.#component = component;
    this.#provider = hostedProvider({
      settings: { ...settings, ...changes },
      connect: standIn.connect,
      lookMs: days(999),
    });
  }

  static async create(name: string, changes: object = {}): Promise<ControlPlane> {
    const made = await cluster.client.create(apiServer({}, { namespace: 'default', name }));
    const controlPlane = new ControlPlane(made as unknown as APIServer, changes);
    await controlPlane.ensured();
    return controlPlane;
  }

  /** Brings it in order at the time it is. */
  async ensured(): Promise<Ready> {
    const internals = new InternalTexts();
    const clock: Clock = { ...cluster.clock, now: () => this.nowMs };
    const context = {
      component: this.#component,
      client: cluster.client,
      clock,
      internal: (text: string) => new Internal(text, internals),
      events: { normal: () => undefined, warning: () => undefined },
    } as unknown as ComponentContext<'APIServer'>;
    return await cluster.eventually('it is ready and at rest', async () => {
      const provided = await this.#provider.ensure(context);
      return provided.ready && provided.requeueAfterMs! > 60_000 ? provided : undefined;
    });
  }

  key(name: string): ObjectKey {
    return { namespace: platformNamespace('default', this.#component.metadata.name!), name };
  }

  async texts(name: string): Promise<Record<string, string>> {
    const { data = {} } = (await cluster.client.get(Secret, this.key(name))) ?? {};
    return Object.fromEntries(
      Object.entries(data).map(([field, value]) => [field, Buffer.from(value, 'base64').toString('utf8')]),
    );
  }
}

const certificates = ['apiserver-certificate', 'etcd-certificate', 'controller-manager-kubeconfig', 'admin-kubeconfig'];

test('certificates are renewed before they end, and only who reads them at its start is started again', async () => {
  const { client } = cluster;
  const plane = await ControlPlane.create('months');
  const pems = async () => await Promise.all(certificates.map(async (name) => (await plane.texts(name))['tls.crt']!));
  const revisions = async () => [
    (await client.get(StatefulSet, plane.key('etcd')))?.metadata.generation,
    (await client.get(Deployment, plane.key('apiserver')))?.metadata.generation,
    (await client.get(Deployment, plane.key('controller-manager')))?.metadata.generation,
  ];
  const [before, [etcd, server, controllers]] = [await pems(), await revisions()];

  plane.nowMs += days(240);
  const quiet = await plane.ensured();
  expect(await pems()).toEqual(before);
  // It looks again when the first of them is due.
  plane.nowMs += quiet.requeueAfterMs!;
  expect(quiet.requeueAfterMs).toBeLessThan(days(4));
  await plane.ensured();
  const after = await pems();
  after.forEach((pem, index) => {
    expect(pem).not.toBe(before[index]);
    expect(inspectCertificate(pem).notAfterMs - plane.nowMs).toBeGreaterThan(days(364));
  });
  expect(await revisions()).toEqual([etcd, server, controllers! + 1]);
});

test('a new authority is known long before its first certificate is served, and the old one is trusted long after', async () => {
  const plane = await ControlPlane.create('years', { certificateLifeMs: days(30), authorityLifeMs: days(200) });
  const at = async (ms: number) => {
    plane.nowMs += ms;
    const { bootstrapKubeconfig } = await plane.ensured();
    const [ca, serving] = await Promise.all(['ca', 'apiserver-certificate'].map((name) => plane.texts(name)));
    const bundle = splitBundle(ca!['ca.crt']!);
    // Whoever is told anything is told all that are trusted.
    expect(serving!['ca.crt']).toBe(ca!['ca.crt']);
    expect(bootstrapKubeconfig).toContain(Buffer.from(ca!['ca.crt']!).toString('base64'));
    return { trusted: bundle.length, newest: bundle[0]!, served: isIssuedBy(serving!['tls.crt']!, bundle[0]!) };
  };
  const first = await at(0);
  expect(first).toMatchObject({ trusted: 1, served: true });
  await at(days(155));
  expect(await at(days(6))).toMatchObject({ trusted: 2, served: false });
  expect(await at(days(11))).toMatchObject({ trusted: 2, served: true });
  const last = await at(days(11));
  expect(last).toMatchObject({ trusted: 1, served: true });
  expect(last.newest).not.toBe(first.newest);
});

test('what somebody deleted or damaged is made again, with the authority and the token key it had', async () => {
  const plane = await ControlPlane.create('damaged');
  const [before, account] = [await plane.texts('apiserver-certificate'), await plane.texts('service-account')];
  await cluster.client.delete(Secret, plane.key('apiserver-certificate'));
  const body = { data: { 'tls.crt': Buffer.from('no').toString('base64') } };
  await cluster.client.patch(Secret, plane.key('etcd-certificate'), { type: 'merge', body });
  await plane.ensured();
  const after = await plane.texts('apiserver-certificate');
  expect(after['tls.crt']).not.toBe(before['tls.crt']);
  expect(after['ca.crt']).toBe(before['ca.crt']);
  expect((await plane.texts('etcd-certificate'))['tls.crt']).toContain('BEGIN CERTIFICATE');
  expect(await plane.texts('service-account')).toEqual(account);
});
