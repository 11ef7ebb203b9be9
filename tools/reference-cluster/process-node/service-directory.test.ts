import { describe, expect, it } from 'vitest';
import { type EndpointSliceObject, ServiceDirectory, type ServiceObject } from './service-directory.ts';

const service = (name: string, clusterIP: string): ServiceObject => ({
  metadata: { name, namespace: 'n', uid: name },
  spec: { clusterIP, ports: [{ name: 'https', port: 443 }] },
});
const slice = (of: string, endpoints: EndpointSliceObject['endpoints']): EndpointSliceObject => ({
  metadata: { name: `${of}-1`, namespace: 'n', uid: `${of}-1`, labels: { 'kubernetes.io/service-name': of } },
  endpoints,
  ports: [{ name: 'https', port: 8443 }],
});

describe('what pods know of Services', () => {
  it('names a Service by its address, and a headless one by those of its pods, each with its host name', () => {
    const directory = new ServiceDirectory();
    directory.putService(service('web', '198.19.0.7'));
    directory.putService(service('etcd', 'None'));
    directory.putSlice(
      slice('etcd', [
        { addresses: ['198.18.0.2'], hostname: 'etcd-0', conditions: { ready: true } },
        { addresses: ['198.18.0.3'], hostname: 'etcd-1', conditions: { ready: false } },
      ]),
    );
    expect(directory.hosts().split('\n')).toEqual([
      '127.0.0.1 localhost',
      '198.18.0.2 etcd-0.etcd.n etcd-0.etcd.n.svc etcd-0.etcd.n.svc.cluster.local etcd.n etcd.n.svc etcd.n.svc.cluster.local',
      '198.19.0.7 web.n web.n.svc web.n.svc.cluster.local',
      '',
    ]);
    directory.dropService(service('web', ''));
    expect(directory.hosts()).not.toContain('web');
  });

  it('takes those who are ready in turn, at the port that has the name', () => {
    const directory = new ServiceDirectory();
    const web = service('web', '198.19.0.7');
    expect(directory.endpoint(web, 'https', 0)).toBeUndefined();
    directory.putSlice(
      slice('web', [
        { addresses: ['198.18.0.2'] },
        { addresses: ['198.18.0.3'], conditions: { ready: false } },
        { addresses: ['198.18.0.4'], conditions: { ready: true } },
      ]),
    );
    const turns = [0, 1, 2].map((turn) => directory.endpoint(web, 'https', turn));
    expect(turns).toEqual(['198.18.0.2', '198.18.0.4', '198.18.0.2'].map((host) => ({ host, port: 8443 })));
    expect(directory.endpoint(web, 'other', 0)).toBeUndefined();
  });
});
