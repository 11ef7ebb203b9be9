import { isBigInteger, parseExactly } from '../big-integer.ts';
import { ApiError, type StatusBody } from '../api-error.ts';
import type { Clock } from '../clock.ts';
import type { ApiObject, JsonObject } from '../object.ts';
import type { Answer, ListMetadata } from '../request/answer.ts';
import { apiVersionOf, convertTogether, inVersion } from '../request/versions.ts';
import type { Resource } from '../resource.ts';
import type { ApiResponse } from '../server.ts';
import type { Entry } from '../store/entry.ts';
import { partialMetadata, tableOf, tableRow } from '../table/table.ts';
import { encodeEntry, encodeObject, itemText, joined } from './encode.ts';
import type { Representation } from './negotiate.ts';

/** Turns an answer into bytes of the negotiated form. */
export async function render(answer: Answer, representation: Representation, clock: Clock): Promise<ApiResponse> {
  switch (answer.kind) {
    case 'stream':
      return { status: 200, headers: { 'content-type': 'application/json' }, stream: answer.start };
    case 'status':
      return renderJson(answer.status, lineOf(answer.body), representation);
    case 'list':
      return renderJson(
        200,
        await listBytes(answer.entries, answer.metadata, answer.resource, representation, clock),
        representation,
      );
    case 'entry':
    case 'object': {
      if (!representation.as || isStatus(answer)) {
        const bytes =
          answer.kind === 'entry'
            ? joined(await encodeEntry(answer.entry, answer.resource))
            : encodeObject(answer.object, answer.resource.custom);
        return renderJson(answer.status, bytes, representation);
      }
      const object = answer.kind === 'entry' ? await inVersion(answer.entry, answer.resource) : answer.object;
      if (representation.as === 'PartialObjectMetadataList') {
        throw wrongForm(`${representation.as}, but the requested object is not a list (${goType(answer.resource)})`);
      }
      const shown = inFormVersion(transformed(object, answer.resource, representation, clock), representation);
      return renderJson(answer.status, lineOf(shown), representation);
    }
  }
}

function lineOf(value: object): Buffer {
  return Buffer.from(`${JSON.stringify(value)}\n`);
}

function wrongForm(what: string): ApiError {
  return new ApiError({ code: 406, reason: 'NotAcceptable', message: `you requested ${what}` });
}

/** The real server names its own type for the kind. */
function goType({ group, kind, custom }: Resource): string {
  return custom ? '*unstructured.Unstructured' : `*${group ? group.split('.')[0] : 'core'}.${kind}`;
}

/** Old clients ask for the same forms under the name they had before. */
function inFormVersion<T extends JsonObject>(body: T, { version }: Representation): T {
  if (version !== 'v1beta1') return body;
  const renamed = (value: JsonObject) => ({ ...value, apiVersion: 'meta.k8s.io/v1beta1' });
  const rows = body['rows'] as { object: JsonObject | null }[] | undefined;
  const items = body['items'] as JsonObject[] | undefined;
  return {
    ...renamed(body),
    ...(rows && {
      rows: rows.map((row) => ({ ...row, object: isPartial(row.object) ? renamed(row.object) : row.object })),
    }),
    ...(items && { items: items.map(renamed) }),
  } as unknown as T;
}

function isPartial(object: JsonObject | null): object is JsonObject {
  return object?.['kind'] === 'PartialObjectMetadata';
}

function isStatus(answer: Extract<Answer, { kind: 'entry' | 'object' }>): boolean {
  return answer.kind === 'object' && answer.object.kind === 'Status';
}

function transformed(object: ApiObject, resource: Resource, representation: Representation, clock: Clock): JsonObject {
  if (representation.as !== 'Table') return partialMetadata(object);
  const row = tableRow(object, resource, representation.includeObject, clock.now());
  return tableOf({ resourceVersion: object.metadata.resourceVersion ?? '' }, resource.columns, [row]);
}

/** Long lists are put together piece by piece; the text of a whole one could be longer than texts may be. */
const pieceLength = 1_000_000;

