import {
  MutatingWebhookConfiguration,
  Secret,
  ValidatingWebhookConfiguration,
  type DeepReadonly,
  type KubeObject,
} from '@slipway/kube';
import { applySet, failureText } from '@slipway/manifests';
import { splitBundle } from '@slipway/runtime';

import { renewalTimeMs } from '../certificates/decide.ts';
import { planCertificates, type CertificatePlan } from '../certificates/plan-certificates.ts';
import { names } from '../names.ts';
import { Refusal } from '../reasons.ts';
import { isWebhookConfiguration, withCaBundle } from '../resources/prepare.ts';
import { isVisible } from '../resources/required-secret.ts';
import { isAskedFor } from './annotations.ts';
import type { BtpRun } from './run.ts';

const encode = (text: string) => Buffer.from(text).toString('base64');
const decode = (text: string | undefined) =>
  text === undefined ? undefined : Buffer.from(text, 'base64').toString('utf8');

/** The CA before, beside `ca.crt`, for as long as pods may serve certificates of it. */
const previousKey = 'ca-previous.crt';

const certificateType = 'Opaque';

export interface PreparedCertificates {
  /** The two Secrets, members of the set like the rest. */
  readonly secrets: readonly KubeObject[];
  /** What goes into the webhook configurations. Base64. */
  readonly caBundle: string;
  /** When the certificates need another look, epoch milliseconds. */
  readonly lookAgainAtMs: number;
}

/**
 * Step 8, certificates: keeps what is good and makes the rest. The order of the writes is what lets admission go on during a
 * rotation: the new CA is stored (with the one before), then trusted by the webhook configurations, and only then is a
 * certificate of it handed to the pods. A process that dies in between finds the new CA and goes on from there.
 */
export async function prepareCertificates(run: BtpRun, prepared: readonly KubeObject[]): Promise<PreparedCertificates> {
  const { context, settings } = run;
  const [caFound, leafFound] = [await readSecret(run, names.caSecret), await readSecret(run, names.webhookSecret)];
  const [ca, leaf] = [oursOf(caFound), oursOf(leafFound)];
  const live = await liveWebhooks(run);
  const plan = await planCertificates({
    found: {
      ...(ca && { ca: { certificate: ca.data['ca.crt'], key: ca.data['ca.key'], previous: ca.data[previousKey] } }),
      ...(leaf && { leaf: { certificate: leaf.data['tls.crt'], key: leaf.data['tls.key'] } }),
    },
    trusted: live.flatMap(trustedBy),
    settings,
    nowMs: context.clock.now(),
    id: context.random.uuid().slice(0, 8),
    distrustPrevious: isAskedFor(run, names.distrustPreviousCaAnnotation),
  });
  const caData = {
    'ca.crt': encode(plan.ca.certificate),
    'ca.key': encode(plan.ca.privateKey),
    ...(plan.previous && { [previousKey]: encode(plan.previous) }),
  };
  const leafData = { 'tls.crt': encode(plan.leaf.certificate), 'tls.key': encode(plan.leaf.privateKey) };
  const caSecret = certificateSecret(run, names.caSecret, caData, plan.made === 'both' ? undefined : ca);
  const webhookSecret = certificateSecret(
    run,
    names.webhookSecret,
    leafData,
    plan.made === 'nothing' ? leaf : undefined,
  );
  const caBundle = encode(plan.bundle);
  if (plan.made !== 'nothing') {
    context.log.info('certificates are made anew', { made: plan.made, why: plan.why });
    run.metrics.certificatesRegenerated();
    context.events.normal(
      run.btp,
      'CertificatesRenewed',
      `${plan.made === 'both' ? 'CA and webhook' : 'webhook'} certificate: ${plan.why}`,
    );
    await store(run, caSecret, caFound);
    const configured = new Set(live.map((object) => object.metadata.name));
    const webhooks = prepared.filter(
      (object) => isWebhookConfiguration(object) && configured.has(object.metadata.name),
    );
    await applyNow(run, withCaBundle(webhooks, caBundle));
    await store(run, webhookSecret, leafFound);
  } else {
    if (ca?.isOpaque === false) await store(run, caSecret, ca);
    if (leaf?.isOpaque === false) await store(run, webhookSecret, leaf);
  }
  return { secrets: [caSecret, webhookSecret], caBundle, lookAgainAtMs: lookAgainAt(plan, settings) };
}

