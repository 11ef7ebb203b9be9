import {
  type Chart,
  type Release,
  type ReleaseContext,
  ReleaseError,
  ReleaseStorage,
  uninstallRelease,
  upgradeRelease,
} from '@slipway/charts';
import { jsonEqual, type KubeObject } from '@slipway/kube';
import { healthOf, parseManifests } from '@slipway/manifests';

import { ComponentError } from '../component/component-error.ts';
import type { Part } from './parts.ts';
import type { PartRecord } from './part-record.ts';

/** A chart of the catalogue, and how it is installed. */
export interface CataloguedChart {
  readonly chart: Chart;
  readonly namespace: string;
  readonly values: Readonly<Record<string, unknown>>;
}

type ReleaseName = NonNullable<PartRecord['release']>;

/** Helm keeps ten by default; here nobody rolls back by hand. */
const keptRevisions = 3;
/** A worker waits no longer than that for objects to go; it looks again later. */
const patienceMs = 10_000;

export function releaseNameOf(part: Part, { namespace }: CataloguedChart): ReleaseName {
  return { name: part.toLowerCase(), namespace };
}

/** Brings a release to this chart and these values. Answers what it waits for. */
export async function installChart(
  context: ReleaseContext,
  part: Part,
  catalogued: CataloguedChart,
): Promise<string | undefined> {
  const { chart, values } = catalogued;
  const { name, namespace } = releaseNameOf(part, catalogued);
  const history = await new ReleaseStorage(context.client, () => context.clock.now()).history(namespace, name);
  const last = history.at(-1)?.release;
  const options = { name, namespace, values, install: true, createNamespace: true, historyMax: keptRevisions } as const;
  const release = isCurrent(last, catalogued) ? last! : await told(part, () => upgradeRelease(context, chart, options));
  return await unhealthyText(context, release);
}

/** Takes a release away. Answers what it waits for. */
export async function uninstallChart(
  context: ReleaseContext,
  part: Part,
  { name, namespace }: ReleaseName,
): Promise<string | undefined> {
  try {
    await uninstallRelease(context, { name, namespace, ignoreNotFound: true, wait: true, timeoutMs: patienceMs });
    return undefined;
  } catch (error) {
    if (error instanceof ReleaseError && error.code === 'TimedOut') return error.message;
    throw new ComponentError('COCoreClusterInteractionProblem', `${part} could not be removed: ${textOf(error)}`, {
      cause: error,
    });
  }
}

function isCurrent(last: Release | undefined, { chart, values }: CataloguedChart): boolean {
  if (last?.status !== 'deployed') return false;
  const { name, version } = last.chart.metadata;
  return name === chart.metadata.name && version === chart.metadata.version && jsonEqual(last.config, values);
}

async function told<T>(part: Part, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const message = `${part} could not be installed: ${textOf(error)}`;
    throw new ComponentError('COCoreClusterInteractionProblem', message, { cause: error });
  }
}

/** The first object of a release that is not as it should be, in words. */
async function unhealthyText({ client }: ReleaseContext, release: Release): Promise<string | undefined> {
  for (const object of parseManifests(release.manifest)) {
    const kind = await client.resolve(object.apiVersion, object.kind);
    const { name, namespace = release.namespace } = object.metadata;
    const place = kind.scope === 'Namespaced' ? { name: name!, namespace } : { name: name! };
    const present = (await client.get(kind, place)) as KubeObject | undefined;
    const health = present === undefined ? undefined : healthOf(present);
    if (health?.status !== 'Current') return `${object.kind} ${name}: ${health?.message ?? 'it is missing'}`;
  }
  return undefined;
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
