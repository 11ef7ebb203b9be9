import type { KubeObject } from '@slipway/kube';

import { refKey, refOf, type ObjectRef } from './identity.ts';
import type { MemberResult } from './member-result.ts';
import { dependenciesOf, hasAskedForWave, type Wave } from './waves.ts';

/**
 * Who has to be healthy before whom, over the waves of one pass. Somebody who asked for a wave comes after everything before it
 * and before everything after it; somebody with dependencies comes after these.
 */
export class HealthGates {
  readonly #gate: (ref: ObjectRef) => boolean;
  /** Members that are not healthy yet, by `refKey`, and whether others wait for them whoever they are. */
  readonly #open = new Map<string, { readonly holdsAll: boolean }>();
  #openWave: string | undefined;

  /** @param gate whose health counts at all. Default: everyone's */
  constructor(gate: (ref: ObjectRef) => boolean = () => true) {
    this.#gate = gate;
  }

  /** The first wave with a member that is not healthy yet. */
  get openWave(): string | undefined {
    return this.#openWave;
  }

  /** Which of the next wave may be applied now. */
  sort(members: readonly KubeObject[]): { ready: KubeObject[]; held: KubeObject[] } {
    const all = [...this.#open.values()].some(({ holdsAll }) => holdsAll);
    const isHeld = (object: KubeObject) =>
      all ||
      (this.#open.size > 0 && hasAskedForWave(object)) ||
      dependenciesOf(object).some((ref) => this.#open.has(refKey(ref)));
    return { ready: members.filter((object) => !isHeld(object)), held: members.filter(isHeld) };
  }

  /** What became of a wave. */
  note(wave: Wave, outcome: readonly MemberResult[]): void {
    const asked = new Set(wave.objects.filter(hasAskedForWave).map((object) => refKey(refOf(object))));
    for (const { ref, health } of outcome) {
      if (health?.status === 'Current' || !this.#gate(ref)) continue;
      this.#openWave ??= wave.label;
      this.#open.set(refKey(ref), { holdsAll: asked.has(refKey(ref)) });
    }
  }
}