async function listBytes(
  entries: readonly Entry[],
  metadata: ListMetadata,
  resource: Resource,
  representation: Representation,
  clock: Clock,
): Promise<Buffer> {
  if (representation.as === 'PartialObjectMetadata') {
    throw wrongForm(`${representation.as}, but the requested object is a list (${goType(resource)}List)`);
  }
  await convertTogether(entries, resource);
  if (representation.as) {
    const objects: ApiObject[] = [];
    for (const entry of entries) objects.push(await inVersion(entry, resource));
    const body =
      representation.as === 'Table'
        ? tableOf(
            { ...metadata },
            resource.columns,
            objects.map((object) => tableRow(object, resource, representation.includeObject, clock.now())),
          )
        : {
            kind: 'PartialObjectMetadataList',
            apiVersion: 'meta.k8s.io/v1',
            metadata: { ...metadata },
            items: objects.map(partialMetadata),
          };
    return lineOf(inFormVersion(body, representation));
  }
  const kind = `"kind":${JSON.stringify(resource.listKind)}`;
  const apiVersion = `"apiVersion":${JSON.stringify(apiVersionOf(resource))}`;
  const meta = `"metadata":${JSON.stringify(resource.custom ? { continue: '', ...metadata } : metadata)}`;
  // The real server prints custom lists from a sorted map.
  const opening = resource.custom ? `{${apiVersion},"items":[` : `{${kind},${apiVersion},${meta},"items":[`;
  const closing = resource.custom ? `],${kind},${meta}}\n` : ']}\n';
  const parts: Buffer[] = [];
  let text = opening;
  for (const [index, entry] of entries.entries()) {
    let encoded = encodeEntry(entry, resource);
    if (encoded instanceof Promise) encoded = await encoded;
    text += index > 0 ? `,${itemText(encoded, resource.custom)}` : itemText(encoded, resource.custom);
    if (text.length > pieceLength) {
      parts.push(Buffer.from(text));
      text = '';
    }
  }
  parts.push(Buffer.from(text + closing));
  return parts.length === 1 ? parts[0]! : Buffer.concat(parts);
}

/** JSON bytes as they are, indented, or as YAML. Like Go's encoder, `json` ends with a line break; indented documents do not. */
export async function renderJson(status: number, json: Buffer, representation: Representation): Promise<ApiResponse> {
  if (representation.format === 'yaml') {
    const { stringify } = await import('yaml');
    const text = stringify(parseExactly(json.toString()), yamlInteger, {
      indentSeq: false,
      lineWidth: 0,
      sortMapEntries: true,
      // Go's YAML library quotes what YAML 1.1 would take for a date or a boolean.
      compat: 'yaml-1.1',
    });
    // The one key of managed fields on which the two libraries disagree.
    const body = Buffer.from(text.replace(/^(\s*)"\.": /gm, '$1.: '));
    return { status, headers: { 'content-type': 'application/yaml' }, body };
  }
  const body = representation.pretty ? Buffer.from(JSON.stringify(parseExactly(json.toString()), undefined, 2)) : json;
  return { status, headers: { 'content-type': 'application/json' }, body };
}

/** The writer of YAML prints an integer of any size, but knows only JavaScript's own. */
function yamlInteger(_key: unknown, value: unknown): unknown {
  return isBigInteger(value) ? BigInt(value.rawJSON) : value;
}

export const plainRepresentation: Representation = { format: 'json', pretty: false, includeObject: 'Metadata' };

/** A refusal as JSON, whatever was asked for: clients look at the code first. */
export function renderStatus(status: StatusBody, headers: Readonly<Record<string, string>>): ApiResponse {
  const { kind, apiVersion, metadata, status: outcome, message, reason, details, code } = status;
  const ordered = { kind, apiVersion, metadata, status: outcome, message, reason, details, code };
  return {
    status: code,
    headers: { 'content-type': 'application/json', ...headers },
    body: lineOf(ordered),
  };
}
