import type { Exchange } from './normalise.ts';

export interface Difference {
  readonly case: string;
  readonly step: string;
  /** Such as `code`, `headers.warning` or `body.spec.ports.0.port`. */
  readonly path: string;
  readonly expected: unknown;
  readonly actual: unknown;
}

/** Where two runs of a case differ. Keys have no order, lists have. */
export function compareRuns(name: string, expected: readonly Exchange[], actual: readonly Exchange[]): Difference[] {
  const differences: Difference[] = [];
  for (let index = 0; index < Math.max(expected.length, actual.length); index += 1) {
    const wanted = expected[index];
    const got = actual[index];
    const step = wanted?.step ?? got?.step ?? '';
    const add = (path: string, a: unknown, b: unknown) =>
      differences.push({ case: name, step, path, expected: a, actual: b });
    if (!wanted || !got || wanted.step !== got.step) {
      add('step', wanted?.step, got?.step);
      continue;
    }
    if (wanted.code !== got.code) {
      // Everything else differs as a matter of course.
      add('code', gist(wanted), gist(got));
      continue;
    }
    compareValues(wanted.headers, got.headers, 'headers', add);
    compareValues(wanted.body, got.body, 'body', add);
  }
  return differences;
}

function gist({ code, body }: Exchange): string {
  const message = (body as { message?: unknown } | undefined)?.message;
  return typeof message === 'string' ? `${code}: ${message}` : `${code}`;
}

function compareValues(
  expected: unknown,
  actual: unknown,
  path: string,
  add: (path: string, expected: unknown, actual: unknown) => void,
): void {
  if (Object.is(expected, actual)) return;
  if (Array.isArray(expected) && Array.isArray(actual)) {
    for (let index = 0; index < Math.max(expected.length, actual.length); index += 1) {
      compareValues(expected[index], actual[index], `${path}.${index}`, add);
    }
    return;
  }
  if (isObject(expected) && isObject(actual)) {
    for (const key of new Set([...Object.keys(expected), ...Object.keys(actual)])) {
      compareValues(expected[key], actual[key], `${path}.${key}`, add);
    }
    return;
  }
  add(path, expected, actual);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function describeDifference({ step, path, expected, actual }: Difference): string {
  return `${step} | ${path}\n    real:     ${show(expected)}\n    embedded: ${show(actual)}`;
}

function show(value: unknown): string {
  return value === undefined ? '(absent)' : JSON.stringify(value).slice(0, 1_000);
}
