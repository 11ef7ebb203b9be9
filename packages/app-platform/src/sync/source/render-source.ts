import type { KubeObject } from '@slipway/kube';

import type { Source } from '../../argo/application.ts';
import { Checkout } from './checkout.ts';
import { renderDirectory } from './render-directory.ts';
import { renderHelm, type HelmContext } from './render-helm.ts';
import { SourceError } from './source-error.ts';

export interface RenderedSource {
  readonly type: 'Helm' | 'Directory';
  readonly objects: readonly KubeObject[];
}

/** What a source wants on the cluster: a folder with a chart is rendered, any other is read as it is. */
export async function renderSource(directory: string, source: Source, context: HelmContext): Promise<RenderedSource> {
  const checkout = new Checkout(directory);
  const has = async (file: string) => (await checkout.find(`${source.path ?? '.'}/${file}`)) !== undefined;
  if (source.directory === undefined && (source.helm !== undefined || (await has('Chart.yaml'))))
    return { type: 'Helm', objects: await renderHelm(checkout, source, context) };
  if (await has('kustomization.yaml'))
    throw new SourceError('InvalidSource', `${source.path}: Kustomize is not supported; use a chart or plain files`);
  return { type: 'Directory', objects: await renderDirectory(checkout, source) };
}
