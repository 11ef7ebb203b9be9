import {
  controllerOf,
  Deployment,
  isControlledBy,
  isNotFound,
  MutatingWebhookConfiguration,
  Secret,
  ValidatingWebhookConfiguration,
  type Kind,
} from '@slipway/kube';

import { ServiceBinding, ServiceInstance, type ServiceResource } from '../api.ts';
import { names } from '../names.ts';
import { removePolicies } from './network-policies.ts';
import type { BtpRun } from './run.ts';
import { listAll } from './service-resources.ts';

/** Steps 5 to 10: lets bindings and instances go without the service operator. A step that fails throws; all of it can be done again. */
export async function softDelete(run: BtpRun): Promise<void> {
  // 5. The Deployment and the webhooks: they would refuse what comes next.
  await removeOperator(run);

  // 6. Finalizers of bindings, and the Secrets of the bindings.
  for (const binding of await listAll(run, ServiceBinding)) {
    // The Secret goes first: once the binding is gone nobody knows its name any more.
    await deleteBindingSecret(run, binding);
    await letGo(run, ServiceBinding, binding);
  }

  // 7. No binding may be left.
  await expectNone(run, ServiceBinding);

  // 8. Finalizers of instances.
  for (const instance of await listAll(run, ServiceInstance)) await letGo(run, ServiceInstance, instance);

  // 9. No instance may be left.
  await expectNone(run, ServiceInstance);
}

async function removeOperator(run: BtpRun): Promise<void> {
  const { client } = run.context;
  const { chartNamespace, deploymentName } = run.settings;
  await client.delete(Deployment, { namespace: chartNamespace, name: deploymentName });
  await client.delete(MutatingWebhookConfiguration, { name: names.mutatingWebhooks });
  await client.delete(ValidatingWebhookConfiguration, { name: names.validatingWebhooks });
  await removePolicies(run);
}

async function deleteBindingSecret(run: BtpRun, binding: ServiceResource): Promise<void> {
  const { namespace } = binding.metadata;
  const name = binding.spec?.secretName || binding.metadata.name!;
  const secret = await run.context.client.get(Secret, { namespace, name });
  if (!secret) return;
  // Somebody else's Secret of that name stays.
  if (controllerOf(secret) && !isControlledBy(secret, binding)) return;
  await run.context.client.delete(Secret, { namespace, name }, { preconditions: { uid: secret.metadata.uid! } });
}

/** Asks for the deletion first: an object that is not being deleted would get its finalizers back. */
async function letGo(run: BtpRun, kind: Kind<ServiceResource>, object: ServiceResource): Promise<void> {
  const { client } = run.context;
  const key = { namespace: object.metadata.namespace, name: object.metadata.name! };
  const preconditions = { uid: object.metadata.uid! };
  if (object.metadata.deletionTimestamp === undefined) await client.delete(kind, key, { preconditions });
  if ((object.metadata.finalizers ?? []).length === 0) return;
  try {
    // No resource version: the deletion has just changed it.
    const body = { metadata: { uid: object.metadata.uid, finalizers: null } };
    await client.patch(kind, key, { type: 'merge', body });
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}

async function expectNone(run: BtpRun, kind: Kind<ServiceResource>): Promise<void> {
  const left = await listAll(run, kind);
  if (left.length > 0) throw new Error(`soft delete: ${kind.plural}: list returned ${left.length} records`);
}
