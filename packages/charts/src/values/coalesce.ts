import { ChartError } from '../chart/chart-error.ts';
import type { DialectSwitches } from '../chart/dialect.ts';
import { deepCopy, isMap, type GoMap, type Value } from '../go/values.ts';

/** A chart as far as its values go. */
export interface ValuesNode {
  readonly name: string;
  readonly values: GoMap;
  readonly children: readonly ValuesNode[];
}

/**
 * Puts a chart's own values under those it was given, and does the same for its subcharts. A null from the user removes a
 * default; a null in the chart's defaults is as if it were not written. With `merge`, nulls are kept for a later pass.
 */
export function coalesceValues(node: ValuesNode, given: GoMap, switches: DialectSwitches, merge = false): GoMap {
  return coalesce(node, deepCopy(given), { merge, dropsNulls: switches.dropsDefaultNulls && !merge });
}

interface Manner {
  /** Nulls are kept for a later pass. */
  readonly merge: boolean;
  readonly dropsNulls: boolean;
}

function coalesce(node: ValuesNode, target: GoMap, manner: Manner): GoMap {
  applyDefaults(node, target, manner);
  for (const child of node.children) {
    const present = target.get(child.name);
    if (target.has(child.name) && !isMap(present))
      throw new ChartError('InvalidValues', `type mismatch on ${child.name}: the values of a subchart must be a table`);
    const section: GoMap = isMap(present) ? present : new Map();
    passGlobals(section, target);
    target.set(child.name, coalesce(child, section, manner));
  }
  return target;
}

function applyDefaults(node: ValuesNode, target: GoMap, { merge, dropsNulls }: Manner): void {
  for (const [key, value] of deepCopy(node.values)) {
    if (!target.has(key)) {
      if (!dropsNulls) target.set(key, value);
      else if (value !== null) {
        if (isMap(value)) dropNulls(value);
        target.set(key, value);
      }
      continue;
    }
    const present = target.get(key);
    if (present === null && !merge) target.delete(key);
    else if (isMap(present) && isMap(value)) {
      // A null for a subchart must survive until that subchart's own defaults are at hand.
      const keepsNulls = merge || node.children.some((child) => child.name === key);
      if (!keepsNulls && dropsNulls) dropNulls(value);
      coalesceTables(present, value, keepsNulls);
    }
  }
}

/** A parent's `global` table reaches every subchart; where both say something the parent wins. */
function passGlobals(target: GoMap, source: GoMap): void {
  const own: Value = target.has('global') ? target.get('global') : new Map<string, Value>();
  const from: Value = source.has('global') ? source.get('global') : new Map<string, Value>();
  if (!isMap(own) || !isMap(from)) return;
  for (const [key, value] of from) {
    const present = own.get(key);
    if (isMap(value)) {
      const copy: GoMap = new Map(value);
      if (!own.has(key)) own.set(key, copy);
      else if (isMap(present)) {
        coalesceTables(copy, present, true);
        own.set(key, copy);
      }
    } else if (!isMap(present)) own.set(key, value);
  }
  target.set('global', own);
}

/** Fills `target` from `source`, which may be changed too. A null in `target` removes what `source` says. */
export function coalesceTables(target: GoMap, source: GoMap, merge: boolean): GoMap {
  const said = new Set<string>();
  source.forEach((value, key) => value !== null && said.add(key));
  target.forEach((value, key) => value === null && source.set(key, null));
  source.forEach((value, key) => {
    const present = target.get(key);
    if (!target.has(key)) target.set(key, value);
    else if (!merge && present === null && said.has(key)) target.delete(key);
    else if (isMap(value) && isMap(present)) coalesceTables(present, value, merge);
  });
  return target;
}

function dropNulls(map: GoMap): void {
  map.forEach((value, key) => {
    if (value === null) map.delete(key);
    else if (isMap(value)) dropNulls(value);
  });
}

/** The table at a dotted path. */
export function tableAt(values: GoMap, path: string): GoMap | undefined {
  let table = values;
  for (const part of path.split('.')) {
    const next = table.get(part);
    if (!isMap(next)) return undefined;
    table = next;
  }
  return table;
}

/** The value at a dotted path, unless it is a table. */
export function valueAt(values: GoMap, path: string): Value {
  const dot = path.lastIndexOf('.');
  const table = dot < 0 ? values : tableAt(values, path.slice(0, dot));
  const value = table?.get(path.slice(dot + 1));
  return isMap(value) ? undefined : value;
}
