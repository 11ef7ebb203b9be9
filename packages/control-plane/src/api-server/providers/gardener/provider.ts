import { type DeepReadonly, isAlreadyExists, jsonEqual, type KubeObject, type ObjectKey, seconds } from '@slipway/kube';

import { backReferences } from '../../../back-references.ts';
import { ComponentError } from '../../../component/component-error.ts';
import type { ComponentContext } from '../../../component/define-component.ts';
import type { ComponentClient } from '../../../component/guarded-client.ts';
import { type CoreCluster, onboardingCluster } from '../../../core-cluster.ts';
import type { ApiServerProvider, ProvidedApiServer } from '../../provider.ts';
import { desiredShoot, type GardenerConfig, Shoot } from './shoot.ts';

/** Gets a short-lived administrator's kubeconfig of a shoot: the one call that is more than reading and writing objects. */
export type AdminKubeconfigIssuer = (shoot: ObjectKey) => Promise<string>;

export interface GardenerOptions {
  readonly config: GardenerConfig;
  readonly adminKubeconfig: AdminKubeconfigIssuer;
  /** The virtual garden cluster. Default: the onboarding cluster. */
  readonly garden?: CoreCluster;
}

const pollMs = seconds(60);

/** API servers that are shoots of a Gardener. */
export function gardenerProvider({
  config,
  adminKubeconfig,
  garden = onboardingCluster,
}: GardenerOptions): ApiServerProvider {
  return {
    name: 'gardener',
    async ensure(context) {
      const client = await garden(context);
      const present = await findShoot(context, client, config);
      const wanted = desiredShoot(context.component, present, config);
      const shoot = await writeShoot(client, present, wanted);
      const status = { gardener: { shoot: manifestOf(shoot) } };
      const problem = shootProblem(shoot);
      if (problem) {
        return { ready: false, reason: 'WaitingForGardenerShoot', message: problem, requeueAfterMs: pollMs, status };
      }
      const bootstrapKubeconfig = await adminKubeconfig(keyOf(shoot));
      return { ready: true, bootstrapKubeconfig, status, ...addresses(shoot) };
    },
    async remove(context) {
      const client = await garden(context);
      const present = await findShoot(context, client, config);
      if (present === undefined) return undefined;
      if (present.metadata.annotations?.[confirmation] !== 'true') {
        const body = { metadata: { uid: present.metadata.uid, annotations: { [confirmation]: 'true' } } };
        await client.patch(Shoot, keyOf(present), { type: 'merge', body });
      }
      await client.delete(Shoot, keyOf(present), { preconditions: { uid: present.metadata.uid } });
      const left = await client.get(Shoot, keyOf(present));
      if (left === undefined) return undefined;
      return {
        reason: 'WaitingForGardenerShoot',
        message: lastOperation(left) || 'the shoot is being deleted',
        requeueAfterMs: pollMs,
      };
    },
  };
}

const confirmation = 'confirmation.gardener.cloud/deletion';

/** The shoot as the status remembers it, or by its labels. */
async function findShoot(
  context: ComponentContext<'APIServer'>,
  client: ComponentClient,
  config: GardenerConfig,
): Promise<KubeObject | undefined> {
  const remembered = context.component.status?.gardener?.shoot as DeepReadonly<KubeObject> | undefined;
  if (remembered?.metadata?.name) {
    const { name, namespace } = remembered.metadata;
    const found = await client.get(Shoot, { name, namespace });
    // A name can be used again by somebody else.
    if (found && isOurs(found, context.key)) return found as KubeObject;
  }
  const found: KubeObject[] = [];
  const scope = { namespace: config.projectNamespace, labelSelector: backReferences(context.key) };
  for await (const shoot of client.list(Shoot, scope)) found.push(shoot as KubeObject);
  if (found.length > 1) {
    throw new ComponentError(
      'ShootIdentificationNotPossible',
      `there are ${found.length} shoots for this control plane: ${found.map(({ metadata }) => metadata.name).join(', ')}; remove all but one`,
    );
  }
  if (found.length > 0) return found[0];
  // Whoever runs the landscape has named one that is to be taken over.
  const overwrite = context.component.spec.internal?.gardener?.shootOverwrite;
  return overwrite && ((await client.get(Shoot, overwrite)) as KubeObject | undefined);
}

function isOurs({ metadata }: DeepReadonly<Pick<KubeObject, 'metadata'>>, key: ObjectKey): boolean {
  return Object.entries(backReferences(key)).every(([name, value]) => metadata.labels?.[name] === value);
}

async function writeShoot(
  client: ComponentClient,
  present: KubeObject | undefined,
  wanted: KubeObject,
): Promise<KubeObject> {
  if (present === undefined) {
    return await client.create(wanted).catch((error: unknown) => {
      if (!isAlreadyExists(error)) throw error;
      throw new ComponentError(
        'ShootIdentificationNotPossible',
        `the shoot ${wanted.metadata.name} is there already and belongs to somebody else; name it in shootOverwrite if it is to be taken over, or remove it`,
      );
    });
  }
  const judged = ({ metadata, ...rest }: KubeObject): unknown => [rest['spec'], metadata.labels, metadata.annotations];
  if (jsonEqual(judged(present), judged(wanted))) return present;
  return await client.update(wanted);
}

function keyOf({ metadata }: KubeObject): ObjectKey {
  return { name: metadata.name!, namespace: metadata.namespace };
}

interface ShootStatus {
  readonly observedGeneration?: number;
  readonly conditions?: readonly { readonly type: string; readonly status: string }[];
  readonly lastOperation?: { readonly type?: string; readonly state?: string; readonly description?: string };
  readonly advertisedAddresses?: readonly { readonly name: string; readonly url: string }[];
}

const statusOf = (shoot: KubeObject): ShootStatus => (shoot['status'] ?? {}) as ShootStatus;

/** Why the shoot is not ready; undefined when it is. */
function shootProblem(shoot: KubeObject): string | undefined {
  const { observedGeneration, conditions = [] } = statusOf(shoot);
  const unhappy = conditions.filter(({ status }) => status !== 'True').map(({ type }) => type);
  const cause =
    observedGeneration !== shoot.metadata.generation
      ? 'The observed generation of the shoot is not its generation.'
      : conditions.length === 0
        ? 'Shoot is missing conditions.'
        : unhappy.length > 0
          ? `The following shoot conditions are not satisfied: ${unhappy.join(', ')}`
          : undefined;
  return cause && [lastOperation(shoot), cause].filter(Boolean).join('\n');
}

function lastOperation(shoot: KubeObject): string {
  const { type = '', state = '', description = '' } = statusOf(shoot).lastOperation ?? {};
  return type ? `[${type}: ${state}] ${description}` : '';
}

function addresses(shoot: KubeObject): Pick<ProvidedApiServer & { ready: true }, 'endpoint' | 'serviceAccountIssuer'> {
  const { advertisedAddresses = [] } = statusOf(shoot);
  const urlOf = (name: string): string | undefined => advertisedAddresses.find((address) => address.name === name)?.url;
  return { endpoint: urlOf('external'), serviceAccountIssuer: urlOf('service-account-issuer') };
}

/** What was asked for, without what the garden adds. */
function manifestOf({ apiVersion, kind, metadata, ...rest }: KubeObject): Record<string, unknown> {
  const { name, namespace, labels, annotations, uid } = metadata;
  return { apiVersion, kind, metadata: { name, namespace, labels, annotations, uid }, spec: rest['spec'] };
}
