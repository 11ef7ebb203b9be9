import type { RunnablePod } from './running-pod.ts';

/** Where a pod runs, as far as its containers may ask. */
export interface PodPlace {
  podAddress: string;
  hostAddress: string;
}

/** The value of a `fieldRef`, as the downward API gives it. */
export function fieldValue(pod: RunnablePod, place: PodPlace, fieldPath: string): string {
  const { metadata, spec } = pod;
  const entry = /^metadata\.(labels|annotations)\['(.+)'\]$/.exec(fieldPath);
  if (entry) return metadata[entry[1] as 'labels' | 'annotations']?.[entry[2]!] ?? '';
  switch (fieldPath) {
    case 'metadata.name':
    case 'metadata.namespace':
    case 'metadata.uid':
      return metadata[fieldPath.slice('metadata.'.length) as 'name' | 'namespace' | 'uid'];
    case 'metadata.labels':
    case 'metadata.annotations':
      return lines(metadata[fieldPath.slice('metadata.'.length) as 'labels' | 'annotations']);
    case 'spec.nodeName':
      return spec.nodeName ?? '';
    case 'spec.serviceAccountName':
      return spec.serviceAccountName ?? '';
    case 'status.podIP':
    case 'status.podIPs':
      return place.podAddress;
    case 'status.hostIP':
    case 'status.hostIPs':
      return place.hostAddress;
    default:
      throw new Error(`the field ${fieldPath} cannot be given to a container`);
  }
}

function lines(entries: Record<string, string> = {}): string {
  return Object.keys(entries)
    .toSorted()
    .map((key) => `${key}=${JSON.stringify(entries[key])}`)
    .join('\n');
}
