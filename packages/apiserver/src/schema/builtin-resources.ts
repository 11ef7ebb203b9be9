import { kubernetesVersion, packedResources } from '../generated/resources.ts';
import type { Subresource, TableColumn } from '../resource.ts';
import { unpack } from './packed-data.ts';

/** A built-in resource as discovery shows it, with its table columns. */
export interface BuiltinResourceData {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly singular: string;
  readonly namespaced: boolean;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly verbs: readonly string[];
  /** In discovery order. */
  readonly subresources: Readonly<Record<string, Subresource>>;
  /** As legacy discovery shows it; empty for resources that are not stored. */
  readonly storageVersionHash: string;
  /** Empty for resources that cannot be listed. */
  readonly columns: readonly TableColumn[];
}

interface PackedResource extends Omit<BuiltinResourceData, 'subresources' | 'columns'> {
  readonly subresources: readonly (Subresource & { readonly name: string })[];
  readonly columns: readonly [string, string, string, number, string][];
}

let resources: BuiltinResourceData[] | undefined;

/** The Kubernetes version the shipped data were taken from, such as `v1.36.3`. */
export const dataVersion: string = kubernetesVersion;

/** All built-in resources in discovery order (core group first, then groups by priority). */
export function builtinResources(): BuiltinResourceData[] {
  resources ??= (unpack(packedResources) as PackedResource[]).map((row) => ({
    ...row,
    subresources: Object.fromEntries(row.subresources.map(({ name, ...subresource }) => [name, subresource])),
    columns: row.columns.map(([name, type, format, priority, description]) => ({
      name,
      type,
      format,
      description,
      priority,
    })),
  }));
  return resources;
}
