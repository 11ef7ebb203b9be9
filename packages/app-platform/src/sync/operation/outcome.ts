import type { HookType, ResourceResult } from '../../argo/application.ts';
import { versionOf, type ObjectRef } from '@slipway/manifests';

/** How far a step of an operation is. */
export type StepOutcome =
  | { readonly state: 'done' }
  /** It goes on when something changes, or soon. */
  | { readonly state: 'waiting'; readonly message: string }
  | { readonly state: 'failed'; readonly message: string };

export const done: StepOutcome = { state: 'done' };

/** What became of the objects of an operation, gathered over its steps. */
export class Results {
  readonly #results = new Map<string, ResourceResult>();

  note(
    ref: ObjectRef,
    apiVersion: string | undefined,
    syncPhase: HookType,
    result: Pick<ResourceResult, 'status' | 'message' | 'hookType' | 'hookPhase'>,
  ): void {
    const { group, kind, namespace, name } = ref;
    const version = apiVersion === undefined ? '' : versionOf(apiVersion);
    this.#results.set(keyOf({ ...ref, syncPhase }), {
      group,
      version,
      kind,
      namespace,
      name,
      syncPhase,
      ...result,
    });
  }

  has(result: ObjectRef & { readonly syncPhase: HookType }): boolean {
    return this.#results.has(keyOf(result));
  }

  get all(): ResourceResult[] {
    return [...this.#results.values()];
  }
}

function keyOf({ syncPhase, group, kind, namespace, name }: ObjectRef & { readonly syncPhase: HookType }): string {
  return `${syncPhase}/${group}/${kind}/${namespace}/${name}`;
}
