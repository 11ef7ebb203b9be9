import {
  isAlreadyExists,
  isConditionTrue,
  Job,
  newObject,
  Pod,
  type DeepReadonly,
  type ObjectKey,
} from '@slipway/kube';
import { requeueAfter, type ReconcileContext, type Requeue } from '@slipway/runtime';

import { BtpOperator } from '../api.ts';
import { readSettings } from '../btp-operator/configure.ts';
import { managerMetrics } from '../metrics.ts';
import { names } from '../names.ts';
import type { Settings } from '../settings/settings.ts';
import { ensureProbeAccess } from './access.ts';

export interface ProbeOptions {
  /** `PROBE_IMAGE`: looks at the mounted CA bundle, calls the token URL, and notes on the BtpOperator what it found. */
  readonly image: string;
  /** `PROBE_TOKENURL_OVERRIDE`. */
  readonly tokenUrlOverride?: string;
  /** `PROBE_FORCE_HASH`. */
  readonly forceHash?: string;
  readonly settings: Settings;
}

const job = { namespace: names.primary.namespace, name: 'btp-manager-ca-bundle-probe' };
/** On the Job: what the BtpOperator said before it ran, to tell whether it wrote anything. */
const seenAnnotation = 'operator.kyma-project.io/tls-probe-seen';
const annotation = {
  status: 'tls-probe-status',
  hash: 'tls-probe-hash',
  updatedAt: 'tls-probe-updated-at',
  lastHash: 'tls-probe-last-hash',
} as const;
const longestRunMs = 300_000;
const lookAgainMs = 10_000;

/**
 * Keeps a probe running once per interval. A CA bundle that changed and works makes the service operator restart, because it
 * reads the bundle only when it starts. The Job itself is the memory: its age says when the next one is due.
 */
export async function reconcileProbe(
  context: ReconcileContext,
  key: ObjectKey,
  options: ProbeOptions,
): Promise<Requeue | undefined> {
  const { client, clock } = context;
  if (key.namespace !== names.primary.namespace || key.name !== names.primary.name) return undefined;
  // 1. Read the interval now, so that a change of the ConfigMap counts; 0 turns the probe off.
  const { probeIntervalMs, secretName } = await readSettings(
    context,
    options.settings,
    managerMetrics(context.metrics),
  );
  const btp = await client.get(BtpOperator, key);
  const running = await client.get(Job, job);
  const wanted = probeIntervalMs > 0 && btp !== undefined && btp.metadata.deletionTimestamp === undefined;
  if (!wanted) {
    if (running) await client.delete(Job, job, { propagationPolicy: 'Background' });
    return undefined;
  }

  // 2. No Job: start one.
  if (!running) {
    await ensureProbeAccess(client, job.name, btp, secretName);
    await startJob(context, btp, options);
    return requeueAfter(lookAgainMs);
  }
  const ageMs = clock.now() - Date.parse(running.metadata.creationTimestamp!);
  const done = isConditionTrue(running as never, 'Complete') || isConditionTrue(running as never, 'Failed');

  // 3. It runs: wait for it, but not for ever.
  if (!done && ageMs < longestRunMs) return requeueAfter(lookAgainMs);

  // 4. It is over: act on what it wrote. Doing so twice changes nothing.
  if (done) await evaluate(context, btp, running.metadata.annotations?.[seenAnnotation] ?? '');

  // 5. Make room for the next one when it is due.
  if (ageMs < probeIntervalMs) return requeueAfter(probeIntervalMs - ageMs);
  if (running.metadata.deletionTimestamp === undefined)
    await client.delete(Job, job, { propagationPolicy: 'Background', preconditions: { uid: running.metadata.uid! } });
  return requeueAfter(lookAgainMs);
}

async function startJob(
  { client }: ReconcileContext,
  btp: DeepReadonly<BtpOperator>,
  { image, tokenUrlOverride, forceHash }: ProbeOptions,
): Promise<void> {
  const env = Object.entries({
    PROBE_NAMESPACE: names.primary.namespace,
    PROBE_TOKENURL_OVERRIDE: tokenUrlOverride,
    PROBE_FORCE_HASH: forceHash,
  }).flatMap(([name, value]) => (value ? [{ name, value }] : []));
  const seen = btp.metadata.annotations?.[annotation.updatedAt] ?? '';
  try {
    await client.create(
      newObject(Job, {
        metadata: { ...job, annotations: { [seenAnnotation]: seen } },
        spec: {
          backoffLimit: 0,
          template: {
            metadata: { annotations: { 'sidecar.istio.io/inject': 'false' } },
            spec: {
              restartPolicy: 'Never',
              serviceAccountName: job.name,
              containers: [{ name: 'probe', image, env }],
            },
          },
        },
      }),
    );
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
  }
}

async function evaluate(context: ReconcileContext, btp: DeepReadonly<BtpOperator>, seen: string): Promise<void> {
  const { client } = context;
  const found = btp.metadata.annotations ?? {};
  if ((found[annotation.updatedAt] ?? '') === seen) return;
  managerMetrics(context.metrics).credentialProbe(found[annotation.status] === 'alert');
  const hash = found[annotation.hash];
  const last = found[annotation.lastHash];
  if (!hash || hash === last) return;
  // The restart comes before the note: a restart that fails is tried again.
  if (found[annotation.status] === 'ok' && last) {
    const pods = { namespace: names.primary.namespace, labelSelector: names.operatorPods };
    for await (const { metadata } of client.list(Pod, pods))
      await client.delete(Pod, { namespace: metadata.namespace, name: metadata.name! });
    context.events.normal(btp, 'CaBundleChanged', 'the service operator was restarted to load the new CA bundle');
  }
  const body = { metadata: { annotations: { [annotation.lastHash]: hash } } };
  await client.patch(BtpOperator, names.primary, { type: 'merge', body });
}
