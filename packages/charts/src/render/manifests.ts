import { ChartError } from '../chart/chart-error.ts';
import { utf8Compare } from '../go/bytes.ts';
import { isMap, toPlain, type GoMap, type Value } from '../go/values.ts';
import { jsonKind } from '../yaml/json-kind.ts';
import { readYaml } from '../yaml/read.ts';
import { wantedText } from '../yaml/wanted-text.ts';
import type { DialectSwitches } from '../chart/dialect.ts';
import { installOrder, sortByKind } from './kind-order.ts';

/** One object a chart wants to have. */
export interface RenderedManifest {
  /** The template it came from, such as `web/templates/service.yaml`. */
  readonly path: string;
  readonly kind: string;
  readonly apiVersion: string;
  readonly name: string;
  /** The text, as it was rendered. */
  readonly content: string;
  /** The object, read when it is first asked for; null for a document that holds only comments. */
  readonly object: () => Record<string, unknown> | null;
}

/** When a hook runs, in Helm's words. */
export type HookEvent =
  | 'pre-install'
  | 'post-install'
  | 'pre-delete'
  | 'post-delete'
  | 'pre-upgrade'
  | 'post-upgrade'
  | 'pre-rollback'
  | 'post-rollback'
  | 'test';

/** An object that is created at a certain moment of a release's life and is no part of it otherwise. */
export interface RenderedHook extends RenderedManifest {
  readonly events: readonly HookEvent[];
  readonly weight: number;
  readonly deletePolicies: readonly string[];
  readonly outputLogPolicies: readonly string[];
}

const events = new Map<string, HookEvent>([
  ['pre-install', 'pre-install'],
  ['post-install', 'post-install'],
  ['pre-delete', 'pre-delete'],
  ['post-delete', 'post-delete'],
  ['pre-upgrade', 'pre-upgrade'],
  ['post-upgrade', 'post-upgrade'],
  ['pre-rollback', 'pre-rollback'],
  ['post-rollback', 'post-rollback'],
  ['test', 'test'],
  ['test-success', 'test'],
]);

/** Takes rendered files apart into objects and hooks, each in the order of kinds. */
export function sortManifests(
  files: ReadonlyMap<string, string>,
  switches: DialectSwitches,
): { manifests: RenderedManifest[]; hooks: RenderedHook[] } {
  const manifests: RenderedManifest[] = [];
  const hooks: RenderedHook[] = [];
  for (const path of [...files.keys()].sort(utf8Compare)) {
    if (path.slice(path.lastIndexOf('/') + 1).startsWith('_')) continue;
    for (const content of splitDocuments(files.get(path)!, switches)) {
      const manifest = readManifest(path, content);
      const hook = hookOf(manifest);
      if (hook === undefined) manifests.push(manifest.manifest);
      else if (hook !== null) hooks.push(hook);
    }
  }
  const order = switches.webhooksInOrder
    ? installOrder
    : installOrder.filter((kind) => !kind.endsWith('WebhookConfiguration'));
  return { manifests: sortByKind(manifests, order), hooks: sortByKind(hooks, order) };
}

/** The documents of a text that say something. */
export function splitDocuments(text: string, switches: DialectSwitches): string[] {
  return text
    .trimStart()
    .split(switches.documentSeparator)
    .map((document) => (switches.trimsDocuments ? document.trim() : document.trimStart()))
    .filter((document) => document !== '');
}

interface ReadManifest {
  readonly manifest: RenderedManifest;
  readonly annotations: ReadonlyMap<string, string>;
}

const headFields = 'Name string "json:\\"name\\""; Annotations map[string]string "json:\\"annotations\\""';

function readManifest(path: string, content: string): ReadManifest {
  const fail = (why: string, cause?: unknown): never => {
    throw new ChartError('InvalidManifest', `YAML parse error on ${path}: ${why}`, { cause });
  };
  const wrong = (value: Value, wanted: string): never =>
    fail(`error unmarshaling JSON: while decoding JSON: json: cannot unmarshal ${jsonKind(value)} into Go ${wanted}`);
  let document: Value;
  try {
    document = readYaml(content);
  } catch (error) {
    return fail(`error converting YAML to JSON: ${(error as Error).message}`, error);
  }
  const text = (read: Value, place: string): string => {
    // Numbers are all floats here.
    const value = Number.isSafeInteger(read) ? BigInt(read as number) : read;
    return wantedText(value) ?? wrong(value, `struct field ${place} of type string`);
  };
  if (document !== null && !isMap(document)) return wrong(document, 'value of type util.SimpleHead');
  const head: GoMap = document ?? new Map();
  const metadata = head.get('metadata') ?? null;
  if (metadata !== null && !isMap(metadata))
    return wrong(metadata, `struct field SimpleHead.metadata of type struct { ${headFields} }`);
  const annotations = metadata?.get('annotations') ?? null;
  if (annotations !== null && !isMap(annotations))
    return wrong(annotations, 'struct field .metadata.annotations of type map[string]string');
  const annotationTexts = new Map<string, string>();
  for (const [key, value] of annotations ?? []) annotationTexts.set(key, text(value, '.metadata.annotations'));
  let plain: Record<string, unknown> | null | undefined;
  const manifest: RenderedManifest = {
    path,
    kind: text(head.get('kind') ?? null, 'SimpleHead.kind'),
    apiVersion: text(head.get('apiVersion') ?? null, 'SimpleHead.apiVersion'),
    name: text(metadata?.get('name') ?? null, '.metadata.name'),
    content,
    object: () => (plain ??= toPlain(document) as Record<string, unknown> | null),
  };
  return { manifest, annotations: annotationTexts };
}

/** The hook a manifest is; `undefined` when it is none, `null` when it waits for an event nobody knows. */
function hookOf({ manifest, annotations }: ReadManifest): RenderedHook | undefined | null {
  const types = annotations.get('helm.sh/hook');
  if (types === undefined) return undefined;
  const words = (key: string) =>
    annotations
      .get(key)
      ?.split(',')
      .map((word) => word.trim().toLowerCase()) ?? [];
  const found = types.split(',').map((type) => events.get(type.trim().toLowerCase()));
  if (found.includes(undefined)) return null;
  const weight = annotations.get('helm.sh/hook-weight');
  return {
    ...manifest,
    events: found as HookEvent[],
    weight: weight !== undefined && /^[+-]?\d+$/.test(weight) ? Number(weight) : 0,
    deletePolicies: words('helm.sh/hook-delete-policy'),
    outputLogPolicies: words('helm.sh/hook-output-log-policy'),
  };
}
