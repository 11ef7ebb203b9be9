import type { Client, DeepReadonly, KubeObject, ObjectKey } from '@slipway/kube';
import { isAppliedAlready } from '@slipway/manifests';

import { Operand } from '../api.ts';
import { keyText, sameKey, stamperMarks, stamperOf } from './stamper.ts';

/** The spec of an Operand with its objects as other code has them. */
export type OperandSpec = Omit<Partial<Operand['spec']>, 'steadyState' | 'postInstall'> & {
  readonly steadyState?: readonly DeepReadonly<KubeObject>[];
  readonly postInstall?: readonly DeepReadonly<KubeObject>[];
};

export interface EnsureOperandOptions {
  readonly client: Client;
  /** Name of the Operand. */
  readonly name: string;
  /** The object the Operand is stamped for; only its own stamper may change an Operand. */
  readonly stamper: ObjectKey;
  readonly spec: OperandSpec;
  /** Who owns the fields; the name of the stamping operator. */
  readonly fieldManager: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

/**
 * Makes the Operand what `spec` says and returns it as it is afterwards. Writes with server-side apply, and only when
 * something differs; fields and labels of others stay. Refuses an Operand that somebody else has stamped or made by hand.
 */
export async function ensureOperand(options: EnsureOperandOptions): Promise<Operand> {
  const { client, name, stamper, fieldManager, signal } = options;
  const live = await client.get(Operand, { name }, { signal });
  if (live) refuseForeign(live, stamper);
  const { labels, annotations } = stamperMarks(stamper);
  const config = {
    apiVersion: Operand.apiVersion,
    kind: 'Operand',
    metadata: { name, labels: { ...options.labels, ...labels }, annotations },
    spec: compact({ checkDeploymentHealth: true, ...options.spec }),
  } as unknown as Operand;
  if (live && isAppliedAlready(config, live, fieldManager)) return live;
  return await client.apply(config, { fieldManager, force: true, signal });
}

/**
 * Takes the Operand off, and with it everything in it. For the finalizer of a stamper: keep the finalizer while it says
 * `going`, so that the stamper does not vanish before what it installed.
 */
export async function removeOperand(
  options: Pick<EnsureOperandOptions, 'client' | 'name' | 'stamper' | 'signal'>,
): Promise<'gone' | 'going'> {
  const { client, name, stamper, signal } = options;
  const live = await client.get(Operand, { name }, { signal });
  if (!live || !isStampedBy(live, stamper)) return 'gone';
  if (live.metadata.deletionTimestamp === undefined)
    await client.delete(Operand, { name }, { preconditions: { uid: live.metadata.uid! }, signal });
  return 'going';
}

function isStampedBy(live: DeepReadonly<Operand>, stamper: ObjectKey): boolean {
  const known = stamperOf(live.metadata);
  return known !== undefined && sameKey(known, stamper);
}

function refuseForeign(live: DeepReadonly<Operand>, stamper: ObjectKey): void {
  if (isStampedBy(live, stamper)) return;
  const known = stamperOf(live.metadata);
  throw new Error(
    `Operand ${live.metadata.name} exists already and ${known ? `was stamped for ${keyText(known)}` : 'was not stamped'}; delete it, or give the Operand of ${keyText(stamper)} another name`,
  );
}

/** An empty list and none are the same; without it no difference is seen where there is none. */
function compact(spec: OperandSpec): OperandSpec {
  return Object.fromEntries(
    Object.entries(spec).filter(([, value]) => value !== undefined && !(Array.isArray(value) && value.length === 0)),
  ) as OperandSpec;
}
