import type { ApiObject } from '../../object.ts';
import { startControlPlane, type ControlPlane } from '../control-plane.fixture.ts';
import type { ControllersOptions } from '../start-controllers.ts';
import type { Deployment, Pod, PodTemplate } from './kinds.ts';

export const deployments = { group: 'apps', version: 'v1', plural: 'deployments', namespace: 'default' };
export const replicaSets = { group: 'apps', version: 'v1', plural: 'replicasets', namespace: 'default' };
export const statefulSets = { group: 'apps', version: 'v1', plural: 'statefulsets', namespace: 'default' };
export const daemonSets = { group: 'apps', version: 'v1', plural: 'daemonsets', namespace: 'default' };
export const jobs = { group: 'batch', version: 'v1', plural: 'jobs', namespace: 'default' };
export const cronJobs = { group: 'batch', version: 'v1', plural: 'cronjobs', namespace: 'default' };
export const pods = { group: '', version: 'v1', plural: 'pods', namespace: 'default' };
export const services = { group: '', version: 'v1', plural: 'services', namespace: 'default' };
export const claims = { group: '', version: 'v1', plural: 'persistentvolumeclaims', namespace: 'default' };
export const nodes = { group: '', version: 'v1', plural: 'nodes' };
export const events = { group: '', version: 'v1', plural: 'events', namespace: 'default' };

export function startWorkloads(options: Partial<ControllersOptions> = {}): Promise<ControlPlane> {
  return startControlPlane({ mode: 'workloads', ...options });
}

export function template(app: string, extra: Partial<PodTemplate['spec']> = {}): PodTemplate {
  return {
    metadata: { labels: { app } },
    spec: { containers: [{ name: 'c', image: 'nginx:1', ports: [{ containerPort: 80 }] }], ...extra },
  };
}

export function deployment(name: string, spec: Partial<Deployment['spec']> = {}): ApiObject {
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, namespace: 'default' },
    spec: { replicas: 2, selector: { matchLabels: { app: name } }, template: template(name), ...spec },
  };
}

export async function podsOf(plane: ControlPlane, app: string): Promise<Pod[]> {
  const { items } = await plane.client.list(pods, { labelSelector: `app=${app}` });
  return items as Pod[];
}

export async function eventTexts(plane: ControlPlane, kind: string): Promise<string[]> {
  const { items } = await plane.client.list(events);
  return items
    .filter((event) => (event['involvedObject'] as { kind: string }).kind === kind)
    .map((event) => `${event['reason'] as string}: ${event['message'] as string}`);
}

/** The status of every stored state of one object, in order. */
export function statusHistory<T>(plane: ControlPlane, storageId: string, name: string): T[] {
  const history: T[] = [];
  plane.cluster.observe((change) => {
    if (change.storageId === storageId && change.object.metadata.name === name) {
      history.push(change.object['status'] as T);
    }
  });
  return history;
}