function lookAgainAt(plan: CertificatePlan, settings: BtpRun['settings']): number {
  return Math.min(
    plan.dropPreviousAtMs ?? Number.POSITIVE_INFINITY,
    ...[plan.ca, plan.leaf].map((pair) => renewalTimeMs(pair.certificate, settings.expirationBoundaryMs)),
  );
}

interface FoundSecret {
  readonly uid: string;
  /** One without our label counts as missing. */
  readonly isOurs: boolean;
  /** Of the type certificates are stored under. */
  readonly isOpaque: boolean;
  /** Decoded. */
  readonly data: Readonly<Record<string, string | undefined>>;
}

async function readSecret(run: BtpRun, name: string): Promise<FoundSecret | undefined> {
  const secret = await run.context.client.get(Secret, { namespace: run.settings.chartNamespace, name });
  if (!secret) return undefined;
  const data = Object.fromEntries(Object.entries(secret.data ?? {}).map(([key, value]) => [key, decode(value)]));
  return { uid: secret.metadata.uid!, isOurs: isVisible(secret), isOpaque: secret.type === certificateType, data };
}

function oursOf(found: FoundSecret | undefined): FoundSecret | undefined {
  return found?.isOurs ? found : undefined;
}

/** Writes a certificate Secret. The type of one that is there cannot be changed, so one of another type goes first. */
async function store(run: BtpRun, secret: KubeObject, found: FoundSecret | undefined): Promise<void> {
  if (found?.isOpaque === false) {
    const key = { namespace: secret.metadata.namespace, name: secret.metadata.name! };
    await run.context.client.delete(Secret, key, { preconditions: { uid: found.uid } });
  }
  await applyNow(run, [secret]);
}

async function liveWebhooks(run: BtpRun): Promise<DeepReadonly<KubeObject>[]> {
  const { client } = run.context;
  const found = await Promise.all([
    client.get(MutatingWebhookConfiguration, { name: names.mutatingWebhooks }),
    client.get(ValidatingWebhookConfiguration, { name: names.validatingWebhooks }),
  ]);
  return found.filter((object) => object !== undefined) as unknown as DeepReadonly<KubeObject>[];
}

function trustedBy(object: DeepReadonly<KubeObject>): string[] {
  const webhooks = (object['webhooks'] ?? []) as readonly { clientConfig?: { caBundle?: string } }[];
  return webhooks.flatMap((webhook) => splitBundle(decode(webhook.clientConfig?.caBundle) ?? ''));
}

/**
 * Only the label by which the manager knows its own: the certificates outlive chart versions. With the uid of the one whose
 * content is kept, the server refuses to make it again: who deletes a certificate wants a new one, also during a pass. One of
 * another type is made again by us.
 */
function certificateSecret(
  run: BtpRun,
  name: string,
  data: Record<string, string>,
  kept: FoundSecret | undefined,
): KubeObject {
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: {
      name,
      namespace: run.settings.chartNamespace,
      labels: { [names.managedByLabel]: names.managedByUs },
      ...(kept?.isOpaque ? { uid: kept.uid } : {}),
    },
    type: certificateType,
    data,
  };
}

async function applyNow(run: BtpRun, objects: readonly KubeObject[]): Promise<void> {
  if (objects.length === 0) return;
  const result = await applySet({
    client: run.context.client,
    objects,
    fieldManager: names.fieldManager,
    membership: run.workshop.membership,
    adoption: 'AdoptAll',
    memo: run.workshop.memo,
    signal: run.context.signal,
  });
  const failed = result.members.find((member) => member.action === 'failed' || member.action === 'waiting');
  if (!failed) return;
  const text = `failed to prepare admission webhooks: ${failureText(failed)}`;
  throw new Refusal('PreparingInstallInfoFailed', text, { passing: failed.retriable === true });
}
