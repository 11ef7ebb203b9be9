import { request } from 'node:http';

import type { Client, Secret as SecretObject } from '@slipway/kube';
import { Secret } from '@slipway/kube';

import { credentialsSecret } from '../service-operator-facts.ts';
import type { Configuration } from './configuration.ts';

interface Answer {
  readonly status: number;
  readonly body: Record<string, unknown>;
}

/** The Service Manager did not do what it was asked for. */
export class ServiceManagerError extends Error {
  readonly status: number;

  constructor(what: string, { status }: Answer) {
    super(`${what}: the Service Manager answered ${status}`);
    this.status = status;
  }
}

/** Calls the Service Manager with the credentials of the Secret that counts for a namespace. */
export class ServiceManagerClient {
  readonly #client: Client;
  readonly #configuration: Configuration;

  constructor(client: Client, configuration: Configuration) {
    this.#client = client;
    this.#configuration = configuration;
  }

  async createInstance(namespace: string, instance: Record<string, unknown>, plan: { offering: string; name: string }) {
    const query = (text: string) => `?fieldQuery=${encodeURIComponent(text)}`;
    const offering = await this.#first(
      namespace,
      `/v1/service_offerings${query(`catalog_name eq '${plan.offering}' and data_center eq ''`)}`,
    );
    const found = await this.#first(
      namespace,
      `/v1/service_plans${query(`catalog_name eq '${plan.name}' and service_offering_id in ('${offering}')`)}`,
    );
    return await this.#call(namespace, 'POST', '/v1/service_instances', { ...instance, service_plan_id: found });
  }

  async updateInstance(namespace: string, id: string, instance: Record<string, unknown>): Promise<void> {
    await this.#call(namespace, 'PATCH', `/v1/service_instances/${id}`, instance);
  }

  async createBinding(namespace: string, binding: Record<string, unknown>): Promise<Record<string, unknown>> {
    return await this.#call(namespace, 'POST', '/v1/service_bindings', binding);
  }

  /** What is gone already counts as deleted. */
  async delete(namespace: string, collection: 'service_instances' | 'service_bindings', id: string): Promise<void> {
    try {
      await this.#call(namespace, 'DELETE', `/v1/${collection}/${id}`);
    } catch (error) {
      if (!(error instanceof ServiceManagerError) || ![404, 410].includes(error.status)) throw error;
    }
  }

  async #first(namespace: string, path: string): Promise<string> {
    const { items } = (await this.#call(namespace, 'GET', path)) as { items?: { id: string }[] };
    if (items?.length !== 1) throw new Error(`the Service Manager has ${items?.length ?? 0} of what was asked for`);
    return items[0]!.id;
  }

  async #call(namespace: string, method: string, path: string, body?: unknown): Promise<Record<string, unknown>> {
    const credentials = await this.#credentials(namespace);
    const { clientid, clientsecret, tokenurl, tokenurlsuffix, sm_url: url } = credentials;
    const grant = await send(
      'POST',
      new URL(`${tokenurl}${tokenurlsuffix ?? ''}`),
      { 'content-type': 'application/x-www-form-urlencoded' },
      new URLSearchParams({
        grant_type: 'client_credentials',
        client_id: clientid ?? '',
        client_secret: clientsecret ?? '',
      }).toString(),
    );
    if (grant.status !== 200) throw new ServiceManagerError('asking for a token', grant);
    const headers = {
      authorization: `Bearer ${String(grant.body['access_token'])}`,
      'content-type': 'application/json',
      'client-version': this.#configuration.appVersion,
    };
    const answer = await send(method, new URL(url + path), headers, body === undefined ? '' : JSON.stringify(body));
    if (answer.status >= 300) throw new ServiceManagerError(`${method} ${path.split('?')[0]}`, answer);
    return answer.body;
  }

  async #credentials(namespace: string): Promise<Record<string, string> & { sm_url: string }> {
    const { managementNamespace, releaseNamespace } = this.#configuration;
    const { name } = credentialsSecret;
    for (const key of [
      { namespace, name },
      { namespace: managementNamespace, name: `${namespace}-${name}` },
      { namespace: releaseNamespace, name },
    ]) {
      const secret: SecretObject | undefined = await this.#client.get(Secret, key);
      if (!secret) continue;
      const values = Object.entries(secret.data ?? {});
      const data = Object.fromEntries(values.map(([entry, value]) => [entry, Buffer.from(value, 'base64').toString()]));
      for (const needed of credentialsSecret.required) {
        if (!data[needed]) throw new Error(`the Secret ${key.namespace}/${key.name} has no ${needed}`);
      }
      return data as Record<string, string> & { sm_url: string };
    }
    throw new Error(`there is no Secret ${name} with credentials for the namespace ${namespace}`);
  }
}

function send(method: string, url: URL, headers: Record<string, string>, body: string): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const outgoing = request(url, { method, headers, agent: false }, async (response) => {
      let text = '';
      for await (const chunk of response.setEncoding('utf8')) text += chunk;
      const parsed = text === '' ? {} : (JSON.parse(text) as Record<string, unknown>);
      resolve({ status: response.statusCode ?? 0, body: parsed });
    });
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}
