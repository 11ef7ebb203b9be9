import { adminUser } from '../auth/auth.ts';
import { ApiError } from '../api-error.ts';
import { startCluster, type Cluster, type ClusterOptions } from '../cluster.ts';
import { localClient, type LocalClient, type ObjectAddress } from '../local-client.ts';
import type { ApiObject, OwnerReference } from '../object.ts';
import { systemRandom } from '../random.ts';
import type { ApiRequest } from '../server.ts';
import { VirtualClock } from '../virtual-clock.ts';
import { startControllers, type ControllersOptions, type RunningControllers } from './start-controllers.ts';

/** A cluster on virtual time with its controllers, and short ways to say what tests say often. */
export interface ControlPlane extends AsyncDisposable {
  readonly cluster: Cluster;
  readonly client: LocalClient;
  readonly clock: VirtualClock;
  readonly controllers: RunningControllers;
  /** What the controllers complained about. */
  readonly complaints: string[];
  /** `undefined` when it is not there. */
  find(address: ObjectAddress): Promise<ApiObject | undefined>;
  createNamespace(name: string): Promise<ApiObject>;
  /** Everything stored about one resource from now on, as `TYPE name`. */
  record(plural: string, group?: string, version?: string): string[];
}

export async function startControlPlane(
  options: Partial<ControllersOptions> = {},
  clusterOptions: Partial<ClusterOptions> = {},
): Promise<ControlPlane> {
  const clock = new VirtualClock();
  const cluster = await startCluster({ clock, controllers: 'none', ...clusterOptions });
  const client = localClient(cluster.server, { user: adminUser });
  const complaints: string[] = [];
  for (const name of ['default', 'kube-system']) {
    await client
      .create(
        { group: '', version: 'v1', plural: 'namespaces' },
        { apiVersion: 'v1', kind: 'Namespace', metadata: { name } },
      )
      .catch(ignoreExisting);
  }
  const controllers = startControllers({
    client: clusterOptions.faults ? faultyClient(cluster) : client,
    clock,
    random: systemRandom,
    log: (message) => complaints.push(message),
    ...options,
  });
  if (!clusterOptions.faults) {
    await controllers.synced();
  }
  await clock.settle();
  const plane: ControlPlane = {
    cluster,
    client,
    clock,
    controllers,
    complaints,
    async find(address) {
      try {
        return await client.get(address);
      } catch (error) {
        if (error instanceof ApiError && error.status.code === 404) {
          return undefined;
        }
        throw error;
      }
    },
    createNamespace: (name) =>
      client.create(
        { group: '', version: 'v1', plural: 'namespaces' },
        { apiVersion: 'v1', kind: 'Namespace', metadata: { name } },
      ),
    record(plural, group = '', version = 'v1') {
      const lines: string[] = [];
      void client
        .list({ group, version, plural })
        .then(({ resourceVersion }) =>
          client.watch(
            { group, version, plural },
            { resourceVersion },
            { event: (type, object) => lines.push(`${type} ${object.metadata.name}`), closed: () => undefined },
          ),
        );
      return lines;
    },
    async [Symbol.asyncDispose]() {
      controllers.stop();
      await cluster.stop();
    },
  };
  return plane;
}

/** Unlike the client of a cluster's own controllers, this one is not spared by faults. */
function faultyClient({ server }: Cluster): LocalClient {
  const exposed = Object.assign(Object.create(server) as Cluster['server'], {
    handle: (request: ApiRequest) => server.handle({ ...request, internal: false }),
    registry: server.registry,
  });
  return localClient(exposed, { user: adminUser });
}

function ignoreExisting(error: unknown): void {
  if (!(error instanceof ApiError && error.status.reason === 'AlreadyExists')) {
    throw error;
  }
}

export const configMaps = { group: '', version: 'v1', plural: 'configmaps' };

export function configMap(name: string, namespace: string, metadata: Partial<ApiObject['metadata']> = {}): ApiObject {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace, ...metadata } };
}

export function ownedBy(owner: ApiObject, extra: Partial<OwnerReference> = {}): OwnerReference {
  return {
    apiVersion: owner.apiVersion!,
    kind: owner.kind!,
    name: owner.metadata.name!,
    uid: owner.metadata.uid!,
    ...extra,
  };
}
