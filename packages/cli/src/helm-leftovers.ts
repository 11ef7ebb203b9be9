import { CommandError, CustomResourceDefinition, Secret, type Client } from '@slipway/kube';

const releaseName = 'meta.helm.sh/release-name';
const releaseNamespace = 'meta.helm.sh/release-namespace';

/** A definition that says it belongs to a Helm release. */
interface HelmDefinition {
  readonly name: string;
  readonly release: string;
  readonly namespace: string;
}

/**
 * Definitions outlive the chart that brought them (`crds.keep`). Without `adopt` they are an error that says so; with it the
 * marks of Helm come off, unless the release is still there.
 */
export async function handleHelmDefinitions(
  client: Client,
  names: readonly string[],
  adopt: boolean,
  signal: AbortSignal,
): Promise<string[]> {
  const kept: HelmDefinition[] = [];
  for (const name of names) {
    const { metadata } = (await client.get(CustomResourceDefinition, { name }, { signal })) ?? {};
    const release = metadata?.annotations?.[releaseName];
    if (release !== undefined)
      kept.push({ name, release, namespace: metadata?.annotations?.[releaseNamespace] ?? 'default' });
  }
  for (const definition of kept) await refuseLivingRelease(client, definition, signal);
  if (kept.length > 0 && !adopt)
    throw new CommandError(
      `Helm release ${kept[0]!.release} is gone and has left ${kept.map(({ name }) => name).join(', ')} behind`,
      { hint: '--adopt takes them over, with all objects of their kinds' },
    );
  for (const { name } of kept) await unmark(client, name, signal);
  return kept.map(({ name }) => name);
}

async function refuseLivingRelease(
  client: Client,
  { name, release, namespace }: HelmDefinition,
  signal: AbortSignal,
): Promise<void> {
  const labelSelector = `owner=helm,name=${release}`;
  for await (const _release of client.list(Secret, { namespace, labelSelector, signal }))
    throw new CommandError(`${name} belongs to Helm release ${release} in namespace ${namespace}`, {
      hint: `go on with helm, or helm uninstall ${release} -n ${namespace} first: crds.keep leaves definitions and objects`,
    });
}

async function unmark(client: Client, name: string, signal: AbortSignal): Promise<void> {
  const gone = null;
  const metadata = {
    annotations: { [releaseName]: gone, [releaseNamespace]: gone, 'helm.sh/resource-policy': gone },
    labels: { 'app.kubernetes.io/managed-by': gone },
  };
  await client.patch(CustomResourceDefinition, { name }, { type: 'merge', body: { metadata } }, { signal });
}
