import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';

interface Stored {
  readonly id: string;
  readonly [field: string]: unknown;
}

const offering = { id: 'offering-1', catalog_name: 'xsuaa' };
const plan = { id: 'plan-1', catalog_name: 'application', service_offering_id: offering.id };

/** A stand-in for SAP Service Manager: knows one client, one offering with one plan, and keeps what it is given. */
export class ServiceManager implements AsyncDisposable {
  readonly client = { id: 'the-client-id', secret: 'the-client-secret' };
  readonly instances = new Map<string, Stored>();
  readonly bindings = new Map<string, Stored>();
  /** Requests with a token that was given out, as `POST /v1/service_instances`. */
  readonly requests: string[] = [];
  /** Values of `client-version` it was sent. */
  readonly clientVersions = new Set<string>();
  /** While true, every deletion fails. */
  refusesDeletion = false;
  readonly #tokens = new Set<string>();
  readonly #server = createServer((incoming, outgoing) => {
    void this.#answer(incoming).then(({ status, body }) => {
      outgoing.writeHead(status, { 'content-type': 'application/json', connection: 'close' });
      outgoing.end(JSON.stringify(body));
    });
  });
  #made = 0;

  /** Listens on every address of the machine; gives the port. */
  async start(): Promise<number> {
    await new Promise<void>((resolve) => this.#server.listen(0, resolve));
    return (this.#server.address() as AddressInfo).port;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return new Promise((resolve) => this.#server.close(() => resolve()));
  }

  async #answer(incoming: IncomingMessage): Promise<{ status: number; body: unknown }> {
    const { method = '', url = '', headers } = incoming;
    let text = '';
    for await (const chunk of incoming.setEncoding('utf8')) text += chunk;
    const { pathname, searchParams } = new URL(url, 'http://service-manager');
    if (pathname === '/oauth/token') return this.#grant(new URLSearchParams(text));
    if (!this.#tokens.has(headers.authorization ?? '')) return { status: 401, body: {} };
    this.requests.push(`${method} ${pathname}`);
    this.clientVersions.add(String(headers['client-version']));
    const catalogName = /catalog_name eq '([^']*)'/.exec(searchParams.get('fieldQuery') ?? '')?.[1];
    if (pathname === '/v1/service_offerings')
      return items([offering].filter(({ catalog_name: name }) => name === catalogName));
    if (pathname === '/v1/service_plans') return items([plan].filter(({ catalog_name: name }) => name === catalogName));
    const [, collection, id] = /^\/v1\/(service_instances|service_bindings)(?:\/([^/]+))?$/.exec(pathname) ?? [];
    if (!collection) return { status: 404, body: {} };
    const kept = collection === 'service_instances' ? this.instances : this.bindings;
    const given = text === '' ? {} : (JSON.parse(text) as Record<string, unknown>);
    if (method === 'POST' && !id) return this.#create(kept, collection, given);
    // So the real operator finds what it has made already, when its cache has not seen the id yet.
    if (method === 'GET' && !id) {
      const name = /(?:^|[^_])name eq '([^']*)'/.exec(searchParams.get('fieldQuery') ?? '')?.[1];
      return items([...kept.values()].filter((each) => each['name'] === name));
    }
    const known = kept.get(id ?? '');
    if (!known) return { status: 404, body: {} };
    if (method === 'PATCH') {
      kept.set(known.id, { ...known, ...given });
      return { status: 200, body: kept.get(known.id) };
    }
    if (method === 'GET') return { status: 200, body: known };
    if (method !== 'DELETE') return { status: 405, body: {} };
    if (this.refusesDeletion) return { status: 500, body: {} };
    kept.delete(known.id);
    return { status: 200, body: {} };
  }

  /** As parameters: a header is not how the operator names itself. */
  #grant(form: URLSearchParams): { status: number; body: unknown } {
    if (form.get('grant_type') !== 'client_credentials') return { status: 400, body: {} };
    const known = form.get('client_id') === this.client.id && form.get('client_secret') === this.client.secret;
    if (!known) return { status: 401, body: { error: 'invalid_client' } };
    const token = `token-${(this.#made += 1)}`;
    this.#tokens.add(`Bearer ${token}`);
    return { status: 200, body: { access_token: token, token_type: 'bearer', expires_in: 3600 } };
  }

  #create(kept: Map<string, Stored>, collection: string, given: Record<string, unknown>) {
    const id = `${collection}-${(this.#made += 1)}`;
    const isBinding = collection === 'service_bindings';
    if (isBinding && !this.instances.has(String(given['service_instance_id']))) return { status: 400, body: {} };
    const stored: Stored = { ...given, id, ready: true };
    kept.set(id, stored);
    return { status: 201, body: isBinding ? { ...stored, credentials: { user: `user-of-${id}` } } : stored };
  }
}

const items = (found: readonly Stored[]) => ({ status: 200, body: { num_items: found.length, items: found } });
