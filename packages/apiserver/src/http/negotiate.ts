import { ApiError, badRequest } from '../api-error.ts';

/** How an answer is to look. */
export interface Representation {
  readonly format: 'json' | 'yaml';
  /** Absent: the object itself. */
  readonly as?: 'Table' | 'PartialObjectMetadata' | 'PartialObjectMetadataList';
  readonly pretty: boolean;
  /** The version of the form asked for. */
  readonly version?: 'v1' | 'v1beta1';
  /** What table rows carry of the object. */
  readonly includeObject: 'Metadata' | 'Object' | 'None';
}

export interface AcceptClause {
  readonly type: string;
  readonly subtype: string;
  readonly quality: number;
  readonly parameters: Readonly<Record<string, string>>;
}

/** The clauses of an Accept header, best first. */
export function parseAccept(accept: string): AcceptClause[] {
  const clauses: AcceptClause[] = [];
  for (const text of accept.split(',')) {
    const [media = '', ...rest] = text.split(';').map((part) => part.trim());
    const [type = '', subtype = '*'] = media.split('/');
    if (!type) continue;
    const parameters: Record<string, string> = {};
    for (const pair of rest) {
      const equals = pair.indexOf('=');
      if (equals > 0) parameters[pair.slice(0, equals)] = pair.slice(equals + 1).replace(/^"|"$/g, '');
    }
    const quality = parameters['q'] === undefined ? 1 : Number(parameters['q']) || 0;
    clauses.push({ type, subtype, quality, parameters });
  }
  const weight = (clause: AcceptClause) => (clause.type === '*' ? 2 : clause.subtype === '*' ? 1 : 0);
  return clauses.toSorted((a, b) => b.quality - a.quality || weight(a) - weight(b));
}

const builtinTypes = ['application/json', 'application/yaml', 'application/vnd.kubernetes.protobuf'];
const customTypes = ['application/json', 'application/yaml'];

export interface NegotiationOptions {
  readonly accept: string;
  readonly query: URLSearchParams;
  readonly userAgent: string;
  /** Custom resources are never served as protobuf. */
  readonly custom: boolean;
  /** Tables and bare metadata can be had of objects and lists, not of subresources and Status answers. */
  readonly transformable: boolean;
}

/** The first acceptable alternative; 406 when there is none. */
export function negotiate(options: NegotiationOptions): Representation {
  const { query } = options;
  const pretty = isPretty(query.get('pretty'), options.userAgent);
  const include = query.get('includeObject');
  const base = { pretty, includeObject: include === 'Object' || include === 'None' ? include : 'Metadata' } as const;
  if (!options.accept) return { ...base, format: 'json' };
  const clauses = parseAccept(options.accept);
  const types = options.custom ? customTypes : builtinTypes;
  let known = options.custom;
  for (const clause of clauses) {
    const media = `${clause.type}/${clause.subtype}`;
    // The router of the real server knows the one wildcard only; for custom resources there is no router in between.
    const wildcard = media === '*/*' || (options.custom && media === 'application/*');
    if (!wildcard && !types.includes(media)) continue;
    known = true;
    const as = transformation(clause, options.transformable);
    if (as === null) continue;
    // Every client that offers protobuf reads JSON too and looks at the answer's content type.
    const format = media === 'application/yaml' ? 'yaml' : 'json';
    if (!as) return { ...base, format };
    if (as === 'Table') checkIncludeObject(include);
    return { ...base, format, as, version: clause.parameters['v'] === 'v1beta1' ? 'v1beta1' : 'v1' };
  }
  throw notAcceptable(builtinTypes, known);
}

function checkIncludeObject(include: string | null): void {
  if (!include || ['Metadata', 'Object', 'None'].includes(include)) return;
  throw badRequest(
    `Unable to convert to Table as requested: includeObject: Invalid value: ${JSON.stringify(include)}: must be 'Metadata', 'Object', 'None', or empty`,
  );
}

/** `undefined`: none asked for; `null`: one that cannot be had. */
function transformation(clause: AcceptClause, transformable: boolean): Representation['as'] | undefined | null {
  const { as, g, v } = clause.parameters;
  if (as === undefined && g === undefined && v === undefined) return undefined;
  if (!transformable || g !== 'meta.k8s.io' || (v !== 'v1' && v !== 'v1beta1')) return null;
  if (as === 'Table' || as === 'PartialObjectMetadata' || as === 'PartialObjectMetadataList') return as;
  return null;
}

function notAcceptable(types: readonly string[], known: boolean): ApiError {
  const list = types.join(', ');
  // The router refuses media types it never heard of, the handler refuses impossible parameters; both texts are API.
  if (known) {
    return new ApiError({
      code: 406,
      reason: 'NotAcceptable',
      message: `only the following media types are accepted: ${list}`,
    });
  }
  return new ApiError({
    code: 406,
    reason: 'NotAcceptable',
    message: `406: Not Acceptable\n\nAvailable representations: ${list}`,
    details: {},
  });
}

function isPretty(parameter: string | null, userAgent: string): boolean {
  if (parameter !== null) return parameter !== '0' && parameter !== 'false';
  return /^(curl|Wget|Mozilla\/5\.0)/.test(userAgent);
}
