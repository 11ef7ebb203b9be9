import type { Client, KubeObject } from '@slipway/kube';

import type { ReleaseObject } from './objects.ts';

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
export async function migrateFields(
  client: Client,
  { kind }: ReleaseObject,
  present: KubeObject | undefined,
): Promise<void> {
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
  const { name, namespace, resourceVersion } = present.metadata;
  await client.patch(
    kind,
    { name: name!, namespace },
    {
      type: 'json',
      operations: [
        { op: 'test', path: '/metadata/resourceVersion', value: resourceVersion },
        { op: 'replace', path: '/metadata/managedFields', value: [...kept, merged] },
      ],
    },
  );
}

function unite(a: FieldSet, b: FieldSet): FieldSet {
  const union: FieldSet = { ...a };
  for (const [path, below] of Object.entries(b)) union[path] = union[path] ? unite(union[path], below) : below;
  return union;
}
