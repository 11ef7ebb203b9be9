import { problemText, toStructuralSchema, validateValue } from '@slipway/kube';

import { ApplicationSpec, Operation } from '../argo/application-spec.ts';
import type { Application, AskedOperation, Source, Spec } from '../argo/application.ts';
import { SourceError } from './source/source-error.ts';

/** An Application's wishes, checked. */
export interface ReadSpec extends Spec {
  /** Of `source` or `sources`, whichever there is. */
  readonly allSources: readonly Source[];
  readonly namespace: string;
  /** What somebody asked for, besides what the policy does by itself. */
  readonly asked: AskedOperation | undefined;
}

const specSchema = toStructuralSchema(ApplicationSpec, 'spec');
const operationSchema = toStructuralSchema(Operation, 'operation');
const thisCluster = new Set(['https://kubernetes.default.svc', 'https://kubernetes.default.svc.cluster.local']);

/** Reads what an Application asks for; what we cannot do is refused with the field and what to do instead. */
export function readSpec(application: Application): ReadSpec {
  const { spec, operation } = application;
  const problems = [
    ...validateValue(spec ?? {}, specSchema, 'spec'),
    ...(operation === undefined ? [] : validateValue(operation, operationSchema, 'operation')),
  ];
  if (problems.length > 0) throw new SourceError('InvalidSpec', problemText(problems));
  const checked = spec as Spec;
  const { server, name, namespace = '' } = checked.destination;
  if (server === undefined ? name !== 'in-cluster' : !thisCluster.has(server))
    refuse('spec.destination', 'only this cluster is synchronized, https://kubernetes.default.svc');
  const allSources = checked.sources && checked.sources.length > 0 ? checked.sources : [checked.source];
  for (const source of allSources) checkSource(source);
  return { ...checked, allSources: allSources as Source[], namespace, asked: operation as AskedOperation | undefined };
}

function checkSource(source: Source | undefined): void {
  if (!source) refuse('spec.source', 'is required');
  const { repoURL, chart, path, ref, kustomize, plugin, directory } = source;
  const url = URL.parse(repoURL);
  if (!url || !/^https?:$/.test(url.protocol))
    refuse('repoURL', 'must be the http or https address of a Git repository');
  if (url.username !== '' || url.password !== '')
    refuse(
      'repoURL',
      'must not hold credentials; put them into a Secret with the label argocd.argoproj.io/secret-type',
    );
  if (chart) refuse('chart', 'charts come from Git here; give path');
  if (path === undefined) refuse('path', 'is required');
  if (ref) refuse('ref', 'values from another source are not supported');
  if (kustomize !== undefined || plugin !== undefined || directory?.jsonnet !== undefined)
    refuse('source', 'only Helm charts and plain files are supported');
}

function refuse(field: string, why: string): never {
  throw new SourceError('InvalidSpec', `${field}: ${why}`);
}
