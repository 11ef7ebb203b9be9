import { kubernetesVersion, packedColumns, resources as rows } from '../generated/resources.ts';
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

interface ResourceRow extends Omit<BuiltinResourceData, 'subresources' | 'columns'> {
  readonly subresources: readonly (Subresource & { readonly name: string })[];
}

type PackedColumn = readonly [name: string, type: string, format: string, priority: number, description: string];

let columnsOfRows: readonly (readonly TableColumn[])[] | undefined;

function columnsOfRow(index: number): readonly TableColumn[] {
  columnsOfRows ??= (unpack(packedColumns) as PackedColumn[][]).map((columns) =>
    columns.map(([name, type, format, priority, description]) => ({ name, type, format, description, priority })),
  );
  return columnsOfRows[index]!;
}

let resources: BuiltinResourceData[] | undefined;

/** The Kubernetes version the shipped data were taken from, such as `v1.36.3`. */
export const dataVersion: string = kubernetesVersion;

/** All built-in resources in discovery order (core group first, then groups by priority). */
export function builtinResources(): BuiltinResourceData[] {
  resources ??= (rows as unknown as readonly ResourceRow[]).map((row, index) => ({
    ...row,
    subresources: Object.fromEntries(row.subresources.map(({ name, ...subresource }) => [name, subresource])),
    get columns() {
      return columnsOfRow(index);
    },
  }));
  return resources;
}
