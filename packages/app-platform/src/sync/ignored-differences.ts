import type { DeepReadonly, KubeObject } from '@slipway/kube';
import type { ObjectRef } from '@slipway/manifests';

import type { Spec } from '../argo/application.ts';
import { isTree, setAt, unsetAt, valueAt, type Tree } from '../values/tree.ts';
import { SourceError } from './source/source-error.ts';

type Step = { readonly key: string } | { readonly each: true };

/** Fields that others may set: once the object is there, what they hold is what we want. */
export class IgnoredDifferences {
  readonly #rules: readonly { readonly isMeant: (ref: ObjectRef) => boolean; readonly paths: readonly Step[][] }[];

  constructor(rules: NonNullable<Spec['ignoreDifferences']>) {
    this.#rules = rules.map((rule) => {
      if (rule.managedFieldsManagers && rule.managedFieldsManagers.length > 0)
        throw new SourceError(
          'InvalidSpec',
          'spec.ignoreDifferences: managedFieldsManagers is not supported; name the fields with jsonPointers',
        );
      return {
        isMeant: (ref: ObjectRef) =>
          (rule.group === undefined || rule.group === '*' || rule.group === ref.group) &&
          (rule.kind === '*' || rule.kind === ref.kind) &&
          (!rule.name || rule.name === ref.name) &&
          (!rule.namespace || rule.namespace === ref.namespace),
        paths: [...(rule.jsonPointers ?? []).map(readPointer), ...(rule.jqPathExpressions ?? []).map(readJqPath)],
      };
    });
  }

  /** `object` with the ignored fields as they are on the cluster. */
  respecting(object: KubeObject, ref: ObjectRef, live: DeepReadonly<KubeObject>): KubeObject {
    const paths = this.#rules.filter(({ isMeant }) => isMeant(ref)).flatMap((rule) => rule.paths);
    if (paths.length === 0) return object;
    const result = structuredClone(object) as KubeObject & Tree;
    for (const path of paths) {
      for (const place of new Map(
        [...expand(result, path), ...expand(live, path)].map((at) => [at.join('\0'), at]),
      ).values()) {
        const present = valueAt(live, place);
        if (present === undefined) unsetAt(result, place);
        // A field below something we do not want is nothing we could want.
        else if (valueAt(result, place.slice(0, -1)) !== undefined) setAt(result, place, structuredClone(present));
      }
    }
    return result;
  }
}

/** The places a path means in an object, deepest known step first made sure of. */
function expand(object: unknown, steps: readonly Step[], before: readonly string[] = []): string[][] {
  const [step, ...rest] = steps;
  if (!step) return [[...before]];
  if ('key' in step) {
    const next = valueAt(object, [step.key]);
    if (rest.length === 0) return next === undefined ? [] : [[...before, step.key]];
    return next === undefined ? [] : expand(next, rest, [...before, step.key]);
  }
  const keys = Array.isArray(object)
    ? object.map((_item, index) => String(index))
    : isTree(object)
      ? Object.keys(object)
      : [];
  return keys.flatMap((key) => expand(valueAt(object, [key]), rest, [...before, key]));
}

/** RFC 6901. */
function readPointer(pointer: string): Step[] {
  if (!pointer.startsWith('/')) throw invalid(pointer, 'a JSON pointer begins with /');
  return pointer
    .slice(1)
    .split('/')
    .map((part) => ({ key: part.replaceAll('~1', '/').replaceAll('~0', '~') }));
}

const jqStep = /^(?:\.?\["((?:[^"\\]|\\.)*)"\]|\.?\[(\d*)\]|\.([A-Za-z_][A-Za-z0-9_]*))\??/;

/** Paths as jq writes them: `.webhooks[]?.clientConfig.caBundle`. Filters and pipes are not paths. */
function readJqPath(expression: string): Step[] {
  const steps: Step[] = [];
  let rest = expression.trim();
  while (rest !== '') {
    const found = jqStep.exec(rest);
    if (!found) throw invalid(expression, 'only paths such as .spec.items[].name are supported');
    const [all, quoted, index, word] = found;
    if (quoted !== undefined) steps.push({ key: JSON.parse(`"${quoted}"`) as string });
    else if (index !== undefined) steps.push(index === '' ? { each: true } : { key: index });
    else steps.push({ key: word! });
    rest = rest.slice(all.length);
  }
  if (steps.length === 0) throw invalid(expression, 'names no field');
  return steps;
}

function invalid(path: string, why: string): SourceError {
  return new SourceError('InvalidSpec', `spec.ignoreDifferences: '${path}': ${why}`);
}
