import { describe, expect, it } from 'vitest';
import { apiServerArguments, controllerManagerArguments, etcdArguments } from './process-arguments.ts';

it('keeps etcd on loopback and off the disk', () => {
  const args = etcdArguments({ dataDir: '/d', clientUrl: 'http://127.0.0.1:1', peerUrl: 'http://127.0.0.1:2' });
  expect(args).toContain('--unsafe-no-fsync');
  expect(args).toContain('--listen-client-urls=http://127.0.0.1:1');
  expect(args).toContain('--initial-cluster=reference=http://127.0.0.1:2');
});

describe('kube-apiserver', () => {
  const settings = {
    port: 3,
    etcdUrl: 'http://127.0.0.1:1',
    dir: '/d',
    serviceAccountAdmission: false,
    endpointRouting: false,
    extra: [],
  };

  it('listens on loopback with RBAC, and advertises an address that is none', () => {
    const args = apiServerArguments(settings);
    expect(args).toContain('--bind-address=127.0.0.1');
    expect(args).toContain('--secure-port=3');
    expect(args).toContain('--authorization-mode=RBAC');
    expect(args).toContain('--advertise-address=192.0.2.10');
  });

  it('leaves pods without ServiceAccounts alone, unless asked', () => {
    const off = '--disable-admission-plugins=ServiceAccount';
    expect(apiServerArguments(settings)).toContain(off);
    expect(apiServerArguments({ ...settings, serviceAccountAdmission: true })).not.toContain(off);
  });

  it('calls webhooks at the endpoints of their Service where pods have addresses', () => {
    const routing = '--enable-aggregator-routing=true';
    expect(apiServerArguments(settings)).not.toContain(routing);
    expect(apiServerArguments({ ...settings, endpointRouting: true })).toContain(routing);
  });

  it('lets the flags of the caller come last, where they win', () => {
    const args = apiServerArguments({ ...settings, extra: ['--authorization-mode=AlwaysAllow'] });
    expect(args.at(-1)).toBe('--authorization-mode=AlwaysAllow');
  });
});

describe('kube-controller-manager', () => {
  it('runs every controller when there are no made-up nodes', () => {
    const args = controllerManagerArguments({ dir: '/d', simulatedNodes: false, extra: [] });
    expect(args.filter((arg) => arg.startsWith('--controllers'))).toEqual([]);
  });

  it('does not watch over the leases of made-up nodes', () => {
    const args = controllerManagerArguments({ dir: '/d', simulatedNodes: true, extra: ['--v=4'] });
    expect(args).toContain('--controllers=*,-node-lifecycle-controller,-taint-eviction-controller');
    expect(args.at(-1)).toBe('--v=4');
  });
});
