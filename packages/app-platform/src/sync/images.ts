import type { DeepReadonly, KubeObject } from '@slipway/kube';

import { valueAt } from '../values/tree.ts';

/** The images of everything that runs, each once. */
export function imagesOf(objects: Iterable<DeepReadonly<KubeObject>>): string[] {
  const images = new Set<string>();
  for (const object of objects) {
    const spec =
      valueAt(object, ['spec', 'jobTemplate', 'spec', 'template', 'spec']) ??
      valueAt(object, ['spec', 'template', 'spec']) ??
      object['spec'];
    for (const field of ['containers', 'initContainers']) {
      const containers = valueAt(spec, [field]);
      if (!Array.isArray(containers)) continue;
      for (const container of containers) {
        const image = valueAt(container, ['image']);
        if (typeof image === 'string') images.add(image);
      }
    }
  }
  return [...images].sort();
}
