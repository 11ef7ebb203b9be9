import type { KubeObject } from '@slipway/kube';
import { type Health, healthOf, inParallel } from '@slipway/manifests';

import { objectText, type ReleaseObject } from './objects.ts';
import type { Operation } from './operation.ts';
import { ReleaseError } from './release-error.ts';

/**
 * Waits until all objects are as they should be, by the rules of kstatus. One that failed for good ends the wait. As with Helm, nobody waits for a Deployment
 * that is paused, nor, unless that is said, for more of a Job than its beginning.
 */
export async function waitReady(
  operation: Operation,
  objects: readonly ReleaseObject[],
  { waitForJobs = false }: { readonly waitForJobs?: boolean | undefined } = {},
): Promise<void> {
  operation.say({ type: 'phase', text: 'waiting for the objects to be ready' });
  let left = objects.filter((each) => !isPaused(each));
  await operation.until(async () => {
    const unready: Unready[] = [];
    await inParallel(left, 4, async (each) => {
      const state = await stateOf(operation, each, waitForJobs);
      if (state) unready.push({ each, ...state });
      else operation.say({ type: 'ready', object: objectText(each) });
    });
    const failed = unready.filter(({ isFinal }) => isFinal);
    if (failed.length > 0)
      throw new ReleaseError('TimedOut', failed.map(unreadyText).join('; '), {
        hint: 'it will not become ready by itself; look at the object',
      });
    left = left.filter((each) => unready.some((other) => other.each === each));
    const [first, ...others] = left.map((each) => unready.find((other) => other.each === each)!);
    if (first === undefined) return undefined;
    return { object: objectText(first.each), message: first.message, others: others.map(unreadyText) };
  });
}

interface Unready {
  readonly each: ReleaseObject;
  readonly message: string;
  /** It will not become ready by itself. */
  readonly isFinal: boolean;
}

function unreadyText({ each, message }: Unready): string {
  return `${objectText(each)}: ${message}`;
}

/** Nothing for one that is ready. */
async function stateOf(
  operation: Operation,
  each: ReleaseObject,
  waitForJobs: boolean,
): Promise<Omit<Unready, 'each'> | undefined> {
  const { name, namespace } = each.object.metadata;
  const present = (await operation.client.get(each.kind, { name: name!, namespace })) as KubeObject | undefined;
  if (present === undefined) return { message: 'it does not exist', isFinal: false };
  const health = healthOf(present);
  const isReady = health.status !== 'Terminating' && isEnough(each, present, health, waitForJobs);
  return isReady ? undefined : { message: health.message, isFinal: health.status === 'Failed' };
}

/** Whether Helm waits no longer: of some kinds it asks for less than that they are of use, and where Jobs are to complete, for more. */
function isEnough({ kind }: ReleaseObject, present: KubeObject, health: Health, waitForJobs: boolean): boolean {
  const status = (present['status'] ?? {}) as { readonly [field: string]: unknown };
  switch (`${kind.group}/${kind.kind}`) {
    case 'batch/Job':
      if (waitForJobs) return health.status === 'Current' && !isSuspended(present);
      return health.status === 'Current' || (health.status !== 'Failed' && status['startTime'] !== undefined);
    // A load balancer may never have an address, on a machine at home for example.
    case '/Service':
    case '/ReplicationController':
    case 'apiregistration.k8s.io/APIService':
      return true;
    case '/Pod':
      return health.status === 'Current' || status['phase'] === 'Failed';
    default:
      return health.status === 'Current';
  }
}

function isSuspended({ spec }: KubeObject & { readonly spec?: { readonly suspend?: boolean } }): boolean {
  return spec?.suspend === true;
}

function isPaused({ kind, object }: ReleaseObject): boolean {
  return kind.group === 'apps' && kind.kind === 'Deployment' && (object['spec'] as Loose)?.['paused'] === true;
}

type Loose = Readonly<Record<string, unknown>> | undefined;
