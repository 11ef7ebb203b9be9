import type { CaseGroup } from './case.ts';
import type { Exchange } from './normalise.ts';
import { replay } from './replay.ts';
import type { Target } from './target.ts';

/** The answers of a server to all cases of a group. */
export async function replayGroup(group: CaseGroup, target: Target): Promise<Record<string, Exchange[]>> {
  const prepared = await group.prepare?.();
  try {
    const result: Record<string, Exchange[]> = {};
    for (const one of group.cases) result[one.name] = await replay(one, target, prepared?.variables);
    return result;
  } finally {
    await prepared?.stop();
  }
}
