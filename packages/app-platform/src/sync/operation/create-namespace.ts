import { Namespace } from '@slipway/kube';

import type { ReadSpec } from '../read-spec.ts';
import { fieldManager, type SyncRun } from '../run.ts';

/** Makes the Application's namespace where it asks for it. It is no member: it stays when the Application goes. */
export async function createNamespace({ client, context, name: application }: SyncRun, spec: ReadSpec): Promise<void> {
  const { managedNamespaceMetadata: wanted } = spec.syncPolicy ?? {};
  const { namespace: name } = spec;
  if (name === '' || spec.options.get('CreateNamespace') !== 'true') return;
  const { signal } = context;
  if (!wanted && (await client.get(Namespace, { name }, { signal }))) return;
  const { labels, annotations } = wanted ?? {};
  await client.apply(
    {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name, ...(labels ? { labels } : {}), ...(annotations ? { annotations } : {}) },
    },
    // Several Applications may share it: each owns what it says.
    { fieldManager: `${fieldManager}-${application}`.slice(0, 128), force: true, signal },
  );
}
