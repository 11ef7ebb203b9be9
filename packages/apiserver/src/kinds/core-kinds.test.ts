import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { asTable, mergePatch, startFixture, type Fixture, type Send } from './server-fixture.ts';

let fixture: Fixture;
const send: Send = (...request) => fixture.send(...request);
beforeAll(async () => {
  fixture = await startFixture();
});
afterAll(() => fixture.stop());

const core = '/api/v1/namespaces/default';

async function refused(path: string, body: unknown): Promise<unknown> {
  const answer = await send('POST', path, body);
  expect(answer.status).toBe(422);
  return answer.body['message'];
}

describe('Services', () => {
  const create = (name: string, spec: object) => send('POST', `${core}/services`, { metadata: { name }, spec });

  it('get an address, families and policies', async () => {
    const { body } = await create('s1', { selector: { app: 'web' }, ports: [{ port: 80 }] });
    const spec = body['spec'] as { clusterIP: string };
    expect(spec.clusterIP).toMatch(/^10\.96\.\d+\.\d+$/);
    expect(spec).toEqual({
      ports: [{ protocol: 'TCP', port: 80, targetPort: 80 }],
      selector: { app: 'web' },
      clusterIP: spec.clusterIP,
      clusterIPs: [spec.clusterIP],
      type: 'ClusterIP',
      sessionAffinity: 'None',
      ipFamilies: ['IPv4'],
      ipFamilyPolicy: 'SingleStack',
      internalTrafficPolicy: 'Cluster',
    });
    const kept = await send('PUT', `${core}/services/s1`, {
      metadata: { name: 's1' },
      spec: { selector: { app: 'web' }, ports: [{ port: 80, targetPort: 8080 }] },
    });
    expect(kept.body['spec']).toMatchObject({ clusterIP: spec.clusterIP, ports: [{ targetPort: 8080 }] });
    const moved = await send(
      'PATCH',
      `${core}/services/s1`,
      { spec: { clusterIP: '10.0.0.77', clusterIPs: ['10.0.0.77'] } },
      mergePatch,
    );
    expect(moved.body['message']).toBe(
      'Service "s1" is invalid: spec.clusterIPs[0]: Invalid value: ["10.0.0.77"]: may not change once set',
    );
  });

  it('are told of what cannot be allocated, and then of nothing else', async () => {
    const spec = { ports: [], clusterIP: '10.9.9.999' };
    expect(await refused(`${core}/services`, { metadata: { name: 's9' }, spec })).toBe(
      'Service "s9" is invalid: spec.clusterIPs[0]: Invalid value: "10.9.9.999": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)',
    );
  });

  it.each([
    ['an address of an ExternalName', { type: 'ExternalName', externalName: 'a.b', clusterIP: 'x' }, 'spec.clusterIPs'],
    [
      'an address before a node port',
      { clusterIP: '1.2.3.4', type: 'NodePort', ports: [{ port: 0, nodePort: 5 }] },
      'spec.clusterIPs',
    ],
    ['a node port before a port', { type: 'NodePort', ports: [{ port: 0, nodePort: 5 }] }, 'spec.ports[0].nodePort'],
  ])('are told of %s', async (_what, spec, field) => {
    const { body } = await create('s10', spec);
    expect((body['details'] as { causes: object[] }).causes).toMatchObject([{ field }]);
  });

  it('have one node port for one port in two protocols, also for one asked for', async () => {
    const nodePorts = async (name: string, asked: object) => {
      const ports = [
        { name: 'udp', port: 53, protocol: 'UDP' },
        { name: 'tcp', port: 53, ...asked },
      ];
      const { body } = await create(name, { type: 'NodePort', ports });
      return (body['spec'] as { ports: { nodePort: number }[] }).ports.map(({ nodePort }) => nodePort);
    };
    const [udp, tcp] = await nodePorts('dns', {});
    expect(udp).toBe(tcp);
    expect(await nodePorts('dns-2', { nodePort: 30_053 })).toEqual([30_053, 30_053]);
  });

  it('get node ports when they are reachable from outside, and keep them', async () => {
    const { body } = await create('s4', { type: 'LoadBalancer', ports: [{ port: 80 }] });
    const port = (body['spec'] as { ports: { nodePort: number }[] }).ports[0]!.nodePort;
    expect(port).toBeGreaterThanOrEqual(30_000);
    expect(port).toBeLessThanOrEqual(32_767);
    expect(body['spec']).toMatchObject({ externalTrafficPolicy: 'Cluster', allocateLoadBalancerNodePorts: true });
    const again = await send('PUT', `${core}/services/s4`, {
      metadata: { name: 's4' },
      spec: { type: 'LoadBalancer', ports: [{ port: 80 }] },
    });
    expect(again.body['spec']).toMatchObject({ ports: [{ nodePort: port }] });
    const table = await send('GET', `${core}/services/s4`, undefined, asTable);
    const { cells } = (table.body['rows'] as { cells: unknown[] }[])[0]!;
    expect([cells[1], cells[3], cells[4]]).toEqual(['LoadBalancer', '<pending>', `80:${port}/TCP`]);
  });

  it('leave headless and external ones without an address', async () => {
    const headless = await create('s2', { clusterIP: 'None', ports: [{ name: 'a', port: 80, targetPort: 'http' }] });
    expect(headless.body['spec']).toMatchObject({ clusterIP: 'None', clusterIPs: ['None'] });
    const external = await create('s5', { type: 'ExternalName', externalName: 'x.example.com' });
    expect(external.body['spec']).toEqual({
      type: 'ExternalName',
      sessionAffinity: 'None',
      externalName: 'x.example.com',
    });
  });

  it('are refused with the words of the real server', async () => {
    const path = `${core}/services`;
    expect(await refused(path, { metadata: { name: 's6' }, spec: {} })).toBe(
      'Service "s6" is invalid: spec.ports: Required value',
    );
    expect(await refused(path, { metadata: { name: 's7' }, spec: { ports: [{ port: 80 }, { port: 81 }] } })).toBe(
      'Service "s7" is invalid: [spec.ports[0].name: Required value, spec.ports[1].name: Required value]',
    );
    await create('taken', { clusterIP: '10.96.9.9', ports: [{ port: 80 }] });
    expect(
      await refused(path, { metadata: { name: 's8' }, spec: { clusterIP: '10.96.9.9', ports: [{ port: 80 }] } }),
    ).toBe(
      'Service "s8" is invalid: spec.clusterIPs: Invalid value: ["10.96.9.9"]: failed to allocate IP 10.96.9.9: provided IP is already allocated',
    );
  });
});

