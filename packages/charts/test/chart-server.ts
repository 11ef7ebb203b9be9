import { createHash, createPrivateKey } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { systemClock } from '@slipway/kube/command';

import { issueCertificate, newPrivateKey, type CertificatePair } from '../src/functions/certificates.ts';
import { loadFiles, packageChart, type Chart } from '../src/index.ts';

export interface ServerOptions {
  /** What whoever asks must know. Default: nobody is asked. */
  readonly credentials?: { readonly username: string; readonly password: string };
  /** How the registry asks. Default `basic`. */
  readonly registryAuth?: 'basic' | 'token';
  /** Archives are on this server instead: `http://host:port`. */
  readonly archivesAt?: string;
  /** Requests for archives are sent on to this server. */
  readonly redirectTo?: string;
  /** Speak HTTPS with this certificate. With `ca`, only to whoever has a certificate of that authority. */
  readonly tls?: { readonly cert: string; readonly key: string; readonly ca?: string };
}

export interface SeenRequest {
  readonly path: string;
  readonly authorization: string | undefined;
}

/** A chart of a few files. */
export async function makeChart(
  name: string,
  version: string,
  more: Readonly<Record<string, string>> = {},
): Promise<Chart> {
  const files: Record<string, string> = {
    'Chart.yaml': `apiVersion: v2\nname: ${name}\nversion: ${version}\n`,
    'values.yaml': `greeting: hello from ${name}\n`,
    'templates/config.yaml': `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: ${name}\ndata:\n  chart: {{ .Chart.Version | quote }}\n`,
    ...more,
  };
  return await loadFiles(Object.entries(files).map(([path, text]) => ({ name: path, data: Buffer.from(text) })));
}

/** A certificate for the loopback interface: an authority, or signed by one. */
export function issueLoopback(commonName: string, signer?: CertificatePair): CertificatePair {
  return issueCertificate({
    commonName,
    ips: ['127.0.0.1'],
    days: 1n,
    isAuthority: signer === undefined,
    key: createPrivateKey(newPrivateKey('ecdsa')),
    now: systemClock.now(),
    serialNumber: Buffer.from(commonName),
    ...(signer ? { signer } : {}),
  });
}

/** A credential helper that knows the reader of these servers. */
export const answeringHelper =
  '#!/bin/sh\nread server\necho \'{"ServerURL":"x","Username":"reader","Secret":"hunter2"}\'\n';

/** A chart repository and an OCI registry in one, on the loopback interface. It remembers what it was asked. */
export class ChartServer implements AsyncDisposable {
  readonly seen: SeenRequest[] = [];
  readonly #options: ServerOptions;
  readonly #server: Server;
  readonly #archives = new Map<string, Buffer>();
  readonly #entries: { name: string; version: string; file: string; digest: string }[] = [];
  readonly #manifests = new Map<string, Buffer>();
  readonly #blobs = new Map<string, Buffer>();
  readonly #tags = new Map<string, string[]>();

  constructor(options: ServerOptions = {}) {
    this.#options = options;
    const answer = (request: IncomingMessage, response: ServerResponse) => this.#answer(request, response);
    const { tls } = options;
    this.#server = tls
      ? createSecureServer({ ...tls, requestCert: tls.ca !== undefined, rejectUnauthorized: true }, answer)
      : createServer(answer);
  }

