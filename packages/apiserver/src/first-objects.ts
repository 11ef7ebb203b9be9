import { kubeTime, type Clock } from './clock.ts';
import { rootCaIn, serviceAccountIn } from './controllers/namespace-furniture.ts';
import type { ApiObject, Json, JsonObject } from './object.ts';
import type { Random } from './random.ts';
import { startUpObjects } from './start-up-objects.ts';
import { keyOf } from './store/entry.ts';
import type { Store } from './store/store.ts';

export interface FirstObjectsOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly random: Random;
  /** PEM of the cluster's own authority. */
  readonly ca: string | undefined;
  /** Whether namespaces get what controllers put into each of them. */
  readonly furnished: boolean;
}

/**
 * Fills an empty store with what every cluster begins with, as it is after defaulting and field tracking. Sending these through
 * the pipeline would give the same (a test holds this to it) and take longer than everything else about a start.
 */
export function storeFirstObjects({ store, clock, random, ca, furnished }: FirstObjectsOptions): void {
  const time = kubeTime(clock.now());

  function put(storageId: string, object: ApiObject, manager: string, fields: JsonObject): void {
    const { name, namespace, generation, labels, annotations } = object.metadata;
    const owned = Object.keys(fields).length > 0;
    const managedFields = [
      {
        manager,
        operation: 'Update' as const,
        apiVersion: object.apiVersion!,
        time,
        fieldsType: 'FieldsV1' as const,
        fieldsV1: fields,
      },
    ];
    const { apiVersion, kind, metadata: _, ...rest } = object;
    store.put(storageId, keyOf(namespace, name!), {
      kind,
      apiVersion,
      metadata: {
        name,
        ...(namespace ? { namespace } : {}),
        uid: random.uuid(),
        ...(generation ? { generation } : {}),
        creationTimestamp: time,
        ...(labels ? { labels } : {}),
        ...(annotations ? { annotations } : {}),
        ...(owned ? { managedFields } : {}),
      },
      ...rest,
    } as ApiObject);
  }

  for (const { group, plural, object } of startUpObjects(ca)) {
    const { finished, fields } = finish(object);
    put(group ? `${plural}.${group}` : plural, finished, 'kube-apiserver', fields);
  }
  if (!furnished) return;
  for (const { key: namespace } of store.list('namespaces')) {
    put('serviceaccounts', serviceAccountIn(namespace), 'kube-controller-manager', {});
    put('configmaps', rootCaIn(namespace, ca ?? ''), 'kube-controller-manager', {
      'f:data': { '.': {}, 'f:ca.crt': {} },
      'f:metadata': { 'f:annotations': { '.': {}, 'f:kubernetes.io/description': {} } },
    });
  }
}

/** What the kinds of these few objects add to them, and the fields their writer owns. */
function finish(object: ApiObject): { finished: ApiObject; fields: JsonObject } {
  const { metadata } = object;
  switch (object.kind) {
    case 'Namespace':
      return {
        finished: {
          ...object,
          metadata: { ...metadata, labels: { 'kubernetes.io/metadata.name': metadata.name! } },
          spec: { finalizers: ['kubernetes'] },
          status: { phase: 'Active' },
        },
        fields: { 'f:metadata': { 'f:labels': { '.': {}, 'f:kubernetes.io/metadata.name': {} } } },
      };
    case 'PriorityClass':
      return {
        finished: { ...object, metadata: { ...metadata, generation: 1 }, preemptionPolicy: 'PreemptLowerPriority' },
        fields: { 'f:description': {}, 'f:preemptionPolicy': {}, 'f:value': {} },
      };
    case 'Service': {
      const { type, clusterIP, ports } = object['spec'] as { type: Json; clusterIP: Json; ports: Json };
      return {
        finished: {
          ...object,
          spec: {
            ports,
            clusterIP,
            clusterIPs: [clusterIP],
            type,
            sessionAffinity: 'None',
            ipFamilies: ['IPv4'],
            ipFamilyPolicy: 'SingleStack',
            internalTrafficPolicy: 'Cluster',
          },
          status: { loadBalancer: {} },
        },
        fields: {
          'f:metadata': { 'f:labels': { '.': {}, 'f:component': {}, 'f:provider': {} } },
          'f:spec': {
            'f:clusterIP': {},
            'f:internalTrafficPolicy': {},
            'f:ports': {
              '.': {},
              'k:{"port":443,"protocol":"TCP"}': {
                '.': {},
                'f:name': {},
                'f:port': {},
                'f:protocol': {},
                'f:targetPort': {},
              },
            },
            'f:sessionAffinity': {},
            'f:type': {},
          },
        },
      };
    }
    case 'ConfigMap': {
      const { data, ...rest } = object;
      const names = Object.keys(data as JsonObject);
      // What is empty is not printed, and not owned.
      if (names.length === 0) return { finished: rest as ApiObject, fields: {} };
      return {
        finished: object,
        fields: { 'f:data': { '.': {}, ...Object.fromEntries(names.map((name) => [`f:${name}`, {}])) } },
      };
    }
    default:
      throw new Error(`a cluster does not begin with a ${object.kind}`);
  }
}
