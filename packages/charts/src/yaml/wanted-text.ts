import { formatFloat } from '../go/float.ts';
import type { Value } from '../go/values.ts';

/**
 * What a scalar becomes where a text is wanted: `version: 1.16` and `helm.sh/hook-weight: 5` are seldom quoted, and Helm's reader takes them
 * all the same. Whole numbers are wanted as `bigint`. Answers nothing for lists and maps.
 */
export function wantedText(value: Value): string | undefined {
  switch (typeof value) {
    case 'string':
      return value;
    case 'bigint':
    case 'boolean':
      return String(value);
    case 'number':
      return formatFloat(value, 'g');
  }
  return value === null ? '' : undefined;
}
