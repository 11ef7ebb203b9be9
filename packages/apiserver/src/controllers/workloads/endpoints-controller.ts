import { ApiError } from '../../api-error.ts';
import { kubeTime } from '../../clock.ts';
import { matchesLabels } from '../../label-selector.ts';
import type { ApiObject } from '../../object.ts';
import type { ControllerContext, RunningController } from '../controller.ts';
import { objectKey, splitKey } from '../informer.ts';
import { WorkQueue } from '../work-queue.ts';
import { eventRecorder } from './event-recorder.ts';
import type { Pod, Service } from './kinds.ts';
import { controllerOf, controllerReference } from './ownership.ts';
import { isPodFinished, isPodReady } from './pods.ts';
import { stableJson } from './template-hash.ts';

const SLICES = { group: 'discovery.k8s.io', version: 'v1', plural: 'endpointslices' };
const ENDPOINTS = { group: '', version: 'v1', plural: 'endpoints' };
const SERVICE_NAME = 'kubernetes.io/service-name';
const MANAGED_BY = 'endpointslice.kubernetes.io/managed-by';
const MANAGER = 'endpointslice-controller.k8s.io';
const HEADLESS = 'service.kubernetes.io/headless';
const TRIGGER_TIME = 'endpoints.kubernetes.io/last-change-trigger-time';
const MAX_PER_SLICE = 100;

interface Port {
  name: string;
  port: number;
  protocol: string;
  appProtocol?: string;
}

interface Endpoint {
  addresses: string[];
  conditions: { ready: boolean; serving: boolean; terminating: boolean };
  hostname?: string;
  nodeName?: string;
  targetRef: { kind: string; namespace?: string; name?: string; uid?: string };
}

