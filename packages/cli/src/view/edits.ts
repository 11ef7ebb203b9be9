import { isDeepStrictEqual } from 'node:util';
import type { DeepReadonly, KubeObject } from '@slipway/kube';
import { diffObjects, type FieldChange } from '@slipway/manifests';

type Loose = DeepReadonly<KubeObject>;
type ManagedFields = NonNullable<Loose['metadata']['managedFields']>[number];

/** What an edit has made of an object, and what it was before. */
interface Edit {
  readonly before: Loose;
  readonly editor: string;
}

/** A change of an object's content, told. */
export interface ToldEdit {
  /** `changed`: by somebody; `undone`: it is as it was before somebody else changed it. */
  readonly type: 'changed' | 'undone';
  /** Such as `spec.replicas`. */
  readonly fields: readonly string[];
  /** The field manager that wrote. */
  readonly by: string;
}

/** Knows an edit that is undone from a change: the object is as before, and somebody else has written it back. */
export class Edits {
  readonly #open = new Map<string, Edit>();

  /** What a write of the object called `name` did to its content; `undefined` when that is only bookkeeping. */
  observe(name: string, previous: Loose, present: Loose): ToldEdit | undefined {
    const changes = contentChanges(previous, present);
    if (changes.length === 0) return undefined;
    const by = writerOf(previous, present);
    const fields = changes.map(({ path }) => path);
    const edit = this.#open.get(name);
    if (edit && edit.editor !== by && contentChanges(edit.before, present).length === 0) {
      this.#open.delete(name);
      return { type: 'undone', fields, by };
    }
    this.#open.set(name, { before: previous, editor: by });
    return { type: 'changed', fields, by };
  }

  /** The object is gone. */
  forget(name: string): void {
    this.#open.delete(name);
  }
}

/** Labels, annotations and owners are where controllers keep their books. */
function contentChanges(from: Loose, to: Loose): FieldChange[] {
  return diffObjects(from, to).filter(({ path }) => !path.startsWith('metadata'));
}

/** Who has fields now, or writes them anew; who lost some to that one has fewer than before. */
function writerOf(previous: Loose, present: Loose): string {
  const before = previous.metadata.managedFields ?? [];
  const written = (present.metadata.managedFields ?? []).filter((entry) => {
    const earlier = before.find((each) => isSameManager(each, entry));
    return !isDeepStrictEqual(earlier, entry) && sizeOf(entry) >= sizeOf(earlier);
  });
  return written[0]?.manager ?? 'somebody';
}

function isSameManager(a: ManagedFields, b: ManagedFields): boolean {
  return a.manager === b.manager && a.operation === b.operation && a.subresource === b.subresource;
}

function sizeOf(entry: ManagedFields | undefined): number {
  return entry ? JSON.stringify(entry.fieldsV1 ?? {}).length : 0;
}
