import { problemText, toStructuralSchema, validateValue } from '@slipway/kube';

import { ApplicationSpec } from '../argo/application-spec.ts';
import type { Application, Source, Spec } from '../argo/application.ts';
import { readOperation, type ReadOperation } from './read-operation.ts';
import { SourceError } from './source/source-error.ts';
import { readSyncOptions, type SyncOptions } from './sync-options.ts';

/** An Application's wishes, checked. */
export interface ReadSpec extends Spec {
  /** Of `source` or `sources`, whichever there is. */
  readonly allSources: readonly Source[];
  readonly namespace: string;
  /** Those of the Application, for all its objects. */
  readonly options: SyncOptions;
  /** What somebody asked for, besides what the policy does by itself. */
  readonly operation: ReadOperation;
}

const specSchema = toStructuralSchema(ApplicationSpec, 'spec');
const thisCluster = new Set(['https://kubernetes.default.svc', 'https://kubernetes.default.svc.cluster.local']);

/** Reads what an Application asks for; what we cannot do is refused with the field and what to do instead. */
export function readSpec(application: Application): ReadSpec {
  const { spec } = application;
  const problems = validateValue(spec ?? {}, specSchema, 'spec');
  if (problems.length > 0) throw new SourceError('InvalidSpec', problemText(problems));
  const checked = spec as Spec;
  const { project = 'default', sourceHydrator, syncPolicy } = checked;
  // What a project allows is nothing this program holds anybody to.
  if (project !== 'default' && project !== '') refuse('spec.project', "only 'default' is known without Argo CD");
  if (sourceHydrator !== undefined) refuse('spec.sourceHydrator', 'needs Argo CD; use source');
  const { server, name, namespace = '' } = checked.destination;
  if (server !== undefined && name !== undefined && server !== '' && name !== '')
    refuse('spec.destination', 'cannot have both a server and a name');
  if (server === undefined ? name !== 'in-cluster' : !thisCluster.has(server))
    refuse('spec.destination', 'only this cluster is synchronized, https://kubernetes.default.svc');
  const { source, sources = [] } = checked;
  if (sources.length === 0 && source?.ref) refuse('ref', 'is for one of several sources; put it into spec.sources');
  const allSources = sources.length > 0 ? sources : [source];
  for (const each of allSources) checkSource(each);
  refuseDuplicateRefs(sources);
  return {
    ...checked,
    allSources: allSources as Source[],
    namespace,
    options: readSyncOptions(syncPolicy?.syncOptions, 'spec.syncPolicy.syncOptions'),
    operation: readOperation(application.operation),
  };
}

function checkSource(source: Source | undefined): void {
  if (!source) refuse('spec.source', 'is required');
  const { repoURL, chart, path, ref, kustomize, plugin, directory, helm } = source;
  const url = URL.parse(repoURL);
  if (!url || !/^https?:$/.test(url.protocol))
    refuse('repoURL', 'must be the http or https address of a Git repository');
  if (url.username !== '' || url.password !== '')
    refuse(
      'repoURL',
      'must not hold credentials; put them into a Secret with the label argocd.argoproj.io/secret-type',
    );
  if (chart) refuse('chart', 'charts come from Git here; give path');
  if (ref && !/^[\w-]+$/.test(ref)) refuse('ref', 'must be letters, digits, hyphens and underscores');
  if (path === undefined && !ref) refuse('path', 'is required');
  if (kustomize !== undefined || plugin !== undefined || directory?.jsonnet !== undefined)
    refuse('source', 'only Helm charts and plain files are supported');
  if (helm?.version !== undefined && !['', 'v3'].includes(helm.version))
    refuse('helm.version', `'${helm.version}' is not supported; leave it out`);
  if (helm?.passCredentials) refuse('helm.passCredentials', 'charts come from Git here; leave it out');
}

/** `$name/…` has to mean one of them. */
function refuseDuplicateRefs(sources: readonly Source[]): void {
  const refs = sources.flatMap(({ ref }) => ref ?? []);
  const twice = refs.find((ref, index) => refs.indexOf(ref) !== index);
  if (twice !== undefined) refuse('ref', `'${twice}' is there twice; each source has its own`);
}

function refuse(field: string, why: string): never {
  throw new SourceError('InvalidSpec', `${field}: ${why}`);
}
