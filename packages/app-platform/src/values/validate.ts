import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import { isNode } from 'yaml';

import type { LoadedValues, ValuesFile } from './load.ts';
import { schemaFile } from './platform-root.ts';
import type { Path, Tree } from './tree.ts';
import { ValuesError, type ValuesProblem } from './values-error.ts';

/** Parts of the tree that come from the platform, not from the user. */
const ours = ['k8s', 'adminApps', 'teamApps'];

/** Checks the files of a values repository against the schema of the platform. Throws one error with every problem. */
export function validateValues({ tree, files }: LoadedValues, schema: Tree): void {
  const validate = compiled(schema);
  const checked = Object.fromEntries(Object.entries(tree).filter(([key]) => !ours.includes(key)));
  if (validate(checked)) return;
  const problems = (validate.errors ?? []).map((error) => problemOf(error, files));
  throw new ValuesError('Invalid', 'Values validation FAILED', unique(problems));
}

const validators = new WeakMap<Tree, ValidateFunction>();

/** A schema becomes a program; that takes longer than running it a hundred times. */
function compiled(schema: Tree): ValidateFunction {
  const known = validators.get(schema);
  if (known) return known;
  const ajv = new Ajv({ allErrors: true, strict: false, strictTypes: false, verbose: true, logger: false });
  try {
    const validate = ajv.compile(schema);
    validators.set(schema, validate);
    return validate;
  } catch (cause) {
    const said = cause instanceof Error ? cause.message : String(cause);
    throw new ValuesError('InvalidSchema', `Schema is invalid: ${schemaFile}: ${said}`, [], cause);
  }
}

function problemOf(error: ErrorObject, files: readonly ValuesFile[]): ValuesProblem {
  const path = error.instancePath
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
  const extra = error.params['additionalProperty'] as string | undefined;
  const at = extra === undefined ? path : [...path, extra];
  return { ...placeOf(at, files), path: at.join('.'), message: messageOf(error) };
}

/** In words, and never with the value: it may be a secret. */
function messageOf({ keyword, params, message }: ErrorObject): string {
  if (keyword === 'additionalProperties') return 'there is no such setting';
  if (keyword === 'enum') return `must be one of ${(params['allowedValues'] as unknown[]).join(', ')}`;
  return message ?? `fails ${keyword}`;
}

/** The file with the longest location that leads to `path`, and the line in it. */
function placeOf(path: Path, files: readonly ValuesFile[]): { file?: string; line?: number } {
  const holding = files.filter(({ location }) => location.every((part, index) => path[index] === part));
  const found = holding
    .map((file) => ({ file, depth: depthIn(file, path) }))
    .sort((a, b) => b.file.location.length - a.file.location.length || b.depth - a.depth)[0];
  if (!found) return {};
  const { file, depth } = found;
  const inner = ['spec', ...path.slice(file.location.length)].slice(0, depth);
  const node: unknown = depth === 0 ? undefined : file.document.getIn(inner, true);
  const range = isNode(node) ? node.range : undefined;
  return { file: file.path, ...(range ? { line: file.lines.linePos(range[0]).line } : {}) };
}

/** How far a file follows a path: of two files for one place, the one that says more about it is meant. */
function depthIn({ document, location }: ValuesFile, path: Path): number {
  const inner = ['spec', ...path.slice(location.length)];
  let depth = inner.length;
  while (depth > 0 && !document.hasIn(inner.slice(0, depth))) depth -= 1;
  return depth;
}

function unique(problems: readonly ValuesProblem[]): ValuesProblem[] {
  return [...new Map(problems.map((problem) => [JSON.stringify(problem), problem])).values()];
}
