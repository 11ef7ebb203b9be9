/** Finds values in an object. Made by {@link compileJsonPath}. */
export type JsonPath = (object: unknown) => readonly unknown[];

type Step = (value: unknown) => readonly unknown[];

/**
 * A path as kubectl's `-o jsonpath` takes it, as far as one needs it for a status: `.status.phase`, `.spec.ports[0].port`,
 * `.items[*].name`, `.metadata.labels['app.kubernetes.io/name']`, `.status.conditions[?(@.type=="Ready")].status`. Braces
 * around it are allowed. Throws an error that shows the place when it is none of these.
 */
export function compileJsonPath(text: string): JsonPath {
  const path = text.trim().replace(/^\{(.*)\}$/s, '$1');
  const steps: Step[] = [];
  let at = path.startsWith('$') ? 1 : 0;
  while (at < path.length) {
    const found = stepAt(path, at);
    if (!found) throw new Error(`"${text}" is not a path: do not understand "${path.slice(at)}"`);
    steps.push(found.step);
    at = found.end;
  }
  if (steps.length === 0) throw new Error(`"${text}" is not a path: it is empty`);
  return (object) => {
    let values: readonly unknown[] = [object];
    for (const step of steps) values = values.flatMap((value) => step(value));
    return values;
  };
}

const field = /\.?([A-Za-z_$][\w$-]*)/y;
const quoted = /\[(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)")\]/y;
const index = /\[(-?\d+)\]/y;
const all = /\[\*\]|\.\*/y;
const filter =
  /\[\?\(\s*@((?:\.[A-Za-z_$][\w$-]*)+)\s*(==|!=)\s*(?:'([^']*)'|"([^"]*)"|(true|false)|(-?\d+(?:\.\d+)?))\s*\)\]/y;

function stepAt(path: string, at: number): { step: Step; end: number } | undefined {
  const match = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at;
    return pattern.exec(path);
  };
  const end = (found: RegExpExecArray) => at + found[0].length;

  const everything = match(all);
  if (everything) return { step: valuesOf, end: end(everything) };
  const name = match(field);
  if (name && (name[0].startsWith('.') || at === 0))
    return { step: (value) => fieldOf(value, name[1]!), end: end(name) };
  const key = match(quoted);
  if (key) {
    const text = (key[1] ?? key[2]!).replace(/\\(.)/g, '$1');
    return { step: (value) => fieldOf(value, text), end: end(key) };
  }
  const position = match(index);
  if (position) return { step: (value) => itemOf(value, Number(position[1])), end: end(position) };
  const chosen = match(filter);
  if (chosen) return { step: filterStep(chosen), end: end(chosen) };
  return undefined;
}

function filterStep([, path, operator, single, double, flag, number]: RegExpExecArray): Step {
  const names = path!.slice(1).split('.');
  const wanted = single ?? double ?? (flag === undefined ? Number(number) : flag === 'true');
  return (value) =>
    valuesOf(value).filter((item) => {
      let found: unknown = item;
      for (const name of names) found = fieldOf(found, name)[0];
      return (found === wanted) === (operator === '==');
    });
}

function fieldOf(value: unknown, name: string): readonly unknown[] {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && Object.hasOwn(value, name)
    ? [(value as Record<string, unknown>)[name]]
    : [];
}

function itemOf(value: unknown, position: number): readonly unknown[] {
  if (!Array.isArray(value)) return [];
  const at = position < 0 ? value.length + position : position;
  return at >= 0 && at < value.length ? [value[at]] : [];
}

function valuesOf(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value;
  return typeof value === 'object' && value !== null ? Object.values(value) : [];
}
