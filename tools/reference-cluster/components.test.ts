import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { cacheKey, components, goBuildArguments, goDirectory, pinnedVersion } from './components.ts';

const component = (name: string) => components.find((candidate) => candidate.name === name)!;

it('reads the pin from go.mod, in a block or on a line of its own', () => {
  const helm = component('helm');
  expect(pinnedVersion(helm, 'module x\n\nrequire helm.sh/helm/v4 v4.9.9 // indirect\n')).toBe('v4.9.9');
  expect(pinnedVersion(helm, 'require (\n\tother.sh/helm/v4 v1.0.0\n\thelm.sh/helm/v4 v4.8.8\n)\n')).toBe('v4.8.8');
  expect(() => pinnedVersion(helm, 'module x\n')).toThrow('go/helm/go.mod does not require helm.sh/helm/v4');
});

it('pins Kubernetes 1.36 or newer and an etcd that knows progress requests', () => {
  const minor = (name: string) => Number(pinnedVersion(component(name)).split('.')[1]);
  expect(minor('kube-apiserver')).toBeGreaterThanOrEqual(36);
  expect(minor('etcd')).toBeGreaterThanOrEqual(6);
});

it('takes every staging module from the release of Kubernetes itself', () => {
  const goMod = readFileSync(join(goDirectory, 'kubernetes', 'go.mod'), 'utf8');
  const staging = pinnedVersion(component('kube-apiserver')).replace(/^v1/, 'v0');
  const replaced = [...goMod.matchAll(/^\t(\S+) => (\S+) (\S+)$/gm)];
  expect(replaced.length).toBeGreaterThan(20);
  for (const [, from, to, version] of replaced) {
    expect({ from, to, version }).toEqual({ from, to: from, version: staging });
  }
});

it('tells the binary its version, so that /version is right', () => {
  const args = goBuildArguments(component('kube-apiserver'), '/out/kube-apiserver');
  const version = pinnedVersion(component('kube-apiserver'));
  const ldflags = args.find((arg) => arg.startsWith('-ldflags='));
  expect(ldflags).toContain(`-X k8s.io/component-base/version.gitVersion=${version}`);
  expect(ldflags).toContain(`-X k8s.io/component-base/version.gitMinor=${version.split('.')[1]}`);
  expect(args.slice(-3)).toEqual(['-o', '/out/kube-apiserver', 'k8s.io/kubernetes/cmd/kube-apiserver']);
});

it('names a cache folder by release and content, one per platform', () => {
  expect(cacheKey('linux-x64')).toMatch(/^v1\.\d+\.\d+-[0-9a-f]{12}$/);
  expect(cacheKey('linux-x64')).toBe(cacheKey('linux-x64'));
  expect(cacheKey('linux-x64')).not.toBe(cacheKey('linux-arm64'));
});
