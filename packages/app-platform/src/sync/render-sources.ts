import { capabilitiesOf } from '@slipway/charts';
import type { KubeObject } from '@slipway/kube';

import type { Source } from '../argo/application.ts';
import { argo } from '../argo/words.ts';
import type { ReadSpec } from './read-spec.ts';
import type { SyncRun } from './run.ts';
import { Checkout } from './source/checkout.ts';
import type { ResolvedRevision } from './source/git-revision.ts';
import { renderSource, type RenderedSource } from './source/render-source.ts';
import { credentialsFor } from './source/source-credentials.ts';

/** Of a source; empty for one that others only take values from. */
export type SourceType = 'Helm' | 'Directory' | '';

export interface RenderedSpec {
  /** Of all sources together. */
  readonly objects: readonly KubeObject[];
  /** Of each source. */
  readonly commits: readonly string[];
  readonly types: readonly SourceType[];
}

/** A source whose commit is known. */
interface ResolvedSource {
  readonly source: Source;
  readonly revision: ResolvedRevision;
  /** Runs `work` over its files. */
  readonly use: <T>(work: (directory: string) => Promise<T>) => Promise<T>;
}

/** Fetches the sources of an Application and renders them. */
export async function renderSources(run: SyncRun, spec: ReadSpec): Promise<RenderedSpec> {
  const capabilities = await capabilitiesOf(run.client);
  const resolved: ResolvedSource[] = [];
  for (const source of spec.allSources) resolved.push(await resolveSource(run, source));
  const objects: KubeObject[] = [];
  const types: SourceType[] = [];
  for (const own of resolved) {
    if (isOnlyReferred(own.source)) {
      types.push('');
      continue;
    }
    const rendered = await renderOne(run, spec, own, resolved, capabilities);
    objects.push(...rendered.objects);
    types.push(rendered.type);
  }
  return { objects, commits: resolved.map(({ revision }) => revision.commit), types };
}

async function resolveSource({ client, context, memory, settings }: SyncRun, source: Source): Promise<ResolvedSource> {
  const { signal } = context;
  const { repoURL, targetRevision = '' } = source;
  const credentials = () => credentialsFor(client, repoURL, settings.repoUrl, signal);
  const revision = await memory.sources.resolve(repoURL, targetRevision, credentials, signal);
  return { source, revision, use: (work) => memory.sources.use(repoURL, revision, credentials, signal, work) };
}

async function renderOne(
  { memory, name, application }: SyncRun,
  { namespace }: ReadSpec,
  { source, revision, use }: ResolvedSource,
  all: readonly ResolvedSource[],
  capabilities: Awaited<ReturnType<typeof capabilitiesOf>>,
): Promise<RenderedSource> {
  const release = { name, namespace };
  const referred = all.filter(({ source: { ref } }) => ref !== undefined && takesValuesFrom(source, ref));
  const input = {
    commit: revision.commit,
    source,
    release,
    capabilities,
    referred: referred.map((other) => `${other.source.ref} ${other.revision.commit}`),
  };
  const isFresh = application.metadata.annotations?.[argo.refresh] === 'hard';
  return await memory.rendered.of(input, isFresh, () =>
    use((directory) =>
      withReferred(referred, new Map(), (refs) =>
        renderSource(directory, source, { release, capabilities, cache: memory.rendered.charts, refs }),
      ),
    ),
  );
}

/** It brings values for others and nothing of its own. */
function isOnlyReferred({ ref, path }: Source): boolean {
  return Boolean(ref) && path === undefined;
}

function takesValuesFrom({ helm }: Source, ref: string): boolean {
  const files = [...(helm?.valueFiles ?? []), ...(helm?.fileParameters ?? []).map(({ path }) => path)];
  return files.some((file) => file.startsWith(`$${ref}/`));
}

/** Runs `work` over the files of the sources that another one takes values from, by their names. */
async function withReferred<T>(
  [next, ...others]: readonly ResolvedSource[],
  refs: ReadonlyMap<string, Checkout>,
  work: (refs: ReadonlyMap<string, Checkout>) => Promise<T>,
): Promise<T> {
  if (!next) return await work(refs);
  return await next.use((directory) =>
    withReferred(others, new Map([...refs, [next.source.ref!, new Checkout(directory)]]), work),
  );
}
