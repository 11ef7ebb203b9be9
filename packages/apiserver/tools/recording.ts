import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/** An OpenAPI v3 schema node as served. */
export interface OpenApiNode {
  [key: string]: unknown;
}

export interface DiscoveredSubresource {
  name: string;
  group: string;
  version: string;
  kind: string;
  verbs: string[];
}

export interface DiscoveredResource {
  group: string;
  version: string;
  kind: string;
  plural: string;
  singular: string;
  namespaced: boolean;
  shortNames: string[];
  categories: string[];
  verbs: string[];
  subresources: DiscoveredSubresource[];
  storageVersionHash: string;
  /** name, type, format, priority, description */
  columns: [string, string, string, number, string][];
}

/** What a real server said about itself: see `readRecording`. */
export interface Recording {
  version: string;
  definitions: Map<string, OpenApiNode>;
  /** OpenAPI document path (`apis/apps/v1`) → names of the definitions in it. */
  documents: Map<string, string[]>;
  resources: DiscoveredResource[];
}

function readJson(file: string): unknown {
  return JSON.parse(readFileSync(file, 'utf8'));
}

interface AggregatedKind {
  group?: string;
  version?: string;
  kind?: string;
}

interface AggregatedDiscovery {
  items: {
    metadata?: { name?: string };
    versions: {
      version: string;
      resources?: {
        resource: string;
        responseKind?: AggregatedKind;
        scope: string;
        singularResource?: string;
        verbs: string[];
        shortNames?: string[];
        categories?: string[];
        subresources?: { subresource: string; responseKind?: AggregatedKind; verbs: string[] }[];
      }[];
    }[];
  }[];
}

interface LegacyDiscovery {
  resources: { name: string; storageVersionHash?: string }[];
}

/**
 * Reads what `tools/reference-cluster/record-openapi.ts` wrote: `openapi-v3/PATH.json`, `discovery/aggregated/{api,apis}.json`,
 * `discovery/legacy/PATH.json`, `tables.json` and `version.json`.
 */
export function readRecording(directory: string): Recording {
  const definitions = new Map<string, OpenApiNode>();
  const documents = new Map<string, string[]>();
  const openApi = join(directory, 'openapi-v3');
  for (const file of readdirSync(openApi, { recursive: true, encoding: 'utf8' }).toSorted()) {
    if (!file.endsWith('.json') || file === 'index.json') continue;
    const document = readJson(join(openApi, file)) as { components?: { schemas?: Record<string, OpenApiNode> } };
    const schemas = document.components?.schemas ?? {};
    documents.set(file.slice(0, -'.json'.length), Object.keys(schemas));
    for (const [name, node] of Object.entries(schemas)) definitions.set(name, node);
  }

  const columns = readJson(join(directory, 'tables.json')) as Record<string, Record<string, unknown>[]>;
  const resources: DiscoveredResource[] = [];
  for (const file of ['api.json', 'apis.json']) {
    const discovery = readJson(join(directory, 'discovery/aggregated', file)) as AggregatedDiscovery;
    for (const item of discovery.items) {
      const group = item.metadata?.name ?? '';
      for (const { version, resources: rows = [] } of item.versions) {
        const path = group === '' ? `api/${version}` : `apis/${group}/${version}`;
        const legacy = readJson(join(directory, 'discovery/legacy', `${path}.json`)) as LegacyDiscovery;
        for (const row of rows) {
          const hash = legacy.resources.find((entry) => entry.name === row.resource)?.storageVersionHash;
          resources.push({
            group,
            version,
            kind: row.responseKind?.kind ?? '',
            plural: row.resource,
            singular: row.singularResource ?? '',
            namespaced: row.scope === 'Namespaced',
            shortNames: row.shortNames ?? [],
            categories: row.categories ?? [],
            verbs: row.verbs,
            subresources: (row.subresources ?? []).map((subresource) => ({
              name: subresource.subresource,
              group: subresource.responseKind?.group || group,
              version: subresource.responseKind?.version || version,
              kind: subresource.responseKind?.kind ?? '',
              verbs: subresource.verbs,
            })),
            storageVersionHash: hash ?? '',
            columns: (columns[`${path}/${row.resource}`] ?? []).map(columnOf),
          });
        }
      }
    }
  }
  const version = readJson(join(directory, 'version.json')) as { gitVersion?: string };
  return { version: version.gitVersion ?? 'unknown', definitions, documents, resources };
}

function columnOf(row: Record<string, unknown>): [string, string, string, number, string] {
  return [
    String(row['name'] ?? ''),
    String(row['type'] ?? ''),
    String(row['format'] ?? ''),
    Number(row['priority'] ?? 0),
    String(row['description'] ?? ''),
  ];
}