describe('Secrets', () => {
  it('take texts, which win over data and are never shown', async () => {
    const { body } = await send('POST', `${core}/secrets`, {
      metadata: { name: 'sec' },
      data: { a: 'MQ==' },
      stringData: { b: 'two', a: 'over' },
    });
    expect(body['data']).toEqual({ a: 'b3Zlcg==', b: 'dHdv' });
    expect(body['type']).toBe('Opaque');
    expect(body).not.toHaveProperty('stringData');
    const changed = await send('PATCH', `${core}/secrets/sec`, { type: 'kubernetes.io/tls' }, mergePatch);
    expect(changed.body['message']).toBe(
      'Secret "sec" is invalid: [type: Invalid value: "kubernetes.io/tls": field is immutable, data[tls.crt]: Required value, data[tls.key]: Required value]',
    );
  });

  it('never repeat their contents in an error', async () => {
    const message = await refused(`${core}/secrets`, {
      metadata: { name: 'dc' },
      type: 'kubernetes.io/dockerconfigjson',
      stringData: { '.dockerconfigjson': 'nope' },
    });
    expect(message).toBe(
      `Secret "dc" is invalid: data[.dockerconfigjson]: Invalid value: "<secret contents redacted>": invalid character 'o' in literal null (expecting 'u')`,
    );
  });

  it('need the annotation of their service account', async () => {
    expect(
      await refused(`${core}/secrets`, { metadata: { name: 'sat' }, type: 'kubernetes.io/service-account-token' }),
    ).toBe('Secret "sat" is invalid: metadata.annotations[kubernetes.io/service-account.name]: Required value');
  });
});

