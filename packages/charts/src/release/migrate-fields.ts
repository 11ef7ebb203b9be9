import type { Client, KubeObject } from '@slipway/kube';

import type { ReleaseObject } from './objects.ts';
import type { Operation } from './operation.ts';

type FieldSet = { [path: string]: FieldSet };

interface ManagedField {
  manager?: string;
  operation?: string;
  apiVersion?: string;
  subresource?: string;
  time?: string;
  fieldsType?: string;
  fieldsV1?: FieldSet;
}

/**
 * Turns what Helm 3 wrote (an `Update` of the manager `helm`) into an `Apply` of the same manager. Without it a field that leaves the manifest would
 * stay on the object for ever, owned by an update nobody makes again.
 */
export async function migrateFields(operation: Operation, each: ReleaseObject): Promise<void> {
  await operation.write(async () => {
    await migrateOnce(operation.client, each);
  });
}

async function migrateOnce(client: Client, { kind, object }: ReleaseObject): Promise<void> {
  const key = { name: object.metadata.name!, namespace: object.metadata.namespace };
  const present = (await client.get(kind, key)) as KubeObject | undefined;
  if (present === undefined) return;
  const fields = (present.metadata.managedFields ?? []) as ManagedField[];
  const isOld = (field: ManagedField): boolean =>
    field.manager === 'helm' && field.operation === 'Update' && !field.subresource;
  const old = fields.filter(isOld);
  if (old.length === 0) return;
  const applied = fields.find((field) => field.manager === 'helm' && field.operation === 'Apply' && !field.subresource);
  const merged: ManagedField = {
    ...(applied ?? { ...old[0], operation: 'Apply' }),
    fieldsV1: [...old, ...(applied ? [applied] : [])].reduce<FieldSet>(
      (union, { fieldsV1 = {} }) => unite(union, fieldsV1),
      {},
    ),
  };
  const kept = fields.filter((field) => !isOld(field) && field !== applied);
  await client.patch(kind, key, {
    type: 'json',
    operations: [
      // A conflict where somebody wrote it meanwhile, such as a controller its status.
      { op: 'replace', path: '/metadata/resourceVersion', value: present.metadata.resourceVersion },
      { op: 'replace', path: '/metadata/managedFields', value: [...kept, merged] },
    ],
  });
}

function unite(a: FieldSet, b: FieldSet): FieldSet {
  const union: FieldSet = { ...a };
  for (const [path, below] of Object.entries(b)) union[path] = union[path] ? unite(union[path], below) : below;
  return union;
}
