import { ApiError, type StatusCause } from '../api-error.ts';
import { type FieldSet, printPath } from './field-set.ts';
import type { Manager } from './managers.ts';

/** A field that an apply would change and somebody else owns. */
export interface Conflict {
  readonly manager: Manager;
  readonly path: readonly string[];
}

export function conflictsOf(sets: readonly (readonly [Manager, FieldSet])[]): Conflict[] {
  return sets.flatMap(([manager, set]) => [...set.paths()].map((path) => ({ manager, path })));
}

function printManager({ manager, operation, apiVersion, subresource }: Manager): string {
  const name = JSON.stringify(manager) + (subresource === '' ? '' : ` with subresource ${JSON.stringify(subresource)}`);
  return operation === 'Update' ? `${name} using ${apiVersion}` : name;
}

/** The 409 of a failed apply. */
export function applyConflict(conflicts: readonly Conflict[]): ApiError {
  const causes: StatusCause[] = conflicts.map(({ manager, path }) => ({
    reason: 'FieldManagerConflict',
    message: `conflict with ${printManager(manager)}`,
    field: printPath(path),
  }));
  return new ApiError({ code: 409, reason: 'Conflict', message: messageOf(conflicts), details: { causes } });
}

function messageOf(conflicts: readonly Conflict[]): string {
  const [first] = conflicts;
  if (first && conflicts.length === 1) {
    return `Apply failed with 1 conflict: conflict with ${printManager(first.manager)}: ${printPath(first.path)}`;
  }
  const byManager = new Map<string, string[]>();
  for (const { manager, path } of conflicts) {
    const name = printManager(manager);
    const paths = byManager.get(name);
    if (paths) paths.push(`- ${printPath(path)}`);
    else byManager.set(name, [`- ${printPath(path)}`]);
  }
  const lines = [...byManager].flatMap(([name, paths]) => [`conflicts with ${name}:`, ...paths]);
  return `Apply failed with ${conflicts.length} conflicts: ${lines.join('\n')}`;
}