it('keeps an immutable ConfigMap as it is', async () => {
  await send('POST', `${core}/configmaps`, { metadata: { name: 'fixed' }, data: { a: '1' }, immutable: true });
  const { body } = await send('PATCH', `${core}/configmaps/fixed`, { data: { a: '2' } }, mergePatch);
  expect(body['message']).toBe(
    'ConfigMap "fixed" is invalid: data: Forbidden: field is immutable when `immutable` is set',
  );
});

it('copies limits to requests and sorts pods by quality of service', async () => {
  const { body } = await send('POST', `${core}/pods`, {
    metadata: { name: 'p1' },
    spec: {
      containers: [
        {
          name: 'c',
          image: 'nginx:1.2',
          livenessProbe: { httpGet: { port: 80 } },
          resources: { limits: { cpu: '0.5', memory: '1024Mi' } },
        },
      ],
    },
  });
  expect(body['spec']).toMatchObject({
    enableServiceLinks: true,
    containers: [
      {
        resources: { limits: { cpu: '500m', memory: '1Gi' }, requests: { cpu: '500m', memory: '1Gi' } },
        livenessProbe: {
          httpGet: { path: '/', port: 80, scheme: 'HTTP' },
          timeoutSeconds: 1,
          periodSeconds: 10,
          successThreshold: 1,
          failureThreshold: 3,
        },
        imagePullPolicy: 'IfNotPresent',
      },
    ],
  });
  expect(body['status']).toEqual({ phase: 'Pending', qosClass: 'Guaranteed' });
  const image = await send('PATCH', `${core}/pods/p1`, { spec: { restartPolicy: 'Never' } }, mergePatch);
  expect(image.status).toBe(422);
  expect(image.body['message']).toContain('spec: Forbidden: pod updates may not change fields other than');
});

it('serves one event under two groups', async () => {
  await send('POST', `${core}/events`, {
    metadata: { name: 'e1' },
    involvedObject: { kind: 'Pod', namespace: 'default', name: 'p1', uid: 'u1' },
    reason: 'R',
    message: 'm',
    type: 'Normal',
    source: { component: 'x' },
    firstTimestamp: '2026-01-01T00:00:00Z',
    lastTimestamp: '2026-01-01T00:00:00Z',
    count: 1,
  });
  const { body } = await send('GET', '/apis/events.k8s.io/v1/namespaces/default/events/e1');
  const { metadata: _metadata, ...rest } = body;
  expect(rest).toEqual({
    kind: 'Event',
    apiVersion: 'events.k8s.io/v1',
    eventTime: null,
    reason: 'R',
    regarding: { kind: 'Pod', namespace: 'default', name: 'p1', uid: 'u1' },
    note: 'm',
    type: 'Normal',
    deprecatedSource: { component: 'x' },
    deprecatedFirstTimestamp: '2026-01-01T00:00:00Z',
    deprecatedLastTimestamp: '2026-01-01T00:00:00Z',
    deprecatedCount: 1,
  });
  const found = await send('GET', `${core}/events?fieldSelector=involvedObject.name%3Dp1,type%3DNormal`);
  expect((found.body['items'] as unknown[]).length).toBe(1);
});

it('shows an autoscaler of version 2 as one of version 1', async () => {
  await send('POST', '/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers', {
    metadata: { name: 'h' },
    spec: { scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' }, maxReplicas: 3 },
  });
  const { body } = await send('GET', '/apis/autoscaling/v1/namespaces/default/horizontalpodautoscalers/h');
  expect(body['spec']).toEqual({
    scaleTargetRef: { kind: 'Deployment', name: 'web', apiVersion: 'apps/v1' },
    minReplicas: 1,
    maxReplicas: 3,
    targetCPUUtilizationPercentage: 80,
  });
  expect(body['status']).toEqual({ currentReplicas: 0, desiredReplicas: 0 });
});
