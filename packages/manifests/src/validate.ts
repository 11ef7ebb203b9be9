/** A problem with one field of one object. */
export interface FieldProblem {
  readonly field: string;
  readonly message: string;
}

/**
 * What every object of a set must have before it makes sense to ask a server about it. The server checks the rest; this is
 * what would otherwise end in a wrong URL.
 */
export function validateManifest(value: unknown): FieldProblem[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return [{ field: 'document', message: `must be an object with apiVersion and kind, not ${describe(value)}` }];
  }
  const object = value as Record<string, unknown>;
  const problems: FieldProblem[] = [];
  requireText(object, 'apiVersion', problems);
  requireText(object, 'kind', problems);
  const { metadata } = object;
  if (typeof metadata !== 'object' || metadata === null || Array.isArray(metadata)) {
    problems.push({ field: 'metadata', message: 'is required' });
    return problems;
  }
  const meta = metadata as Record<string, unknown>;
  if (meta['generateName'] !== undefined && meta['name'] === undefined) {
    problems.push({ field: 'metadata.generateName', message: 'is not allowed: a member of a set needs a fixed name' });
  } else {
    requireText(meta, 'name', problems, 'metadata.');
  }
  if (meta['namespace'] !== undefined && typeof meta['namespace'] !== 'string') {
    problems.push({ field: 'metadata.namespace', message: `must be text, not ${describe(meta['namespace'])}` });
  }
  checkTextMap(meta, 'labels', problems);
  checkTextMap(meta, 'annotations', problems);
  return problems;
}

function requireText(object: Record<string, unknown>, field: string, problems: FieldProblem[], prefix = ''): void {
  const value = object[field];
  if (value === undefined || value === null || value === '')
    problems.push({ field: `${prefix}${field}`, message: 'is required' });
  else if (typeof value !== 'string')
    problems.push({ field: `${prefix}${field}`, message: `must be text, not ${describe(value)}; put it in quotes` });
}

function checkTextMap(meta: Record<string, unknown>, field: string, problems: FieldProblem[]): void {
  const map = meta[field];
  if (map === undefined || map === null) return;
  if (typeof map !== 'object' || Array.isArray(map)) {
    problems.push({ field: `metadata.${field}`, message: `must be a map of text to text, not ${describe(map)}` });
    return;
  }
  for (const [key, value] of Object.entries(map)) {
    if (typeof value !== 'string') {
      problems.push({
        field: `metadata.${field}[${key}]`,
        message: `must be text, not ${describe(value)}; put it in quotes`,
      });
    }
  }
}

function describe(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'object' ? 'a map' : `a ${typeof value}`;
}
