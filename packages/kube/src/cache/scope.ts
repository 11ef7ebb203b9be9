import type { CacheIndex, InformerScope } from '../cache.ts';
import { collectionPath } from '../resource-path.ts';
import { type Kind, kindText } from '../kind.ts';
import { formatLabelSelector, parseFieldSelector, parseLabelSelector } from '../selectors.ts';
import { CacheError } from './cache-error.ts';

/** A scope with every question answered. */
export interface ResolvedScope {
  /** `undefined`: all namespaces. */
  readonly namespaces: readonly string[] | undefined;
  readonly labelSelector: string | undefined;
  readonly fieldSelector: string | undefined;
  readonly metadataOnly: boolean;
  readonly stripManagedFields: boolean;
  readonly fields: readonly string[] | undefined;
}

/** What was declared for a kind so far; a setting nobody made is `undefined`. */
export type DeclaredScope = { -readonly [K in keyof ResolvedScope]?: ResolvedScope[K] | undefined };

export type Indices = Readonly<Record<string, CacheIndex>>;

/** Kinds whose objects are large or secret, and of which most operators need to know only that they are there. */
const metadataOnlyByDefault = new Set(['/Secret', '/ConfigMap']);

/** Checks a scope and brings it into the one form in which scopes are compared. */
export function normaliseScope(kind: Kind, scope: InformerScope): DeclaredScope {
  const name = kindText(kind);
  const declared: DeclaredScope = {};
  if (scope.namespaces !== undefined) {
    if (kind.scope === 'Cluster') {
      throw new TypeError(`scope of ${name}: namespaces were given, but the kind is cluster-scoped`);
    }
    if (scope.namespaces.length === 0) {
      throw new TypeError(`scope of ${name}: namespaces is empty; leave it out to cache all namespaces`);
    }
    // Fails for what cannot be part of a path.
    for (const namespace of scope.namespaces) collectionPath(kind, namespace);
    declared.namespaces = [...new Set(scope.namespaces)].toSorted();
  }
  if (scope.labelSelector !== undefined) {
    const text = formatLabelSelector(sorted(scope.labelSelector));
    try {
      parseLabelSelector(text);
    } catch (cause) {
      throw new TypeError(`scope of ${name}: ${(cause as Error).message}`, { cause });
    }
    declared.labelSelector = text;
  }
  if (scope.fieldSelector !== undefined) {
    try {
      parseFieldSelector(scope.fieldSelector);
    } catch (cause) {
      throw new TypeError(`scope of ${name}: ${(cause as Error).message}`, { cause });
    }
    declared.fieldSelector = scope.fieldSelector;
  }
  if (scope.metadataOnly !== undefined) declared.metadataOnly = scope.metadataOnly;
  if (scope.stripManagedFields !== undefined) declared.stripManagedFields = scope.stripManagedFields;
  if (scope.fields !== undefined) declared.fields = [...new Set(scope.fields)].toSorted();
  return declared;
}

export function resolveScope(kind: Kind, declared: DeclaredScope): ResolvedScope {
  return {
    namespaces: declared.namespaces,
    labelSelector: declared.labelSelector || undefined,
    fieldSelector: declared.fieldSelector || undefined,
    metadataOnly: declared.metadataOnly ?? metadataOnlyByDefault.has(`${kind.group}/${kind.kind}`),
    stripManagedFields: declared.stripManagedFields ?? true,
    fields: declared.fields,
  };
}

/**
 * Adds a second declaration of a kind to the first. Who leaves a setting out takes what the other one says; two different
 * answers are an error. Once the informer runs (`running`), a setting can no longer change what it does.
 */
export function mergeScope(kind: Kind, first: DeclaredScope, second: DeclaredScope, running: boolean): DeclaredScope {
  const inForce = resolveScope(kind, first);
  const merged: Record<string, unknown> = { ...first };
  for (const [setting, value] of Object.entries(second)) {
    if (value === undefined) continue;
    const given = first[setting as keyof DeclaredScope];
    const present = given ?? (running ? inForce[setting as keyof ResolvedScope] : undefined);
    if (JSON.stringify(present) === JSON.stringify(value)) continue;
    if (given === undefined && !running) {
      merged[setting] = value;
      continue;
    }
    throw new CacheError(
      'ScopeConflict',
      `${kindText(kind)} is already cached with ${setting} ${text(present)}, and cannot be cached with ${setting} ${text(value)} too. ` +
        `Declare it once with a scope that serves both, or give one of them a \`view\` of its own.`,
    );
  }
  return merged as DeclaredScope;
}

export function mergeIndices(kind: Kind, first: Indices, second: Indices | undefined): Indices {
  if (second === undefined) return first;
  for (const [name, index] of Object.entries(second)) {
    if (first[name] !== undefined && first[name] !== index) {
      throw new CacheError(
        'ScopeConflict',
        `${kindText(kind)} already has an index "${name}" that is another function`,
      );
    }
  }
  return { ...first, ...second };
}

function text(value: unknown): string {
  return value === undefined ? '(unset)' : JSON.stringify(value);
}

function sorted(selector: string | Readonly<Record<string, string>>): string | Readonly<Record<string, string>> {
  if (typeof selector === 'string') return selector;
  return Object.fromEntries(Object.entries(selector).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}
