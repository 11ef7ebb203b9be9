import { isInvalid, ValidatingAdmissionPolicy, ValidatingAdmissionPolicyBinding, type Kind } from '@slipway/kube';
import type { TestCluster } from '@slipway/testing';

export interface Denial {
  readonly kind: Kind;
  readonly operations: readonly string[];
  /** CEL that is false for what is denied. */
  readonly expression: string;
  readonly message: string;
}

/** From now on the server denies this to everybody but the cluster's own controllers, until it is lifted. */
export async function deny(
  cluster: TestCluster,
  { kind, operations, expression, message }: Denial,
  isDenied: () => Promise<unknown>,
): Promise<{ lift(): Promise<void> }> {
  const { client } = cluster;
  const metadata = { name: `no-${kind.plural}` };
  await client.create({
    apiVersion: ValidatingAdmissionPolicy.apiVersion,
    kind: ValidatingAdmissionPolicy.kind,
    metadata,
    spec: {
      failurePolicy: 'Fail',
      matchConstraints: {
        resourceRules: [{ apiGroups: [kind.group], apiVersions: [kind.version], resources: [kind.plural], operations }],
      },
      matchConditions: [{ name: 'people', expression: "request.userInfo.username.endsWith('admin')" }],
      validations: [{ expression, message }],
    },
  });
  await client.create({
    apiVersion: ValidatingAdmissionPolicyBinding.apiVersion,
    kind: ValidatingAdmissionPolicyBinding.kind,
    metadata,
    spec: { policyName: metadata.name, validationActions: ['Deny'] },
  });
  await cluster.eventually('the policy is in force', () => isDenied().then(() => false, isInvalid));
  return { lift: async () => void (await client.delete(ValidatingAdmissionPolicyBinding, metadata)) };
}

/** From now on the server lets no object of this kind be deleted, of which there has to be one. */
export async function denyDeleting(cluster: TestCluster, kind: Kind): Promise<{ lift(): Promise<void> }> {
  const { namespace, name } = (await cluster.client.listPage(kind, { limit: 1 })).items[0]!.metadata;
  const denial = { kind, operations: ['DELETE'], expression: 'false', message: `${kind.plural} are kept` };
  return await deny(cluster, denial, () => cluster.client.delete(kind, { namespace, name: name! }, { dryRun: true }));
}
