/** The informer of `@kubernetes/client-node` with the same reconciliation behind its handlers. It has no queue, so changes are not merged. */
import {
  KubeConfig,
  makeInformer,
  setHeaderOptions,
  CoreV1Api,
  CustomObjectsApi,
  type KubernetesListObject,
  type KubernetesObject,
} from '@kubernetes/client-node';

import { revisionAnnotation } from '../templates.ts';
import { LoopDelay } from './loop-delay.ts';
import { say, subjectSettings } from './settings.ts';

const { url, ca, kind, objects } = subjectSettings();
let reconciles = 0;

const loopDelay = new LoopDelay();

const config = new KubeConfig();
config.loadFromClusterAndUser(
  { name: 'bench', server: url, caData: Buffer.from(ca).toString('base64'), skipTLSVerify: false },
  { name: 'bench' },
);
const core = config.makeApiClient(CoreV1Api);
const custom = config.makeApiClient(CustomObjectsApi);
const website = { group: 'example.com', version: 'v1', plural: 'websites' };
type Listed = KubernetesListObject<KubernetesObject>;
const informer =
  kind === 'pod'
    ? makeInformer<KubernetesObject>(config, '/api/v1/pods', () => core.listPodForAllNamespaces() as Promise<Listed>)
    : makeInformer<KubernetesObject>(
        config,
        '/apis/example.com/v1/websites',
        () => custom.listClusterCustomObject(website) as Promise<Listed>,
      );

async function reconcile({ metadata }: KubernetesObject): Promise<void> {
  reconciles += 1;
  if (reconciles === objects) say('reconciled');
  const { name = '', namespace = '' } = metadata ?? {};
  const object = informer.get(name, namespace) as
    | { metadata?: KubernetesObject['metadata']; spec?: { revision?: string }; status?: { message?: string } }
    | undefined;
  const revision = kind === 'pod' ? object?.metadata?.annotations?.[revisionAnnotation] : object?.spec?.revision;
  if (!object || revision === object.status?.message) return;
  const body = { status: { message: revision } };
  const merge = setHeaderOptions('Content-Type', 'application/merge-patch+json');
  if (kind === 'pod') await core.patchNamespacedPodStatus({ name, namespace, body }, merge);
  else await custom.patchNamespacedCustomObjectStatus({ ...website, name, namespace, body }, merge);
}

const handle = (object: KubernetesObject) => void reconcile(object);
informer.on('add', handle);
informer.on('update', handle);
loopDelay.start();
await informer.start();
say('synced', { delayMs: await loopDelay.longestMs() });
process.on('SIGTERM', () => {
  say('end', { reconciles });
  process.exit(0);
});
