import {
  ChartError,
  checkInstallable,
  collectValues,
  fromPlain,
  loadChart,
  renderChart,
  TemplateExecError,
  TemplateParseError,
  writeYaml,
  type CapabilitiesOptions,
  type RenderCache,
  type ValueSources,
} from '@slipway/charts';
import type { KubeObject } from '@slipway/kube';

import type { Source } from '../../argo/application.ts';
import type { Checkout } from './checkout.ts';
import { readObjects } from './read-objects.ts';
import { SourceError } from './source-error.ts';
import { SourceFiles } from './source-files.ts';

type Helm = NonNullable<Source['helm']>;

/** A name no file can have: the values written into the Application itself. */
const inline = '\0inline';

export interface HelmContext {
  readonly release: { readonly name: string; readonly namespace: string };
  readonly capabilities: CapabilitiesOptions;
  readonly cache: RenderCache;
  /** Sources whose files it may name, as `$ref/path`. Default: none. */
  readonly refs?: ReadonlyMap<string, Checkout>;
}

/** The objects of a chart, hooks and definitions among them, as `helm template` gives them. */
export async function renderHelm(
  checkout: Checkout,
  source: Source,
  { release, capabilities, cache, refs = new Map() }: HelmContext,
): Promise<KubeObject[]> {
  const helm: Helm = source.helm ?? {};
  const path = source.path ?? '.';
  const files = new SourceFiles(checkout, path, refs);
  try {
    const chart = await loadChart(await checkout.folder(path));
    // Without a subchart its objects would be missing, and pruned.
    checkInstallable(chart);
    const values = await collectValues(await valueSources(files, helm), async (file) =>
      file === inline ? inlineValues(helm) : await files.text(file),
    );
    const rendered = await renderChart(chart, {
      values,
      release: { name: helm.releaseName || release.name, namespace: helm.namespace || release.namespace },
      capabilities: capabilitiesFor(helm, capabilities),
      cache,
      skipSchemaValidation: helm.skipSchemaValidation ?? false,
    });
    // Tests are for `helm test`; nothing of a synchronization runs them.
    const hooks = rendered.hooks.filter(({ events }) => !events.includes('test'));
    return [
      ...(helm.skipCrds ? [] : rendered.crds.flatMap((crd) => readObjects(crd.content, crd.path))),
      ...[...rendered.manifests, ...hooks].flatMap((manifest) => readObjects(manifest.content, manifest.path)),
    ];
  } catch (error) {
    if (!isUsersFault(error)) throw error;
    throw new SourceError('InvalidSource', `${path}: ${error.message}`, { cause: error });
  }
}

/** What the Application says the cluster can do, over what it can. */
function capabilitiesFor({ kubeVersion, apiVersions }: Helm, cluster: CapabilitiesOptions): CapabilitiesOptions {
  return {
    ...cluster,
    ...(kubeVersion ? { kubeVersion } : {}),
    ...(apiVersions && apiVersions.length > 0 ? { apiVersions } : {}),
  };
}

function isUsersFault(error: unknown): error is Error {
  return [ChartError, TemplateExecError, TemplateParseError].some((type) => error instanceof type);
}

/** In Argo CD's order: files, the values in the Application, then single parameters. */
async function valueSources(sourceFiles: SourceFiles, helm: Helm): Promise<ValueSources> {
  const files: string[] = [];
  for (const file of helm.valueFiles ?? []) {
    if (/^[a-z]+:\/\//.test(file))
      throw new SourceError('InvalidSpec', `helm.valueFiles: '${file}' is no file of a repository`);
    if (!helm.ignoreMissingValueFiles || (await sourceFiles.has(file))) files.push(file);
  }
  const set = (force: boolean) =>
    (helm.parameters ?? [])
      .filter(({ forceString }) => (forceString ?? false) === force)
      .map(({ name, value = '' }) => `${name}=${escaped(value)}`);
  return {
    files: [...files, inline],
    set: set(false),
    setString: set(true),
    setFile: (helm.fileParameters ?? []).map((parameter) => `${parameter.name}=${parameter.path}`),
  };
}

function inlineValues({ values = '', valuesObject }: Helm): string {
  return valuesObject === undefined ? values : writeYaml(fromPlain(valuesObject));
}

/** A comma would end the value. One that is escaped already, or in a list, is meant so. */
function escaped(value: string): string {
  return value.startsWith('{') ? value : value.replaceAll(/(?<!\\),/g, String.raw`\,`);
}
