import type { DefinedKind } from '@slipway/kube';
import { onReference, skipped, type TestCluster, testCluster } from '@slipway/testing';

import { componentKinds } from '../src/component/component-type.ts';
import { version } from './hosted-kit.ts';

const reference = onReference ? await import('@slipway/reference-cluster') : undefined;
const found = await reference?.ensureReferenceBinaries();
const problem = !found
  ? 'it needs the reference cluster (SLIPWAY_CLUSTER=reference)'
  : found.available
    ? reference?.processNodeProblem()
    : found.reason;
export const leftOut: boolean = skipped(problem !== undefined, `hosted control planes as processes: ${problem}`);

/** The real programs. */
export const binaries = found?.available ? found : undefined;

const image = (name: string) => `control-plane.example/${name}:v{version}`;
export const images = {
  apiServer: image('kube-apiserver'),
  controllerManager: image('kube-controller-manager'),
  etcd: 'control-plane.example/etcd:1',
};
/** Another name for the same programs: what is tried is the change from one image to the next, not what a new release changes. */
export const nextVersion = '1.36.4';

/** A cluster whose pods are processes with the real programs in them. */
export async function hostOfProcesses(
  kinds: readonly DefinedKind[] = Object.values(componentKinds),
): Promise<TestCluster> {
  if (!found?.available) throw new Error(problem);
  const program = (name: string, file: string) => ({ files: { [`/usr/local/bin/${name}`]: file } });
  const named = (template: string, each: ReturnType<typeof program>) =>
    [version, nextVersion].map((one) => [template.replace('{version}', one), each] as const);
  return await testCluster({
    kinds,
    controllers: 'workloads',
    processNode: {
      images: Object.fromEntries([
        ...named(images.apiServer, program('kube-apiserver', found.kubeApiserver)),
        ...named(images.controllerManager, program('kube-controller-manager', found.kubeControllerManager!)),
        [images.etcd, program('etcd', found.etcd)],
      ]),
      backOff: { baseMs: 300, maxMs: 2_000, resetAfterMs: 600_000 },
    },
  });
}
