import {
  diffManifests,
  fromPlain,
  loadChart,
  manifestText,
  renderChart,
  writeYaml,
  type ObjectDifference,
} from '@slipway/charts';
import { isNotFound, isUnknownKind, type DeepReadonly, type KubeObject } from '@slipway/kube';
import { keyOfRef, orderInWaves, parseManifests, refOf } from '@slipway/manifests';
import { parse } from 'yaml';

import { Application, type Source } from '../argo/application.ts';
import { names } from '../names.ts';
import { applicationName } from '../platform/applications.ts';
import { initHelmfile, type PlatformRelease } from '../platform/helmfile.ts';
import type { Platform } from '../platform/platform.ts';
import { valueAt } from '../values/tree.ts';

/** What would change in one part of a platform. */
export interface PartDifference {
  /** `essential`, or the name of the Application. */
  readonly part: string;
  readonly action: 'install' | 'upgrade' | 'uninstall';
  readonly objects: readonly ObjectDifference[];
}

/** What applying the values in a folder would change. Writes nothing. */
export async function platformDiff(platform: Platform): Promise<PartDifference[]> {
  const essential = await essentialDifference(platform);
  const releases = await platform.helmfile.list();
  const values = await platform.helmfile.writeValues();
  const parts: PartDifference[] =
    essential.length === 0 ? [] : [{ part: 'essential', action: 'upgrade', objects: essential }];
  for (const release of releases) {
    const part = await releaseDifference(platform, release, values.get(applicationName(release)) ?? '');
    if (part) parts.push(part);
  }
  return parts;
}

/** The objects everything else lives in, as the server would have them: asked with a dry run. */
async function essentialDifference({ helmfile, client, signal }: Platform): Promise<ObjectDifference[]> {
  const text = await helmfile.template({ file: initHelmfile, signal });
  const objects = orderInWaves(parseManifests(text, { source: initHelmfile })).flatMap((wave) => wave.objects);
  const differences: ObjectDifference[] = [];
  for (const object of objects) {
    const kind = await client.resolve(object.apiVersion, object.kind, { signal });
    const live = await client.get(kind, keyOfRef(refOf(object)), { signal });
    const options = { fieldManager: names.fieldManager, force: true, dryRun: true, signal };
    const after = await client.apply(object, options).catch((error: unknown) => {
      // In a namespace that would come first.
      if (!isNotFound(error)) throw error;
      return object;
    });
    const namespace = object.metadata.namespace ?? '';
    differences.push(...diffManifests(live ? shown(live) : '', shown(after), namespace));
  }
  return differences;
}

/** An object without what the server keeps for itself. */
function shown(object: DeepReadonly<KubeObject>): string {
  const { status: _status, ...rest } = object;
  const {
    managedFields: _fields,
    resourceVersion: _version,
    uid: _uid,
    generation: _generation,
    creationTimestamp: _created,
    ...metadata
  } = object.metadata;
  return writeYaml(fromPlain({ ...rest, metadata }));
}

/** A release as its Application has it, beside what the values would make of it; both with the charts of the platform at hand. */
async function releaseDifference(
  platform: Platform,
  release: PlatformRelease,
  values: string,
): Promise<PartDifference | undefined> {
  const part = applicationName(release);
  const present = await presentValues(platform, part);
  if (present === undefined && !release.installed) return undefined;
  const before = present === undefined ? '' : await rendered(platform, release, present);
  const after = release.installed ? await rendered(platform, release, values) : '';
  const objects = diffManifests(before, after, release.namespace);
  if (!release.installed) return { part, action: 'uninstall', objects };
  if (present === undefined) return { part, action: 'install', objects };
  return objects.length === 0 ? undefined : { part, action: 'upgrade', objects };
}

async function presentValues({ client, signal }: Platform, name: string): Promise<string | undefined> {
  try {
    const application = await client.get(Application, { namespace: names.argoNamespace, name }, { signal });
    if (!application || application.metadata.deletionTimestamp !== undefined) return undefined;
    return (valueAt(application.spec, ['source']) as Source | undefined)?.helm?.values ?? '';
  } catch (error) {
    if (isUnknownKind(error)) return undefined;
    throw error;
  }
}

async function rendered(
  { root }: Platform,
  { name, namespace, chart }: PlatformRelease,
  values: string,
): Promise<string> {
  const found = await renderChart(await loadChart(root.path(chart.replace(/^(\.\.?\/)+/, ''))), {
    values: (parse(values) as Record<string, unknown> | null) ?? {},
    release: { name, namespace },
  });
  return [manifestText(found), ...found.hooks.map(({ content }) => `---\n${content}\n`)].join('');
}
