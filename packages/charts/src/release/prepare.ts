import type { Chart } from '../chart/chart.ts';
import { fromPlain, toPlain } from '../go/values.ts';
import { renderChart, type RenderedChart, type UserValues } from '../render/render.ts';
import { manifestText } from '../render/template-output.ts';
import { capabilitiesOf, lookupIn } from './capabilities-of-cluster.ts';
import type { Operation } from './operation.ts';
import { recordedChart } from './recorded-chart.ts';
import type { Release, ReleaseHook } from './release.ts';

export interface PrepareInput {
  readonly chart: Chart;
  readonly name: string;
  readonly namespace: string;
  readonly values: UserValues;
  readonly revision: number;
  /** The revision templates see. Default: the same. */
  readonly shownRevision?: number;
  readonly isUpgrade: boolean;
  readonly labels: Readonly<Record<string, string>>;
  readonly firstDeployed?: string;
  readonly skipSchemaValidation?: boolean;
  readonly subNotes?: boolean;
}

/** Renders a chart against the cluster and makes the record of a new revision from it. Nothing is written. */
export async function prepareRelease(
  operation: Operation,
  input: PrepareInput,
  { looksUp = true }: { readonly looksUp?: boolean } = {},
): Promise<{ release: Release; rendered: RenderedChart }> {
  const { chart, name, namespace, values, revision, isUpgrade } = input;
  const rendered = await renderChart(chart, {
    values,
    release: { name, namespace, revision: input.shownRevision ?? revision, isInstall: !isUpgrade, isUpgrade },
    capabilities: await capabilitiesOf(operation.client),
    ...(looksUp ? { lookup: lookupIn(operation.client) } : {}),
    clock: operation.context.clock,
    timeZone: operation.context.timeZone,
    skipSchemaValidation: input.skipSchemaValidation,
    subNotes: input.subNotes,
  });
  return { release: newRevision(input, rendered, operation.now()), rendered };
}

/** The record of a revision that is about to be made of a rendered chart. */
export function newRevision(
  { chart, name, namespace, values, revision, isUpgrade, labels, firstDeployed }: PrepareInput,
  rendered: RenderedChart,
  now: string,
): Release {
  return {
    name,
    namespace,
    revision,
    status: isUpgrade ? 'pending-upgrade' : 'pending-install',
    description: isUpgrade ? 'Preparing upgrade' : 'Initial install underway',
    notes: rendered.notes,
    firstDeployed: firstDeployed ?? now,
    lastDeployed: now,
    config: toPlain(fromPlain(values)) as Record<string, unknown>,
    manifest: manifestText(rendered),
    hooks: rendered.hooks.map((hook): ReleaseHook => ({
      name: hook.name,
      kind: hook.kind,
      path: hook.path,
      manifest: hook.content,
      events: hook.events,
      weight: hook.weight,
      deletePolicies: hook.deletePolicies,
      outputLogPolicies: hook.outputLogPolicies,
    })),
    chart: recordedChart(chart, rendered),
    applyMethod: 'ssa',
    labels,
  };
}
