import { deepCopy, type GoMap } from '../go/values.ts';

/** A copy made when somebody first asks for it. Templates change maps, and all of one run see the same. */
export function copyOnDemand(values: GoMap): () => GoMap {
  let copy: GoMap | undefined;
  return () => (copy ??= deepCopy(values));
}
