import { type Client, type Clock, isAlreadyExists, isConflict, Secret, sleep } from '@slipway/kube';

import type { Logger } from '../log/logger.ts';
import { clockSkewMs } from './authority-plan.ts';
import { splitBundle } from './inspect.ts';
import { issueCa, issueLeaf, type KeyAlgorithm } from './issue.ts';
import { nextServingStep, type ServingPolicy, type ServingState } from './serving-plan.ts';

const dayMs = 86_400_000;

export interface ServingCertificateOptions {
  /** The Secret all replicas share. */
  secret: { namespace: string; name: string };
  dnsNames: readonly string[];
  ipAddresses?: readonly string[];
  /** Life of a CA, in milliseconds. Default two years. */
  caLifeMs?: number;
  /** A CA is succeeded when it has this much life left, in milliseconds. Default 180 days. */
  caRenewBeforeMs?: number;
  /** Life of a leaf, in milliseconds. Default 90 days. */
  leafLifeMs?: number;
  /** A leaf is renewed when it has this much life left, in milliseconds. Default 30 days. */
  leafRenewBeforeMs?: number;
  /** How long a new CA is only announced before leaves of it are served, in milliseconds. Default 10 min. */
  propagationMs?: number;
  /** How long an old CA stays trusted after leaves of it are no longer served, in milliseconds. Default 1 h. */
  overlapMs?: number;
  /** Default: ECDSA on P-256. */
  key?: KeyAlgorithm;
}

interface Environment {
  client: Client;
  clock: Clock;
  log: Logger;
}

/**
 * Keeps a CA and a leaf in a Secret: makes them when they are missing, renews them in time. Any number of replicas may do
 * so at once; the Secret's resource version lets one of them win, and the others take what it wrote.
 */
export class ServingCertificates {
  readonly #options: ServingCertificateOptions;
  readonly #policy: ServingPolicy;
  readonly #environment: Environment;

  constructor(options: ServingCertificateOptions, environment: Environment) {
    this.#options = options;
    this.#environment = environment;
    this.#policy = {
      dnsNames: options.dnsNames,
      ipAddresses: options.ipAddresses ?? [],
      caLifeMs: options.caLifeMs ?? 730 * dayMs,
      caRenewBeforeMs: options.caRenewBeforeMs ?? 180 * dayMs,
      leafLifeMs: options.leafLifeMs ?? 90 * dayMs,
      leafRenewBeforeMs: options.leafRenewBeforeMs ?? 30 * dayMs,
      propagationMs: options.propagationMs ?? 600_000,
      overlapMs: options.overlapMs ?? 3_600_000,
    };
    const { caLifeMs, caRenewBeforeMs, leafLifeMs, leafRenewBeforeMs, propagationMs } = this.#policy;
    if (caRenewBeforeMs >= caLifeMs) throw new RangeError('certificates: caRenewBeforeMs must be below caLifeMs');
    if (leafRenewBeforeMs >= leafLifeMs)
      throw new RangeError('certificates: leafRenewBeforeMs must be below leafLifeMs');
    if (caRenewBeforeMs <= propagationMs + leafRenewBeforeMs) {
      throw new RangeError('certificates: caRenewBeforeMs must be above propagationMs + leafRenewBeforeMs');
    }
  }

  /** Takes every step that is due and returns what to serve and to trust now. */
  async ensure(signal?: AbortSignal): Promise<ServingState> {
    const { client, clock, log } = this.#environment;
    // Each round is one step or one lost race; three steps are the most that can be due at once.
    for (let round = 0; round < 20; round += 1) {
      const secret = await client.get(Secret, this.#options.secret, { signal });
      const state = readState(secret);
      const plan = nextServingStep(state, this.#policy, clock.now());
      if (plan.step === 'nothing') return state as ServingState;
      const reason = 'reason' in plan ? plan.reason : undefined;
      log.info('changing serving certificates', { secret: this.#options.secret.name, step: plan.step, reason });
      const next = await this.#take(plan, state);
      try {
        if (secret) await client.update({ ...secret, data: { ...secret.data, ...encode(next) } }, { signal });
        else await client.create(this.#newSecret(next), { signal });
      } catch (error) {
        if (!isConflict(error) && !isAlreadyExists(error)) throw error;
        await sleep(clock, 10 * round, signal);
      }
    }
    const { namespace, name } = this.#options.secret;
    throw new Error(`certificates: the Secret ${namespace}/${name} changes faster than it can be brought in order`);
  }

  async #take(
    plan: Exclude<ReturnType<typeof nextServingStep>, { step: 'nothing' }>,
    state: Partial<ServingState>,
  ): Promise<ServingState> {
    const known = { caBundle: '', caKey: '', certificate: '', key: '', ...state };
    switch (plan.step) {
      case 'start-over': {
        const ca = await this.#newCa();
        const caBundle = [ca.certificate, ...plan.keep].join('');
        return this.#withLeaf({ ...known, caBundle, caKey: ca.privateKey });
      }
      case 'add-ca': {
        const ca = await this.#newCa();
        return { ...known, caBundle: ca.certificate + known.caBundle, caKey: ca.privateKey };
      }
      case 'issue-leaf':
        return this.#withLeaf(known);
      case 'drop-old-cas':
        return { ...known, caBundle: plan.keep.join('') };
    }
  }

  #newCa() {
    const now = this.#environment.clock.now();
    return issueCa({
      commonName: `${this.#options.secret.name} CA`,
      notBeforeMs: now - clockSkewMs,
      notAfterMs: now + this.#policy.caLifeMs,
      key: this.#options.key,
    });
  }

  async #withLeaf(state: ServingState): Promise<ServingState> {
    const now = this.#environment.clock.now();
    const leaf = await issueLeaf({
      ca: { certificate: splitBundle(state.caBundle)[0]!, privateKey: state.caKey },
      commonName: this.#policy.dnsNames[0] ?? this.#options.secret.name,
      dnsNames: this.#policy.dnsNames,
      ipAddresses: this.#policy.ipAddresses,
      notBeforeMs: now - clockSkewMs,
      notAfterMs: now + this.#policy.leafLifeMs,
      key: this.#options.key,
    });
    return { ...state, certificate: leaf.certificate, key: leaf.privateKey };
  }

  #newSecret(state: ServingState): Secret {
    return {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { ...this.#options.secret },
      type: 'kubernetes.io/tls',
      data: encode(state),
    };
  }
}

const fields = { caBundle: 'ca.crt', caKey: 'ca.key', certificate: 'tls.crt', key: 'tls.key' } as const;

function readState(secret: Secret | undefined): Partial<ServingState> {
  const entries = Object.entries(fields).flatMap(([field, name]) => {
    const value = secret?.data?.[name];
    return value ? [[field, Buffer.from(value, 'base64').toString('utf8')]] : [];
  });
  return Object.fromEntries(entries) as Partial<ServingState>;
}

function encode(state: ServingState): Record<string, string> {
  return Object.fromEntries(
    Object.entries(fields).map(([field, name]) => [
      name,
      Buffer.from(state[field as keyof ServingState]).toString('base64'),
    ]),
  );
}
