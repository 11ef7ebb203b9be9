import { createHash } from 'node:crypto';

import { newObject, Secret, type KubeObject } from '@slipway/kube';
import { controller, requeueAfter, type Controller, type ReconcileContext } from '@slipway/runtime';

import { ServiceBinding, ServiceInstance } from '../../src/api.ts';
import { finalizer, managedLabel } from '../service-operator-facts.ts';
import type { Configuration } from './configuration.ts';
import { ServiceManagerClient } from './service-manager-client.ts';

interface ServiceObject extends KubeObject {
  readonly spec?: Readonly<Record<string, unknown>>;
  readonly status?: { readonly instanceID?: string; readonly bindingID?: string; readonly hashedSpec?: string };
}

const waitForInstanceMs = 500;

/** Makes, changes and deletes in the Service Manager what the objects say. */
export function serviceControllers(configuration: Configuration): Controller[] {
  const manager = ({ client }: ReconcileContext) => new ServiceManagerClient(client, configuration);
  const labels = ({ metadata }: ServiceObject) => ({
    _clusterid: [configuration.clusterId],
    _namespace: [metadata.namespace],
    _k8sname: [metadata.name],
  });

  const instances = controller({
    name: 'serviceinstance',
    for: ServiceInstance,
    finalize: {
      finalizer,
      async run(context, object) {
        const { metadata, status } = object as ServiceObject;
        if (status?.instanceID) {
          await manager(context).delete(metadata.namespace!, 'service_instances', status.instanceID);
        }
      },
    },
    async reconcile(context, key) {
      const instance = (await context.cache.get(ServiceInstance, key)) as ServiceObject | undefined;
      if (!instance || instance.metadata.deletionTimestamp) return;
      const { spec = {}, status } = instance;
      const { externalName: name, parameters, serviceOfferingName, servicePlanName } = spec;
      const wanted = { name, ...(parameters ? { parameters } : {}) };
      const hashedSpec = createHash('sha256').update(JSON.stringify(wanted)).digest('hex');
      if (status?.hashedSpec === hashedSpec) return;
      let id = status?.instanceID;
      if (id) await manager(context).updateInstance(key.namespace!, id, wanted);
      else {
        const plan = { offering: String(serviceOfferingName), name: String(servicePlanName) };
        const made = await manager(context).createInstance(
          key.namespace!,
          { ...wanted, labels: labels(instance) },
          plan,
        );
        id = String(made['id']);
      }
      await report(context, instance, status?.instanceID ? 'Updated' : 'Created', { instanceID: id, hashedSpec });
    },
  });

  const bindings = controller({
    name: 'servicebinding',
    for: ServiceBinding,
    finalize: {
      finalizer,
      async run(context, object) {
        const { metadata, status, spec } = object as ServiceObject;
        if (status?.bindingID) {
          await manager(context).delete(metadata.namespace!, 'service_bindings', status.bindingID);
        }
        const secret = { namespace: metadata.namespace!, name: String(spec?.['secretName']) };
        if (await context.client.get(Secret, secret)) await context.client.delete(Secret, secret);
      },
    },
    async reconcile(context, key) {
      const binding = (await context.cache.get(ServiceBinding, key)) as ServiceObject | undefined;
      if (!binding || binding.metadata.deletionTimestamp || binding.status?.bindingID) return;
      const { serviceInstanceName, externalName, secretName } = binding.spec ?? {};
      const instance = (await context.client.get(ServiceInstance, {
        namespace: key.namespace!,
        name: String(serviceInstanceName),
      })) as ServiceObject | undefined;
      if (!instance?.status?.instanceID) return requeueAfter(waitForInstanceMs);
      const made = await manager(context).createBinding(key.namespace!, {
        name: externalName,
        service_instance_id: instance.status.instanceID,
        labels: labels(binding),
      });
      await context.client.apply(
        newObject(Secret, {
          metadata: {
            namespace: key.namespace!,
            name: String(secretName),
            labels: { [managedLabel]: 'true' },
          },
          stringData: (made['credentials'] ?? {}) as Record<string, string>,
        }),
      );
      await report(context, binding, 'Created', { bindingID: String(made['id']) });
    },
  });
  return [instances, bindings];
}

async function report(
  { client, clock }: ReconcileContext,
  object: ServiceObject,
  reason: string,
  fields: Record<string, string>,
): Promise<void> {
  const lastTransitionTime = new Date(clock.now()).toISOString();
  const condition = { status: 'True', lastTransitionTime, observedGeneration: object.metadata.generation };
  const conditions = [
    { ...condition, type: 'Succeeded', reason, message: `${object.kind} ${reason.toLowerCase()} successfully` },
    { ...condition, type: 'Ready', reason: 'Provisioned', message: `${object.kind} is ready` },
  ];
  const kind = object.kind === 'ServiceInstance' ? ServiceInstance : ServiceBinding;
  const { namespace, name } = object.metadata;
  await client.patch(
    kind,
    { namespace: namespace!, name: name! },
    { type: 'merge', body: { status: { ...fields, ready: 'True', conditions } } },
    { subresource: 'status' },
  );
}