  async start(): Promise<this> {
    await new Promise<void>((done) => this.#server.listen(0, '127.0.0.1', done));
    return this;
  }

  get host(): string {
    return `127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  get url(): string {
    return `${this.#options.tls ? 'https' : 'http'}://${this.host}`;
  }

  /** Where the repository is. */
  get repository(): string {
    return `${this.url}/charts`;
  }

  /** Publishes a chart in the repository and in the registry. */
  async publish(chart: Chart, change: { digest?: string } = {}): Promise<void> {
    const { name, version } = chart.metadata;
    const archive = await packageChart(chart);
    const file = `${name}-${version}.tgz`;
    this.#archives.set(file, archive);
    this.#entries.push({ name, version, file, digest: change.digest ?? sha256(archive) });
    this.push(`charts/${name}`, version.replaceAll('+', '_'), archive, { name, version });
  }

  /** Publishes an archive in the registry. Answers the digest of its manifest. */
  push(repository: string, tag: string, archive: Buffer, config: object): string {
    const layer = this.#keepBlob(archive, 'application/vnd.cncf.helm.chart.content.v1.tar+gzip');
    const provenance = this.#keepBlob(Buffer.from('signed'), 'application/vnd.cncf.helm.chart.provenance.v1.prov');
    const manifest = Buffer.from(
      JSON.stringify({
        schemaVersion: 2,
        mediaType: 'application/vnd.oci.image.manifest.v1+json',
        config: this.#keepBlob(Buffer.from(JSON.stringify(config)), 'application/vnd.cncf.helm.config.v1+json'),
        layers: [provenance, layer],
      }),
    );
    const digest = `sha256:${sha256(manifest)}`;
    for (const reference of [tag, digest]) this.#manifests.set(`${repository}@${reference}`, manifest);
    this.#tags.set(repository, [...(this.#tags.get(repository) ?? []), tag]);
    return digest;
  }

  /** Lets the registry lie: what it has under a digest or a tag becomes something else. */
  damage(kind: 'blobs' | 'manifests' | 'archives'): void {
    const stores = { blobs: this.#blobs, manifests: this.#manifests, archives: this.#archives };
    for (const [key, data] of stores[kind]) stores[kind].set(key, Buffer.concat([data, Buffer.from(' ')]));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((done) => this.#server.close(done));
  }

  #keepBlob(data: Buffer, mediaType: string): object {
    const digest = `sha256:${sha256(data)}`;
    this.#blobs.set(digest, data);
    return { mediaType, digest, size: data.length };
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    const { pathname, searchParams } = new URL(request.url!, this.url);
    const { authorization } = request.headers;
    this.seen.push({ path: pathname, authorization });
    const send = (status: number, body: string | Buffer = '', headers: Record<string, string> = {}) => {
      response.writeHead(status, { 'content-length': Buffer.byteLength(body), ...headers });
      response.end(body);
    };
    const { redirectTo } = this.#options;
    if (pathname === '/token') return this.#sendToken(authorization, send);
    if (pathname === '/endless') return send(302, '', { location: '/endless' });
    if (!this.#isKnown(authorization, pathname))
      return send(401, '', { 'www-authenticate': this.#challenge(pathname) });
    if (pathname === '/v2/') return send(200, '{}');
    if (pathname === '/charts/index.yaml') return send(200, this.#index());
    if (pathname.startsWith('/charts/')) {
      if (redirectTo !== undefined) return send(302, '', { location: `${redirectTo}${pathname}` });
      const archive = this.#archives.get(pathname.slice('/charts/'.length));
      return archive ? send(200, archive) : send(404);
    }
    const [, repository = '', kind = '', reference = ''] =
      /^\/v2\/(.+)\/(manifests|blobs|tags)\/(.+)$/.exec(pathname) ?? [];
    if (kind === 'tags') return this.#sendTags(repository, searchParams.get('last'), send);
    const found = kind === 'blobs' ? this.#blobs.get(reference) : this.#manifests.get(`${repository}@${reference}`);
    if (kind === 'blobs' && redirectTo !== undefined) return send(307, '', { location: `${redirectTo}${pathname}` });
    if (!found) return send(404);
    const type = kind === 'blobs' ? 'application/octet-stream' : 'application/vnd.oci.image.manifest.v1+json';
    return send(200, request.method === 'HEAD' ? '' : found, {
      'content-type': type,
      'docker-content-digest': `sha256:${sha256(found)}`,
      'content-length': String(found.length),
    });
  }

  /** Two tags a page, so that there is a second one. */
  #sendTags(repository: string, last: string | null, send: Send): void {
    const tags = this.#tags.get(repository) ?? [];
    const from = last === null ? 0 : tags.indexOf(last) + 1;
    const page = tags.slice(from, from + 2);
    const more = from + 2 < tags.length;
    send(
      200,
      JSON.stringify({ name: repository, tags: page }),
      more ? { link: `</v2/${repository}/tags/list?last=${encodeURIComponent(page.at(-1)!)}>; rel="next"` } : {},
    );
  }

  #sendToken(authorization: string | undefined, send: Send): void {
    if (authorization === this.#basic()) send(200, JSON.stringify({ token: 'let-me-in' }));
    else send(401);
  }

  #isKnown(authorization: string | undefined, pathname: string): boolean {
    if (!this.#options.credentials) return true;
    const token = pathname.startsWith('/v2/') && this.#options.registryAuth === 'token';
    return authorization === (token ? 'Bearer let-me-in' : this.#basic());
  }

  #challenge(pathname: string): string {
    return pathname.startsWith('/v2/') && this.#options.registryAuth === 'token'
      ? `Bearer realm="${this.url}/token",service="charts",scope="repository:charts/web:pull"`
      : 'Basic realm="charts"';
  }

  #basic(): string {
    const { username, password } = this.#options.credentials!;
    return `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
  }

  #index(): string {
    const names = [...new Set(this.#entries.map(({ name }) => name))];
    const at = this.#options.archivesAt;
    const lines = names.flatMap((name) => [
      `  ${name}:`,
      ...this.#entries
        .filter((entry) => entry.name === name)
        .map(
          ({ version, file, digest }) =>
            `  - {apiVersion: v2, name: ${name}, version: ${JSON.stringify(version)}, digest: ${JSON.stringify(digest)}, urls: [${JSON.stringify(at === undefined ? file : `${at}/charts/${file}`)}]}`,
        ),
    ]);
    return `apiVersion: v1\nentries:\n${lines.join('\n')}\n`;
  }
}

type Send = (status: number, body?: string | Buffer, headers?: Record<string, string>) => void;

function sha256(data: Uint8Array): string {
  return createHash('sha256').update(data).digest('hex');
}
