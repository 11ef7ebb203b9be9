import type { IncomingMessage } from 'node:http';
import { createServer, type Server } from 'node:https';

import { type Clock, sleep } from '@slipway/kube';

import { ServingCertificates, type ServingCertificateOptions } from '../certificates/serving-certificates.ts';
import type { ServingState } from '../certificates/serving-plan.ts';
import type { Logger } from '../log/logger.ts';
import type { ClusterView } from '../cluster/cluster-view.ts';
import { answering, closeServer, listen, pathOf, type PlainAnswer } from '../http/http-server.ts';
import type { RuntimeMetrics } from '../metrics/runtime-metrics.ts';
import {
  injectTrust,
  registerConversions,
  type TrustTargets,
  type WebhookAddress,
  webhookConfigurations,
} from './configurations.ts';
import type { WebhookDefinition } from './webhook.ts';
import { WebhookRouter } from './webhook-router.ts';

export interface WebhookOptions {
  webhooks: readonly WebhookDefinition[];
  /** Default 9443; 0 takes any free port. */
  port?: number;
  /** Default: all addresses of the machine. */
  host?: string;
  /** How the API server reaches us. Decides the names in the certificate. */
  address: WebhookAddress;
  /** Default: in the Service's namespace, named after it with `-webhook-cert`. Needed with a URL. */
  certificates?: Partial<ServingCertificateOptions>;
  /** How often the Secret is looked at, in milliseconds. Default 60 000. */
  checkMs?: number;
  /** Name of the configuration objects to write for `webhooks`; conversions go into the CRDs. Default: none are written, see `trust`. */
  configuration?: string;
  /** Objects written by others that should get our CA: webhook configurations and CRDs with conversion. */
  trust?: TrustTargets;
}

interface Environment {
  cluster: ClusterView;
  clock: Clock;
  log: Logger;
  metrics: RuntimeMetrics;
}

const bodyLimit = 16 * 1024 * 1024;

/** Serves webhooks over TLS with certificates it keeps in order, reloading them without a restart. */
export class RunningWebhooks {
  readonly #options: WebhookOptions;
  readonly #environment: Environment;
  readonly #certificates: ServingCertificates;
  readonly #router: WebhookRouter;
  readonly #end = new AbortController();
  #server: Server | undefined;
  #port = 0;
  #served: ServingState | undefined;
  #problem: string | undefined = 'not started yet';
  #loop: Promise<void> | undefined;

  constructor(options: WebhookOptions, environment: Environment) {
    this.#options = options;
    this.#environment = environment;
    const { cluster, clock, log, metrics } = environment;
    this.#certificates = new ServingCertificates(certificateOptions(options), { client: cluster.client, clock, log });
    const context = { cache: cluster.cache, client: cluster.client, log, clock };
    this.#router = new WebhookRouter(options.webhooks, { context, metrics, clock });
  }

  get port(): number {
    return this.#port;
  }

  /** Throws when something about webhooks is not as it should be. */
  check(): void {
    if (this.#problem !== undefined) throw new Error(this.#problem);
  }

  /** Resolves when webhooks are served. Tries until it works or `signal` aborts. */
  async start(signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#environment;
    for (let pauseMs = 200; ; pauseMs = Math.min(pauseMs * 2, 30_000)) {
      try {
        await this.refresh(signal);
        break;
      } catch (error) {
        signal.throwIfAborted();
        log.error('webhooks cannot be served yet', { error });
        await sleep(clock, pauseMs, signal);
      }
    }
    this.#loop = this.#keepRefreshing();
  }

  async close(): Promise<void> {
    this.#end.abort(new Error('webhooks stopped'));
    await this.#loop;
    if (this.#server) await closeServer(this.#server);
  }

  async #keepRefreshing(): Promise<void> {
    const { clock, log } = this.#environment;
    const { checkMs = 60_000 } = this.#options;
    for (;;) {
      try {
        await sleep(clock, checkMs, this.#end.signal);
        await this.refresh(this.#end.signal);
      } catch (error) {
        if (this.#end.signal.aborted) return;
        // What is served goes on being served; it is renewed long before it ends.
        log.error('serving certificates could not be checked', { error });
      }
    }
  }

  /**
   * Brings certificates and everybody's trust in order and serves what is current. Trust first, then serve: nobody may see
   * a certificate whose CA they were not told of.
   */
  async refresh(signal?: AbortSignal): Promise<void> {
    const { cluster, metrics, log } = this.#environment;
    let state: ServingState;
    try {
      state = await this.#certificates.ensure(signal);
      metrics.certificateRead(true);
    } catch (error) {
      metrics.certificateRead(false);
      this.#problem = `certificates: ${error instanceof Error ? error.message : String(error)}`;
      throw error;
    }
    if (this.#options.configuration !== undefined && state.caBundle !== this.#served?.caBundle) {
      const { configuration, webhooks, address } = this.#options;
      for (const object of webhookConfigurations(configuration, webhooks, address, state.caBundle)) {
        await cluster.client.apply(object, { signal });
      }
    }
    const missing = await injectTrust(cluster.client, this.#options.trust ?? {}, state.caBundle, signal);
    if (this.#options.configuration !== undefined) {
      const { webhooks, address } = this.#options;
      missing.push(...(await registerConversions(cluster.client, webhooks, address, state.caBundle, signal)));
    }
    if (missing.length > 0) log.warn('not everybody knows our CA', { missing });
    await this.#serve(state);
    this.#problem = missing.length > 0 ? missing.join('; ') : undefined;
  }

  async #serve(state: ServingState): Promise<void> {
    const context = { cert: state.certificate, key: state.key, minVersion: 'TLSv1.2' as const };
    if (!this.#server) {
      const { log } = this.#environment;
      const server = createServer(
        context,
        answering((request) => this.#answer(request), log),
      );
      const { port = 9443, host } = this.#options;
      this.#port = await listen(server, { port, host }, log);
      this.#server = server;
    } else if (state.certificate !== this.#served?.certificate) {
      this.#server.setSecureContext(context);
      this.#environment.log.info('serving a new certificate');
    }
    this.#served = state;
  }

  async #answer(request: IncomingMessage): Promise<PlainAnswer> {
    if (request.method !== 'POST') return { status: 405, body: '' };
    const chunks: Buffer[] = [];
    let size = 0;
    for await (const chunk of request as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > bodyLimit) return { status: 413, body: '' };
      chunks.push(chunk);
    }
    const answer = await this.#router.handle(pathOf(request.url), Buffer.concat(chunks).toString('utf8'));
    return { ...answer, contentType: 'application/json' };
  }
}

function certificateOptions(options: WebhookOptions): ServingCertificateOptions {
  const { address, certificates = {} } = options;
  if ('url' in address) {
    const { hostname } = new URL(address.url);
    const { secret } = certificates;
    if (!secret) throw new Error('webhooks: certificates.secret is needed when the address is a URL');
    const host = hostname.replace(/^\[(.*)\]$/, '$1');
    const isIp = /^[\d.]+$/.test(host) || host.includes(':');
    return { dnsNames: isIp ? [] : [host], ipAddresses: isIp ? [host] : [], ...certificates, secret };
  }
  const { namespace, name } = address.service;
  const names = [name, `${name}.${namespace}`, `${name}.${namespace}.svc`, `${name}.${namespace}.svc.cluster.local`];
  return {
    // The API server asks for the `.svc` name; it also becomes the common name.
    dnsNames: [names[2]!, names[3]!, names[1]!, names[0]!],
    secret: { namespace, name: `${name}-webhook-cert` },
    ...certificates,
  };
}
