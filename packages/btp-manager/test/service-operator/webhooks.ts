import { readFile } from 'node:fs/promises';
import { unwatchFile, watchFile } from 'node:fs';
import { createServer } from 'node:https';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';

import { files, ports, webhookPaths } from '../service-operator-facts.ts';

interface ServiceObject {
  metadata: { name: string; annotations?: Record<string, string> };
  spec: Record<string, unknown>;
  status?: { bindingID?: string };
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
      ...(known.startsWith('/mutate') ? mutate(known, request) : validate(known, request)),
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

const denied = (code: number, message: string): Response => ({ allowed: false, status: { code, message } });

const same = (one: unknown, other: unknown) => isDeepStrictEqual(one, other);

/** Fills in names that were left out, and who last changed an instance or made a binding. */
function mutate(path: string, { operation, object, oldObject, userInfo }: Review['request']): Response {
  if (!object) return { allowed: true };
  const { metadata } = object;
  const spec = { ...object.spec };
  const before = oldObject?.spec ?? {};
  if (operation === 'CREATE') spec['userInfo'] = userInfo;
  else if (!isBinding(path)) {
    spec['userInfo'] ??= before['userInfo'];
    if (!same(spec['userInfo'], before['userInfo'])) return denied(400, 'modifying spec.userInfo is not allowed');
    if (!same(spec, before)) spec['userInfo'] = userInfo;
  }
  spec['externalName'] ||= metadata.name;
  if (isBinding(path)) spec['secretName'] ||= metadata.name;
  const patch = Object.entries(spec)
    .filter(([field, value]) => value !== undefined && !same(object.spec[field], value))
    .map(([field, value]) => ({ op: 'add', path: `/spec/${field}`, value }));
  if (patch.length === 0) return { allowed: true };
  return { allowed: true, patchType: 'JSONPatch', patch: Buffer.from(JSON.stringify(patch)).toString('base64') };
}

function validate(path: string, { operation, object, oldObject }: Review['request']): Response {
  if (operation === 'DELETE') {
    const prevented = oldObject?.metadata.annotations?.['services.cloud.sap.com/preventDeletion']?.toLowerCase();
    return prevented === 'true' && !isBinding(path)
      ? denied(403, `service instance '${oldObject?.metadata.name}' is marked with "prevent deletion"`)
      : { allowed: true };
  }
  if (
    operation === 'UPDATE' &&
    isBinding(path) &&
    object?.status?.bindingID &&
    !same(fixed(object), fixed(oldObject))
  ) {
    return denied(403, 'updating service bindings is not supported');
  }
  return { allowed: true };
}

const isBinding = (path: string) => path.endsWith('-servicebinding');

/** What of a binding may not change once it is made. */
function fixed(object: ServiceObject | null): Record<string, unknown> {
  const { credentialsRotationPolicy: _policy, secretTemplate: _template, ...rest } = object?.spec ?? {};
  return rest;
}
