import type { UserInfo } from '../auth/auth.ts';
import type { ApiObject, JsonObject } from '../object.ts';
import type { Resource } from '../resource.ts';

/** A write on its way to the store. */
export interface AdmissionContext {
  readonly operation: 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT';
  /** The resource as it was requested (in the requested version). */
  readonly resource: Resource;
  /** Empty when there is none. */
  readonly subresource: string;
  /** The kind of `object`; differs from the resource's for `scale`, `binding`, `eviction`. */
  readonly kind: { readonly group: string; readonly version: string; readonly kind: string };
  readonly namespace: string;
  /** Empty on a create with `generateName` until the name is made, and on the deletion of a collection. */
  name: string;
  /** The new object in the requested version; absent on DELETE. Mutating admission changes it in place or replaces it. */
  object: ApiObject | undefined;
  /** The stored object in the requested version; absent on CREATE. Never changed. */
  readonly oldObject: ApiObject | undefined;
  /** CreateOptions, UpdateOptions, PatchOptions or DeleteOptions with kind and apiVersion. */
  readonly options: JsonObject;
  readonly dryRun: boolean;
  readonly user: UserInfo;
  /** Adds a `Warning` header to the answer. */
  warn(text: string): void;
}

/** Says no by throwing an `ApiError`. Whatever needs no waiting returns nothing instead of a promise: the fast path stays synchronous. */
export interface Admission {
  mutate(context: AdmissionContext): void | Promise<void>;
  validate(context: AdmissionContext): void | Promise<void>;
}

/** Lets everything through. */
export const admitAll: Admission = { mutate() {}, validate() {} };
