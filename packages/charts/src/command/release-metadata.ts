import type { Release } from '../release/release.ts';
import { recordedTimeText, rfc3339Layout } from './recorded-time.ts';

/** What `helm get metadata` has, in its order. */
export function releaseMetadata(release: Release): Readonly<Record<string, unknown>> {
  const { metadata } = release.chart;
  const annotations = metadata['annotations'] as Readonly<Record<string, string>> | undefined;
  const dependencies = metadata['dependencies'] as readonly { readonly name: string }[] | undefined;
  return {
    name: release.name,
    chart: metadata.name,
    version: metadata.version,
    appVersion: metadata.appVersion ?? '',
    ...(annotations && Object.keys(annotations).length > 0 ? { annotations } : {}),
    ...(Object.keys(release.labels).length > 0 ? { labels: release.labels } : {}),
    ...(dependencies && dependencies.length > 0 ? { dependencies } : {}),
    namespace: release.namespace,
    revision: release.revision,
    status: release.status,
    deployedAt: recordedTimeText(release.lastDeployed, rfc3339Layout),
    applyMethod: release.applyMethod,
  };
}

export function releaseMetadataText(release: Release): string {
  const { metadata } = release.chart;
  const dependencies = (metadata['dependencies'] ?? []) as readonly { readonly name: string }[];
  return [
    `NAME: ${release.name}`,
    `CHART: ${metadata.name}`,
    `VERSION: ${metadata.version}`,
    `APP_VERSION: ${metadata.appVersion ?? ''}`,
    `ANNOTATIONS: ${pairs((metadata['annotations'] ?? {}) as Readonly<Record<string, string>>)}`,
    `LABELS: ${pairs(release.labels)}`,
    `DEPENDENCIES: ${dependencies
      .map(({ name }) => name)
      .sort()
      .join(',')}`,
    `NAMESPACE: ${release.namespace}`,
    `REVISION: ${release.revision}`,
    `STATUS: ${release.status}`,
    `DEPLOYED_AT: ${recordedTimeText(release.lastDeployed, rfc3339Layout)}`,
    `APPLY_METHOD: ${release.applyMethod === 'ssa' ? 'server-side apply' : 'client-side apply'}`,
    '',
  ].join('\n');
}

function pairs(texts: Readonly<Record<string, string>>): string {
  return Object.entries(texts)
    .map(([key, value]) => `${key}=${value}`)
    .sort()
    .join(',');
}