/** Pods behind a Service, as EndpointSlices and as the older Endpoints. */
export function startEndpointsController(context: ControllerContext): RunningController {
  const { client, clock, informers, log } = context;
  const services = informers.of('', 'v1', 'services');
  const pods = informers.of('', 'v1', 'pods');
  const slices = informers.of('discovery.k8s.io', 'v1', 'endpointslices');
  const endpoints = informers.of('', 'v1', 'endpoints');
  const events = eventRecorder(context, 'endpoint-slice-controller');
  const queue = new WorkQueue({ name: 'endpoints controller', clock, log, process });

  async function process(key: string): Promise<void> {
    await informers.synced();
    const { namespace, name } = splitKey(key);
    const service = services.get(namespace, name) as Service | undefined;
    if (!service) {
      await removeEndpoints(namespace!, name);
      return;
    }
    if (
      service.metadata.deletionTimestamp !== undefined ||
      !service.spec.selector ||
      service.spec.type === 'ExternalName'
    ) {
      return;
    }
    const members = [...(pods.list(namespace) as Iterable<Pod>)]
      .filter(
        (pod) =>
          matchesLabels({ matchLabels: service.spec.selector! }, pod.metadata.labels) &&
          Boolean(pod.status?.podIP) &&
          !isPodFinished(pod),
      )
      .sort((a, b) => a.metadata.name!.localeCompare(b.metadata.name!));
    try {
      await syncSlices(service, members);
      await syncEndpoints(service, members);
    } catch (error) {
      // A namespace on its way out takes no new slices; the deletion of the Service ends this.
      if (error instanceof ApiError && error.status.code === 403) {
        return;
      }
      events.event(
        service,
        'Warning',
        'FailedToUpdateEndpointSlices',
        `Error updating Endpoint Slices: ${String(error)}`,
      );
      throw error;
    }
  }

  function portsFor(service: Service, pod: Pod | undefined): Port[] {
    return (service.spec.ports ?? []).flatMap((port) => {
      const target = port.targetPort ?? port.port;
      let number = typeof target === 'number' ? target : undefined;
      if (typeof target === 'string') {
        const named = (pod?.spec.containers ?? [])
          .flatMap((container) => container.ports ?? [])
          .find((each) => each.name === target && (each.protocol ?? 'TCP') === (port.protocol ?? 'TCP'));
        number = named?.containerPort;
      }
      if (number === undefined) {
        return [];
      }
      const { appProtocol } = port;
      return [
        {
          name: port.name ?? '',
          port: number,
          protocol: port.protocol ?? 'TCP',
          ...(appProtocol ? { appProtocol } : {}),
        },
      ];
    });
  }

  function endpointOf(service: Service, pod: Pod): Endpoint {
    const isTerminating = pod.metadata.deletionTimestamp !== undefined;
    const serving = isPodReady(pod);
    const { namespace, name, uid } = pod.metadata;
    return {
      addresses: [pod.status!.podIP!],
      conditions: {
        ready: service.spec.publishNotReadyAddresses === true || (serving && !isTerminating),
        serving,
        terminating: isTerminating,
      },
      ...(pod.spec.hostname && pod.spec.subdomain === service.metadata.name ? { hostname: pod.spec.hostname } : {}),
      ...(pod.spec.nodeName ? { nodeName: pod.spec.nodeName } : {}),
      targetRef: { kind: 'Pod', namespace, name, uid },
    };
  }

  async function syncSlices(service: Service, members: readonly Pod[]): Promise<void> {
    const { namespace, name } = service.metadata;
    const groups = new Map<string, { ports: Port[]; endpoints: Endpoint[] }[]>();
    const place = (ports: Port[], endpoint?: Endpoint) => {
      const key = stableJson(ports);
      const list = groups.get(key) ?? [];
      groups.set(key, list);
      const open = list.find((each) => each.endpoints.length < MAX_PER_SLICE);
      const home = open ?? { ports, endpoints: [] };
      if (!open) {
        list.push(home);
      }
      if (endpoint) {
        home.endpoints.push(endpoint);
      }
    };
    for (const pod of members) {
      place(portsFor(service, pod), endpointOf(service, pod));
    }
    if (members.length === 0) {
      place([]);
    }
    const wanted = [...groups.values()].flat();
    const present = [...slices.list(namespace)].filter(
      (slice) => slice.metadata.labels?.[SERVICE_NAME] === name && slice.metadata.labels?.[MANAGED_BY] === MANAGER,
    );
    const labels: Record<string, string> = {
      ...service.metadata.labels,
      [MANAGED_BY]: MANAGER,
      [SERVICE_NAME]: name!,
      ...(service.spec.clusterIP === 'None' ? { [HEADLESS]: '' } : {}),
    };
    for (const [index, { ports, endpoints: list }] of wanted.entries()) {
      const slice = present[index];
      const content = { addressType: 'IPv4', endpoints: list, ports };
      if (!slice) {
        await client.create(
          { ...SLICES, namespace },
          {
            apiVersion: 'discovery.k8s.io/v1',
            kind: 'EndpointSlice',
            metadata: {
              generateName: `${name}-`,
              namespace,
              labels,
              annotations: { [TRIGGER_TIME]: kubeTime(clock.now()) },
              ownerReferences: [controllerReference(service)],
            },
            ...content,
          },
        );
        continue;
      }
      const isSame =
        stableJson([slice['endpoints'] ?? [], slice['ports'] ?? []]) === stableJson([list, ports]) &&
        stableJson(slice.metadata.labels) === stableJson(labels);
      if (!isSame) {
        await client.update(
          { ...SLICES, namespace, name: slice.metadata.name! },
          {
            ...slice,
            metadata: { ...slice.metadata, labels, annotations: triggered(slice, list) },
            ...content,
          },
        );
      }
    }
    for (const slice of present.slice(wanted.length)) {
      await client.delete({ ...SLICES, namespace, name: slice.metadata.name! });
    }
  }

  /** The time of the change is told when a pod came or its readiness turned; when pods only leave, the real controller says nothing. */
  function triggered(object: ApiObject, next: readonly Endpoint[]): Record<string, string> {
    const { [TRIGGER_TIME]: _, ...others } = object.metadata.annotations ?? {};
    const before = new Map(
      ((object['endpoints'] as Endpoint[] | undefined) ?? []).map((each) => [each.targetRef.uid, each]),
    );
    const isNews = next.some(
      ({ targetRef, conditions }) => before.get(targetRef.uid)?.conditions.serving !== conditions.serving,
    );
    return isNews ? { ...others, [TRIGGER_TIME]: kubeTime(clock.now()) } : others;
  }

  async function syncEndpoints(service: Service, members: readonly Pod[]): Promise<void> {
    const { namespace, name } = service.metadata;
    const byPorts = new Map<string, { addresses: object[]; notReadyAddresses: object[]; ports: Port[] }>();
    for (const pod of members.filter((each) => each.metadata.deletionTimestamp === undefined)) {
      const ports = portsFor(service, pod);
      const subset = byPorts.get(stableJson(ports)) ?? { addresses: [], notReadyAddresses: [], ports };
      byPorts.set(stableJson(ports), subset);
      const { conditions, addresses, hostname, nodeName, targetRef } = endpointOf(service, pod);
      const address = { ip: addresses[0], ...(hostname ? { hostname } : {}), nodeName, targetRef };
      (conditions.ready ? subset.addresses : subset.notReadyAddresses).push(address);
    }
    const subsets = [...byPorts.values()].map(({ addresses, notReadyAddresses, ports }) => ({
      ...(addresses.length > 0 ? { addresses } : {}),
      ...(notReadyAddresses.length > 0 ? { notReadyAddresses } : {}),
      ports: ports.map(({ name: portName, ...port }) => ({ ...(portName ? { name: portName } : {}), ...port })),
    }));
    const labels: Record<string, string> = {
      ...service.metadata.labels,
      'endpoints.kubernetes.io/managed-by': 'endpoint-controller',
      ...(service.spec.clusterIP === 'None' ? { [HEADLESS]: '' } : {}),
    };
    const present = endpoints.get(namespace, name!);
    if (!present) {
      await client.create(
        { ...ENDPOINTS, namespace },
        {
          apiVersion: 'v1',
          kind: 'Endpoints',
          metadata: { name, namespace, labels, annotations: { [TRIGGER_TIME]: kubeTime(clock.now()) } },
          ...(subsets.length > 0 ? { subsets } : {}),
        },
      );
      return;
    }
    const isSame =
      stableJson(present['subsets'] ?? []) === stableJson(subsets) &&
      stableJson(present.metadata.labels) === stableJson(labels);
    if (!isSame) {
      const count = (list: unknown): number =>
        ((list as { addresses?: unknown[] }[] | undefined) ?? []).reduce(
          (total, subset) => total + (subset.addresses?.length ?? 0),
          0,
        );
      const { [TRIGGER_TIME]: _, ...others } = present.metadata.annotations ?? {};
      const isShrinking = count(subsets) < count(present['subsets']);
      const annotations = isShrinking ? others : { ...others, [TRIGGER_TIME]: kubeTime(clock.now()) };
      const { subsets: __, ...rest } = present;
      await client.update(
        { ...ENDPOINTS, namespace, name: name! },
        { ...rest, metadata: { ...present.metadata, labels, annotations }, ...(subsets.length > 0 ? { subsets } : {}) },
      );
    }
  }

  async function removeEndpoints(namespace: string, name: string): Promise<void> {
    const present = endpoints.get(namespace, name);
    if (present?.metadata.labels?.['endpoints.kubernetes.io/managed-by'] === 'endpoint-controller') {
      try {
        await client.delete({ ...ENDPOINTS, namespace, name }, { preconditions: { uid: present.metadata.uid! } });
      } catch (error) {
        if (!(error instanceof ApiError && error.status.code === 404)) {
          throw error;
        }
      }
    }
  }

  const enqueueFor = (labels: Record<string, string> | undefined, namespace: string | undefined) => {
    for (const service of services.list(namespace) as Iterable<Service>) {
      if (service.spec.selector && matchesLabels({ matchLabels: service.spec.selector }, labels)) {
        queue.add(objectKey(service));
      }
    }
  };
  const unsubscribers = [
    services.subscribe(({ object }) => queue.add(objectKey(object))),
    pods.subscribe(({ object, previous }) => {
      enqueueFor(object.metadata.labels, object.metadata.namespace);
      if (previous) {
        enqueueFor(previous.metadata.labels, object.metadata.namespace);
      }
    }),
    slices.subscribe(({ object }) => {
      const controller = controllerOf(object);
      if (controller?.kind === 'Service') {
        queue.add(`${object.metadata.namespace}/${controller.name}`);
      }
    }),
    endpoints.subscribe(({ object, deleted }) => {
      if (deleted) {
        queue.add(objectKey(object));
      }
    }),
  ];
  return {
    stop() {
      unsubscribers.forEach((unsubscribe) => unsubscribe());
      queue.stop();
    },
  };
}
