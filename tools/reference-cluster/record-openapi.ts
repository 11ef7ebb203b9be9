import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { AdminClient, type AdminCredentials } from './admin-client.ts';
import { cacheDirectory } from './cache-directory.ts';
import { startReferenceCluster } from './start-reference-cluster.ts';

/** One resource in aggregated discovery, as far as the recorder reads it. */
interface DiscoveredResource {
  resource: string;
  verbs: string[];
}

interface DiscoveredGroups {
  items: {
    metadata: { name?: string };
    versions: { version: string; resources?: DiscoveredResource[] }[];
  }[];
}

const aggregatedDiscovery = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';
const table = 'application/json;as=Table;v=v1;g=meta.k8s.io';

/**
 * Writes what a server says about its own API into `directory`, replacing an older recording:
 * `version.json`, `openapi-v2.json`, `openapi-v3/index.json` and one document per group version,
 * `discovery/aggregated/{api,apis}.json`, `discovery/legacy/**`, and `tables.json` with the columns of every listable resource.
 */
export async function recordOpenApi(credentials: AdminCredentials, directory: string): Promise<{ files: number }> {
  using admin = new AdminClient(credentials);
  for (const folder of ['openapi-v3', 'discovery']) await rm(join(directory, folder), { recursive: true, force: true });
  let files = 0;

  async function save(path: string, content: unknown): Promise<void> {
    const file = join(directory, path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, `${JSON.stringify(content, null, 1)}\n`);
    files++;
  }
  async function record<T>(path: string, file: string, accept = 'application/json'): Promise<T> {
    const content = await admin.call<T>('GET', path, { headers: { accept } });
    await save(file, content);
    return content;
  }

  await record('/version', 'version.json');
  await record('/openapi/v2', 'openapi-v2.json');
  const index = await record<{ paths: Record<string, { serverRelativeURL: string }> }>(
    '/openapi/v3',
    'openapi-v3/index.json',
  );
  for (const [path, { serverRelativeURL }] of Object.entries(index.paths)) {
    await record(serverRelativeURL, `openapi-v3/${path || 'root'}.json`);
  }

  await record('/api', 'discovery/legacy/api.json');
  await record('/apis', 'discovery/legacy/apis.json');
  const core = await record<DiscoveredGroups>('/api', 'discovery/aggregated/api.json', aggregatedDiscovery);
  const named = await record<DiscoveredGroups>('/apis', 'discovery/aggregated/apis.json', aggregatedDiscovery);

  const tables: Record<string, unknown> = {};
  for (const { metadata, versions } of [...core.items, ...named.items]) {
    if (metadata.name) await record(`/apis/${metadata.name}`, `discovery/legacy/apis/${metadata.name}.json`);
    for (const { version, resources = [] } of versions) {
      const groupVersion = metadata.name ? `apis/${metadata.name}/${version}` : `api/${version}`;
      await record(`/${groupVersion}`, `discovery/legacy/${groupVersion}.json`);
      for (const { resource, verbs } of resources) {
        if (!verbs.includes('list')) continue;
        const answer = await admin.call<{ columnDefinitions?: unknown }>(
          'GET',
          `/${groupVersion}/${resource}?limit=1`,
          {
            headers: { accept: table },
          },
        );
        tables[`${groupVersion}/${resource}`] = answer.columnDefinitions ?? null;
      }
    }
  }
  await save('tables.json', tables);
  return { files };
}

/** Where recordings of a release are kept, outside the repository. */
export function recordingDirectory(gitVersion: string, env: NodeJS.ProcessEnv = process.env): string {
  return join(cacheDirectory(env), 'recordings', gitVersion);
}

async function main([directory]: readonly string[]): Promise<void> {
  await using cluster = await startReferenceCluster({ log: (line) => console.log(line) });
  using admin = new AdminClient(cluster);
  const { gitVersion } = await admin.call<{ gitVersion: string }>('GET', '/version');
  const target = directory ?? recordingDirectory(gitVersion);
  const { files } = await recordOpenApi(cluster, target);
  console.log(`wrote ${files} files to ${target}`);
}

if (import.meta.main) await main(process.argv.slice(2));
