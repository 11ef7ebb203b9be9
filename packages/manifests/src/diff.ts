import type { DeepReadonly, KubeObject } from '@slipway/kube';
import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';

import { isExactInteger } from './exact-integer.ts';

/** One field that differs. `from` is absent for a field that is new, `to` for one that goes. */
export interface FieldChange {
  /** Such as `spec.template.spec.containers[0].image` or `metadata.labels["app.kubernetes.io/name"]`. */
  readonly path: string;
  readonly from?: unknown;
  readonly to?: unknown;
}

const serverFields = new Set([
  'managedFields',
  'resourceVersion',
  'uid',
  'generation',
  'creationTimestamp',
  'selfLink',
]);

/**
 * What changes from one state of an object to another, field by field. Server bookkeeping and status are left out; values of
 * Secrets are replaced by a fingerprint, so that a change shows and the value does not.
 */
export function diffObjects(
  from: DeepReadonly<KubeObject> | undefined,
  to: DeepReadonly<KubeObject> | undefined,
): FieldChange[] {
  const changes: FieldChange[] = [];
  compare(presentable(from), presentable(to), '', changes);
  return changes;
}

function presentable(object: DeepReadonly<KubeObject> | undefined): unknown {
  if (!object) return undefined;
  const { status: _status, ...rest } = object;
  const metadata = Object.fromEntries(Object.entries(object.metadata).filter(([field]) => !serverFields.has(field)));
  const shown: Record<string, unknown> = { ...rest, metadata };
  if (object.kind === 'Secret' && object.apiVersion === 'v1') {
    for (const field of ['data', 'stringData']) {
      const values = shown[field];
      if (typeof values !== 'object' || values === null) continue;
      shown[field] = Object.fromEntries(Object.entries(values).map(([key, value]) => [key, mask(value)]));
    }
    const annotations = metadata['annotations'] as Record<string, string> | undefined;
    if (annotations?.['kubectl.kubernetes.io/last-applied-configuration'] !== undefined) {
      metadata['annotations'] = { ...annotations, 'kubectl.kubernetes.io/last-applied-configuration': '***' };
    }
  }
  return shown;
}

function mask(value: unknown): string {
  const print = createHash('sha256')
    .update(typeof value === 'string' ? value : JSON.stringify(value))
    .digest('hex')
    .slice(0, 6);
  return `*** (${print})`;
}

function compare(from: unknown, to: unknown, path: string, changes: FieldChange[]): void {
  if (isDeepStrictEqual(from, to)) return;
  if (isMap(from) && isMap(to)) {
    for (const key of new Set([...Object.keys(from), ...Object.keys(to)]))
      compare(from[key], to[key], join(path, key), changes);
    return;
  }
  if (Array.isArray(from) && Array.isArray(to)) {
    const names = listKey(from) && listKey(to);
    if (names) {
      compareNamed(from as Named[], to as Named[], path, changes);
      return;
    }
    for (let i = 0; i < Math.max(from.length, to.length); i += 1) compare(from[i], to[i], `${path}[${i}]`, changes);
    return;
  }
  changes.push({ path, ...(from === undefined ? {} : { from }), ...(to === undefined ? {} : { to }) });
}

type Named = { name: string };

function listKey(list: readonly unknown[]): boolean {
  const names = list.map((item) => (isMap(item) ? item['name'] : undefined));
  return names.every((name) => typeof name === 'string') && new Set(names).size === names.length;
}

function compareNamed(from: readonly Named[], to: readonly Named[], path: string, changes: FieldChange[]): void {
  for (const name of new Set([...from, ...to].map((item) => item.name))) {
    compare(
      from.find((item) => item.name === name),
      to.find((item) => item.name === name),
      `${path}[name=${name}]`,
      changes,
    );
  }
}

function join(path: string, key: string): string {
  if (!/^[A-Za-z0-9_-]+$/.test(key)) return `${path}[${JSON.stringify(key)}]`;
  return path ? `${path}.${key}` : key;
}

function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !isExactInteger(value);
}
