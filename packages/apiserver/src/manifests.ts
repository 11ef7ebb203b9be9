import { ApiError, type StatusBody } from './api-error.ts';
import { adminUser } from './auth/auth.ts';
import { pathOf } from './local-client.ts';
import type { ApiObject } from './object.ts';
import type { ApiServer } from './server.ts';

/** An object, the path of a YAML or JSON file or of a directory of them, or YAML itself (told from a path by its line breaks). */
export type Manifest = ApiObject | string;

/** Reads manifests into objects, in order. */
export async function readManifests(manifests: readonly Manifest[]): Promise<ApiObject[]> {
  const objects: ApiObject[] = [];
  for (const manifest of manifests) {
    if (typeof manifest !== 'string') objects.push(manifest);
    else if (manifest.includes('\n')) objects.push(...(await objectsIn(manifest, 'the given YAML')));
    else
      for (const file of await filesAt(manifest))
        objects.push(...(await objectsIn(await (await files()).readFile(file, 'utf8'), file)));
  }
  return objects;
}

/** Not every cluster reads files when it starts. */
function files() {
  return import('node:fs/promises');
}

async function filesAt(path: string): Promise<string[]> {
  const [{ readdir, stat }, { join }] = await Promise.all([files(), import('node:path')]);
  if (!(await stat(path)).isDirectory()) return [path];
  const names = (await readdir(path)).filter((name) => /\.(ya?ml|json)$/.test(name)).toSorted();
  return names.map((name) => join(path, name));
}

async function objectsIn(text: string, source: string): Promise<ApiObject[]> {
  const { parseAllDocuments } = await import('yaml');
  const objects: ApiObject[] = [];
  for (const document of parseAllDocuments(text, { merge: true })) {
    const [problem] = document.errors ?? [];
    if (problem) throw new Error(`${source}: ${problem.message}`);
    const value = document.toJS() as ApiObject | null;
    if (value === null || value === undefined) continue;
    if (typeof value !== 'object' || !value.kind || !value.apiVersion) {
      throw new Error(`${source}: a document has no kind or no apiVersion`);
    }
    if (value.kind === 'List') objects.push(...((value['items'] ?? []) as ApiObject[]));
    else objects.push(value);
  }
  return objects;
}

/** CRDs before namespaces before everything else; otherwise the order given. */
export function inOrder(objects: readonly ApiObject[]): ApiObject[] {
  const rank = ({ kind }: ApiObject) => (kind === 'CustomResourceDefinition' ? 0 : kind === 'Namespace' ? 1 : 2);
  return objects.toSorted((a, b) => rank(a) - rank(b));
}

/** Applies objects as the administrator, so that a second start with the same ones changes nothing. */
export async function applyManifests(server: ApiServer, objects: readonly ApiObject[]): Promise<void> {
  for (const object of inOrder(objects)) {
    const { apiVersion = '', kind = '', metadata } = object;
    const slash = apiVersion.indexOf('/');
    const group = slash < 0 ? '' : apiVersion.slice(0, slash);
    const resource = server.registry.byKind(group, apiVersion.slice(slash + 1), kind);
    const label = `${apiVersion} ${kind} ${metadata?.name ?? ''}`;
    if (!resource) throw new Error(`manifest ${label}: no such kind is served`);
    if (!metadata?.name) throw new Error(`manifest ${label}: metadata.name is missing`);
    const namespace = resource.namespaced ? (metadata.namespace ?? 'default') : undefined;
    const query = { fieldManager: 'slipway-cluster', force: 'true' };
    const response = await server.handle({
      method: 'PATCH',
      path: pathOf({ ...resource, name: metadata.name, ...(namespace ? { namespace } : {}) }, query),
      headers: { 'content-type': 'application/apply-patch+yaml', 'user-agent': 'slipway-cluster' },
      body: Buffer.from(JSON.stringify(object)),
      user: adminUser,
    });
    if (response.status < 400) continue;
    const status = JSON.parse(Buffer.from(response.body ?? []).toString()) as StatusBody;
    throw new ApiError({ ...status, message: `manifest ${label}: ${status.message ?? ''}` });
  }
}
