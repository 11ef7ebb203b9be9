import type { Client, Kind } from '@slipway/kube';

import type { ReadonlyComponent } from './component-resource.ts';

export type AnnotationMode =
  /** Add it; another value that is there already is an {@link AnnotationAlreadyExists}. */
  'add' | 'overwrite' | 'delete';

export class AnnotationAlreadyExists extends Error {
  constructor(key: string, present: string) {
    super(`annotation ${key} has the value '${present}' already`);
    this.name = 'AnnotationAlreadyExists';
  }
}

/** Adds, changes or removes one annotation. Writes nothing when it is as wanted. */
export async function patchAnnotation(
  client: Pick<Client, 'patch'>,
  kind: Kind,
  object: ReadonlyComponent,
  key: string,
  value: string,
  mode: AnnotationMode = 'add',
): Promise<void> {
  const present = object.metadata.annotations?.[key];
  const wanted = mode === 'delete' ? undefined : value;
  if (present === wanted) return;
  if (mode === 'add' && present !== undefined) throw new AnnotationAlreadyExists(key, present);
  const { name, namespace, uid } = object.metadata;
  // The uid keeps the patch off an object that was made anew under the same name.
  const body = { metadata: { uid, annotations: { [key]: wanted ?? null } } };
  await client.patch(kind, { namespace, name: name! }, { type: 'merge', body });
}
