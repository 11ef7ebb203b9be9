import type { FieldError } from './api-error.ts';
import type { Clock } from './clock.ts';
import type { ApiObject, Json, JsonObject } from './object.ts';
import type { Random } from './random.ts';
import type { Schema } from './schema/schema.ts';

/**
 * One served resource in one version: what discovery, routing and the write pipeline need to know of it. Built-ins come from
 * generated data plus the strategies in `kinds/`; a CRD adds one per served version.
 */
export interface Resource {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly listKind: string;
  readonly plural: string;
  readonly singular: string;
  readonly namespaced: boolean;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly verbs: readonly string[];
  /** Subresource name → the kind it answers and its verbs. */
  readonly subresources: Readonly<Record<string, Subresource>>;
  /** Resources of several versions that share objects have the same storage id, such as `deployments.apps` (`configmaps` in the core group). */
  readonly storageId: string;
  /** The version objects are stored in. */
  readonly storageVersion: string;
  /** As legacy discovery shows it, for built-in kinds. */
  readonly storageVersionHash?: string;
  readonly schema: Schema;
  /** Custom resources answer differently in many small ways (key order, strategic merge, kinds in lists …). */
  readonly custom: boolean;
  readonly strategy: Strategy;
  readonly columns: readonly TableColumn[];
  /** Converts between this version and the storage version; absent when they are alike. May be asynchronous (webhook). */
  readonly conversion?: Conversion;
  /** Custom resources with a scale subresource: where it finds its numbers. `kinds/scale.ts` reads and writes them. */
  readonly scale?: ScalePaths;
  /** Custom resources: the definitions served in OpenAPI v3, by schema name (`com.example.v1.Widget`). */
  readonly openApiDefinitions?: () => Record<string, JsonObject>;
  /** A message for the `Warning` header of every request to this version. */
  readonly deprecationWarning?: string;
}

/** Dotted paths such as `.spec.replicas`. */
export interface ScalePaths {
  readonly specReplicasPath: string;
  readonly statusReplicasPath: string;
  readonly labelSelectorPath?: string;
}

export interface Subresource {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly verbs: readonly string[];
}

/** What is special about a kind. Every member has a neutral default (`kinds/default-strategy.ts`). */
export interface Strategy {
  /** PUT without resourceVersion is allowed. */
  readonly unconditionalUpdate: boolean;
  /** PUT of a missing object creates it. */
  readonly createOnUpdate: boolean;
  /** DELETE answers the object instead of a Status. */
  readonly deleteReturnsObject: boolean;
  /** `metadata.generation` is kept: 1 on create, +1 when `generationChanged` says so. */
  readonly hasGeneration: boolean;
  generationChanged(next: ApiObject, previous: ApiObject): boolean;
  /** `Unsupported`: the garbage collector leaves the kind alone, whatever a DELETE asks for. */
  readonly defaultPropagation: 'Background' | 'Orphan' | 'Unsupported';
  /** Seconds an object stays after DELETE when the client does not say; 0 removes at once. */
  gracePeriodSeconds(object: ApiObject): number;
  /** Top-level fields a main-resource write keeps from the stored object (`status`) and a status write takes alone. */
  readonly statusField: boolean;
  /** Versioned defaulting. Changes `object` in place; runs on every decode. */
  applyDefaults(object: ApiObject): void;
  /** Last touch before validation on create: drop status, allocate, derive. Changes `object` in place. */
  prepareForCreate(object: ApiObject, context: StrategyContext): void;
  /** The same on update. */
  prepareForUpdate(object: ApiObject, previous: ApiObject, context: StrategyContext): void;
  /** The same on a write to `/status`. */
  prepareForStatusUpdate(object: ApiObject, previous: ApiObject, context: StrategyContext): void;
  /** The same on a write to `/approval`; only kinds with that subresource have it. */
  prepareForApproval?(object: ApiObject, previous: ApiObject, context: StrategyContext): void;
  /** What is wrong with a new object, beyond metadata (checked for all kinds elsewhere). */
  validate(object: ApiObject, context: StrategyContext): FieldError[];
  validateUpdate(object: ApiObject, previous: ApiObject, context: StrategyContext): FieldError[];
  validateStatusUpdate(object: ApiObject, previous: ApiObject, context: StrategyContext): FieldError[];
  validateApproval?(object: ApiObject, previous: ApiObject, context: StrategyContext): FieldError[];
  /** Name rule beyond "path segment": returns Go's texts, empty when fine. */
  validateName(name: string): string[];
  /** Field paths (`spec.nodeName`) usable in field selectors, besides metadata.name and metadata.namespace. */
  readonly selectableFields: Readonly<Record<string, (object: ApiObject) => string>>;
  /** Messages for `Warning` headers on create and update. */
  warnings(object: ApiObject, previous: ApiObject | undefined): string[];
  /** Table cells for `columns`, in order. */
  cells(object: ApiObject, now: number): Json[];
  /** Last touch when DELETE marks an object that stays for now (a namespace's phase, a CRD's condition). Changes top-level fields of `object` by replacing them, never in depth. */
  markTerminating?(object: ApiObject, context: StrategyContext): void;
  /** Called after the object was removed from the store (release addresses and the like). */
  released(object: ApiObject, context: StrategyContext): void;
}

/** What strategies may use of the server. */
export interface StrategyContext {
  readonly clock: Clock;
  readonly random: Random;
  readonly dryRun: boolean;
  /** Looks at a stored object of any kind by storage id, such as `('priorityclasses.scheduling.k8s.io', undefined, 'x')`. */
  lookup(storageId: string, namespace: string | undefined, name: string): ApiObject | undefined;
  /** All stored objects of a kind. */
  scan(storageId: string): Iterable<ApiObject>;
}

export interface TableColumn {
  readonly name: string;
  readonly type: string;
  readonly format: string;
  readonly description: string;
  readonly priority: number;
}

export interface Conversion {
  toStorage(objects: readonly ApiObject[]): ApiObject[] | Promise<ApiObject[]>;
  fromStorage(objects: readonly ApiObject[]): ApiObject[] | Promise<ApiObject[]>;
}
