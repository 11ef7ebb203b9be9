import { readFile } from 'node:fs/promises';
import { unwatchFile, watchFile } from 'node:fs';
import { createServer } from 'node:https';
import { join } from 'node:path';

import { files, ports, webhookPaths } from '../service-operator-facts.ts';

interface ServiceObject {
  metadata: { name: string; annotations?: Record<string, string> };
  spec: Record<string, unknown>;
}

interface Review {
  readonly apiVersion: string;
  readonly kind: string;
  readonly request: {
    readonly uid: string;
    readonly operation: 'CREATE' | 'UPDATE' | 'DELETE';
    readonly object: ServiceObject | null;
    readonly oldObject: ServiceObject | null;
    readonly userInfo: Record<string, unknown>;
  };
}

interface Response {
  readonly allowed: boolean;
  readonly status?: { readonly code: number; readonly message: string };
  readonly patchType?: 'JSONPatch';
  readonly patch?: string;
}

/** Serves the webhooks with the certificate in the mounted folder, which is read again when it changes. */
export async function serveWebhooks(temporaryFolder: string): Promise<AsyncDisposable> {
  const folder = join(temporaryFolder, files.certificates);
  const read = async () => ({
    cert: await readFile(join(folder, 'tls.crt')),
    key: await readFile(join(folder, 'tls.key')),
  });
  const server = createServer(await read(), async (incoming, outgoing) => {
    let text = '';
    for await (const chunk of incoming.setEncoding('utf8')) text += chunk;
    const path = incoming.url?.split('?')[0] ?? '';
    const known = webhookPaths.find((each) => each === path);
    if (!known) return void outgoing.writeHead(404).end();
    const { apiVersion, kind, request } = JSON.parse(text) as Review;
    const response = {
      uid: request.uid,
      ...(known.startsWith('/mutate') ? mutate(request) : validate(known, request)),
    };
    // Every call is a handshake of its own, so that a new certificate shows at once.
    outgoing.writeHead(200, { 'content-type': 'application/json', connection: 'close' });
    outgoing.end(JSON.stringify({ apiVersion, kind, response }));
  });
  const certificate = join(folder, 'tls.crt');
  watchFile(certificate, { interval: 500 }, () => {
    void read().then((pair) => server.setSecureContext(pair));
  });
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(ports.webhooks, resolve));
  return {
    async [Symbol.asyncDispose]() {
      unwatchFile(certificate);
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Fills in names that were left out, and who asked. */
function mutate({ object, userInfo }: Review['request']): Response {
  if (!object) return { allowed: true };
  const { metadata, spec } = object;
  const wanted: Record<string, unknown> = {
    externalName: spec['externalName'] || metadata.name,
    ...('serviceInstanceName' in spec ? { secretName: spec['secretName'] || metadata.name } : {}),
    userInfo: spec['userInfo'] ?? userInfo,
  };
  const patch = Object.entries(wanted)
    .filter(([field, value]) => spec[field] !== value)
    .map(([field, value]) => ({ op: 'add', path: `/spec/${field}`, value }));
  if (patch.length === 0) return { allowed: true };
  return { allowed: true, patchType: 'JSONPatch', patch: Buffer.from(JSON.stringify(patch)).toString('base64') };
}

const denied = (message: string): Response => ({ allowed: false, status: { code: 403, message } });

function validate(path: string, { operation, object, oldObject }: Review['request']): Response {
  const isBinding = path.endsWith('-servicebinding');
  if (operation === 'DELETE' && !isBinding) {
    const prevented = oldObject?.metadata.annotations?.['services.cloud.sap.com/preventDeletion'] === 'true';
    return prevented
      ? denied(`service instance '${oldObject?.metadata.name}' is marked with "prevent deletion"`)
      : { allowed: true };
  }
  if (operation === 'UPDATE' && isBinding && named(object) !== named(oldObject)) {
    return denied('updating service bindings is not supported');
  }
  return { allowed: true };
}

/** What of a binding may never change. */
const named = (object: ServiceObject | null) =>
  JSON.stringify([object?.spec['serviceInstanceName'], object?.spec['secretName'], object?.spec['externalName']]);
