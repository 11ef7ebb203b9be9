import { quote } from '../kinds/field-errors.ts';
import { type ApiError, badRequest, invalid, type FieldError } from '../api-error.ts';
import type { JsonObject } from '../object.ts';
import { header, type ResourceRequest } from './core.ts';

export type FieldValidation = 'Ignore' | 'Warn' | 'Strict';

export interface WriteOptions {
  readonly dryRun: boolean;
  readonly fieldManager: string;
  readonly fieldValidation: FieldValidation;
  /** Apply patches only. */
  readonly force: boolean;
  /** The options as admission webhooks see them. */
  readonly object: JsonObject;
}

const printable = /^[\p{L}\p{M}\p{N}\p{P}\p{S} ]*$/u;

function metaInvalid(kind: string, errors: readonly FieldError[]): ApiError {
  return invalid({ group: 'meta.k8s.io', plural: '', kind }, '', errors);
}

/** The query of a create, update or patch. */
export function writeOptions(
  request: ResourceRequest,
  kind: 'CreateOptions' | 'UpdateOptions' | 'PatchOptions',
  apply = false,
): WriteOptions {
  const { query } = request;
  const errors: FieldError[] = [];
  const dryRun = query.getAll('dryRun').filter(Boolean);
  const force = query.get('force');
  const manager = query.get('fieldManager') ?? '';
  if (kind === 'PatchOptions') {
    if (apply && !manager) {
      errors.push({
        reason: 'FieldValueRequired',
        field: 'fieldManager',
        detail: 'Required value: is required for apply patch',
      });
    }
    if (!apply && force !== null) {
      errors.push({
        reason: 'FieldValueForbidden',
        field: 'force',
        detail: 'Forbidden: may not be specified for non-apply patch',
      });
    }
  }
  errors.push(...managerErrors(manager), ...dryRunErrors(dryRun));
  const validation = query.get('fieldValidation') ?? '';
  if (validation && !['Ignore', 'Warn', 'Strict'].includes(validation)) {
    errors.push({
      reason: 'FieldValueNotSupported',
      field: 'fieldValidation',
      detail: `Unsupported value: ${JSON.stringify(validation)}: supported values: "", "Ignore", "Strict", "Warn"`,
    });
  }
  if (errors.length > 0) throw metaInvalid(kind, errors);
  const object: JsonObject = { kind, apiVersion: 'meta.k8s.io/v1' };
  if (dryRun.length > 0) object['dryRun'] = dryRun;
  if (manager) object['fieldManager'] = manager;
  if (validation) object['fieldValidation'] = validation;
  if (force !== null) object['force'] = isTrue(force);
  return {
    dryRun: dryRun.length > 0,
    fieldManager: manager || managerOfUserAgent(header(request, 'user-agent')),
    fieldValidation: (validation || 'Warn') as FieldValidation,
    force: isTrue(force),
    object,
  };
}

function managerErrors(manager: string): FieldError[] {
  if (manager.length > 128) {
    return [{ reason: 'FieldValueTooLong', field: 'fieldManager', detail: 'Too long: may not be more than 128 bytes' }];
  }
  if (!printable.test(manager)) {
    return [
      {
        reason: 'FieldValueInvalid',
        field: 'fieldManager',
        detail: `Invalid value: ${quote(manager)}: ${unprintable(manager)}`,
      },
    ];
  }
  return [];
}

function unprintable(manager: string): string {
  // By code point, as Go counts them.
  const characters = Array.from(manager);
  const position = characters.findIndex((character) => !printable.test(character));
  const code = characters[position]!.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0');
  return `invalid character U+${code} (at position ${position})`;
}

function dryRunErrors(dryRun: readonly string[]): FieldError[] {
  if (dryRun.every((value) => value === 'All')) return [];
  return [
    {
      reason: 'FieldValueNotSupported',
      field: 'dryRun',
      detail: `Unsupported value: ${JSON.stringify(dryRun)}: supported values: "All"`,
    },
  ];
}

/** The name before the first slash, as far as it can be printed. */
export function managerOfUserAgent(userAgent: string): string {
  const name = userAgent.split('/')[0]!;
  const clean = Array.from(name, (character) => (printable.test(character) ? character : '')).join('');
  return clean.slice(0, 128) || 'unknown';
}

export interface DeleteOptions {
  readonly dryRun: boolean;
  readonly gracePeriodSeconds: number | undefined;
  readonly propagationPolicy: 'Foreground' | 'Background' | 'Orphan' | undefined;
  readonly orphanDependents: boolean | undefined;
  readonly preconditions: { readonly uid?: string; readonly resourceVersion?: string };
  readonly object: JsonObject;
}

/** DeleteOptions come in the body, or in the query when there is no body. */
export function deleteOptions(request: ResourceRequest, body: JsonObject | undefined): DeleteOptions {
  const { query } = request;
  const raw: JsonObject = body ? { ...body } : {};
  if (!body) {
    const grace = query.get('gracePeriodSeconds');
    if (grace !== null) {
      if (!/^[+-]?\d+$/.test(grace)) {
        throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(grace)}: invalid syntax`);
      }
      raw['gracePeriodSeconds'] = Number(grace);
    }
    const policy = query.get('propagationPolicy');
    if (policy !== null) raw['propagationPolicy'] = policy;
    const orphan = query.get('orphanDependents');
    if (orphan !== null) raw['orphanDependents'] = isTrue(orphan);
    const dryRun = query.getAll('dryRun').filter(Boolean);
    if (dryRun.length > 0) raw['dryRun'] = dryRun;
  }
  const policy = raw['propagationPolicy'] ?? undefined;
  const orphanDependents = raw['orphanDependents'] ?? undefined;
  const errors: FieldError[] = [];
  if (policy !== undefined && orphanDependents !== undefined) {
    errors.push({
      reason: 'FieldValueInvalid',
      field: 'propagationPolicy',
      detail: `Invalid value: ${JSON.stringify(policy)}: orphanDependents and deletionPropagation cannot be both set`,
    });
  }
  if (policy !== undefined && !['Foreground', 'Background', 'Orphan'].includes(policy as string)) {
    errors.push({
      reason: 'FieldValueNotSupported',
      field: 'propagationPolicy',
      detail: `Unsupported value: ${JSON.stringify(policy)}: supported values: "Foreground", "Background", "Orphan", "nil"`,
    });
  }
  const dryRun = Array.isArray(raw['dryRun']) ? raw['dryRun'].map(String) : [];
  errors.push(...dryRunErrors(dryRun));
  if (errors.length > 0) throw metaInvalid('DeleteOptions', errors);
  const preconditions = (raw['preconditions'] ?? {}) as { uid?: string; resourceVersion?: string };
  const grace = raw['gracePeriodSeconds'];
  return {
    dryRun: dryRun.length > 0,
    gracePeriodSeconds: typeof grace === 'number' ? Math.max(0, grace) : undefined,
    propagationPolicy: policy as DeleteOptions['propagationPolicy'],
    orphanDependents: orphanDependents as boolean | undefined,
    preconditions,
    object: { ...raw, kind: 'DeleteOptions', apiVersion: 'meta.k8s.io/v1' },
  };
}

export interface ListOptions {
  readonly labelSelector: string;
  readonly fieldSelector: string;
  /** 0: no limit. */
  readonly limit: number;
  readonly continueToken: string;
  /** As sent; empty when unset. */
  readonly resourceVersion: string;
  readonly resourceVersionMatch: '' | 'NotOlderThan' | 'Exact';
  readonly watch: boolean;
  readonly timeoutSeconds: number | undefined;
  readonly allowWatchBookmarks: boolean;
  readonly sendInitialEvents: boolean | undefined;
}

export function listOptions(query: URLSearchParams, forceWatch = false): ListOptions {
  const sendInitialEvents = query.get('sendInitialEvents');
  const options: ListOptions = {
    labelSelector: query.get('labelSelector') ?? '',
    fieldSelector: query.get('fieldSelector') ?? '',
    limit: Math.max(0, integer(query.get('limit')) ?? 0),
    continueToken: query.get('continue') ?? '',
    resourceVersion: query.get('resourceVersion') ?? '',
    resourceVersionMatch: (query.get('resourceVersionMatch') ?? '') as ListOptions['resourceVersionMatch'],
    watch: forceWatch || isTrue(query.get('watch')),
    timeoutSeconds: integer(query.get('timeoutSeconds')),
    allowWatchBookmarks: isTrue(query.get('allowWatchBookmarks')),
    sendInitialEvents: sendInitialEvents === null ? undefined : isTrue(sendInitialEvents),
  };
  const errors = listOptionErrors(options);
  if (errors.length > 0) throw metaInvalid('ListOptions', errors);
  return options;
}

function listOptionErrors(options: ListOptions): FieldError[] {
  const errors: FieldError[] = [];
  const { resourceVersion, resourceVersionMatch: match } = options;
  const forbid = (field: string, text: string) =>
    errors.push({ reason: 'FieldValueForbidden', field, detail: `Forbidden: ${text}` });
  const unknownMatch = () =>
    errors.push({
      reason: 'FieldValueNotSupported',
      field: 'resourceVersionMatch',
      detail: `Unsupported value: ${JSON.stringify(match)}: supported values: "Exact", "NotOlderThan", ""`,
    });
  if (options.watch) {
    if (options.sendInitialEvents !== undefined) {
      if (match !== 'NotOlderThan') {
        forbid('resourceVersionMatch', 'sendInitialEvents requires setting resourceVersionMatch to NotOlderThan');
      }
      return errors;
    }
    if (match)
      forbid(
        'resourceVersionMatch',
        'resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided',
      );
    if (match && match !== 'NotOlderThan') {
      errors.push({
        reason: 'FieldValueNotSupported',
        field: 'resourceVersionMatch',
        detail: `Unsupported value: ${JSON.stringify(match)}: supported values: "NotOlderThan"`,
      });
    }
    return errors;
  }
  if (options.sendInitialEvents !== undefined) forbid('sendInitialEvents', 'sendInitialEvents is forbidden for list');
  if (!match) return errors;
  if (!resourceVersion) {
    forbid('resourceVersionMatch', 'resourceVersionMatch is forbidden unless resourceVersion is provided');
  }
  if (options.continueToken) {
    forbid('resourceVersionMatch', 'resourceVersionMatch is forbidden when continue is provided');
  }
  if (match !== 'Exact' && match !== 'NotOlderThan') unknownMatch();
  if (match === 'Exact' && resourceVersion === '0') {
    forbid('resourceVersionMatch', 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"');
  }
  return errors;
}

/** Go reads `watch=1`, `watch=true`, and also `watch=` as true; only `0` and `false` are no. */
function isTrue(value: string | null): boolean {
  return value !== null && value !== '0' && value.toLowerCase() !== 'false';
}

function integer(value: string | null): number | undefined {
  if (value === null || value === '') return undefined;
  if (!/^[+-]?\d+$/.test(value)) throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(value)}: invalid syntax`);
  return Number(value);
}
