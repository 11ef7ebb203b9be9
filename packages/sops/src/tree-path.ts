import { SopsError } from './sops-error.ts';
import { type Element, Mapping, Sequence, type Value } from './tree.ts';

/** The way to a value: keys of maps and places in lists, as in `["users"][0]["name"]`. */
export type TreePath = readonly (string | number)[];

/** Reads a path as sops writes it. */
export function parseTreePath(text: string): TreePath {
  const path: (string | number)[] = [];
  const part = /\[(?:"([^"]*)"|'([^']*)'|(\d+))\]/y;
  while (part.lastIndex < text.length) {
    const match = part.exec(text);
    if (match === null) {
      throw new SopsError('config', `'${text}' is not a path`, { hint: `write it like '["users"][0]["name"]'` });
    }
    path.push(match[3] === undefined ? (match[1] ?? match[2]!) : Number(match[3]));
  }
  return path;
}

/** The path in the form it is typed in. */
function pathText(path: TreePath): string {
  return path.map((step) => `[${JSON.stringify(step)}]`).join('') || 'the top level';
}

/** The value at a path; there is an error with the first step that leads nowhere. */
export function valueAt(root: Mapping, path: TreePath): Value {
  return path.reduce<Value>((value, step, index) => {
    const found = childOf(value, step, path.slice(0, index));
    if (found === undefined) throw notThere(path.slice(0, index + 1));
    return found;
  }, root);
}

/** Puts a value at a path. Maps on the way are made; a list grows by one at its end. Nothing but the value at the end is replaced. */
export function setValueAt(root: Mapping, path: TreePath, value: Value): void {
  if (path.length === 0) throw new SopsError('config', 'the whole file cannot be set', { hint: 'name a key' });
  let at: Value = root;
  path.forEach((step, index) => {
    const way = path.slice(0, index);
    const next = path[index + 1];
    const found = childOf(at, step, way);
    if (next !== undefined && found !== undefined && found !== null) {
      at = found;
      return;
    }
    const made = next === undefined ? value : typeof next === 'number' ? new Sequence() : new Mapping();
    if (at instanceof Mapping) at.set(String(step), made);
    else if (at instanceof Sequence) setElement(at, Number(step), made, way);
    at = made;
  });
}

/** Takes the value at a path out. */
export function unsetValueAt(root: Mapping, path: TreePath): void {
  const step = path.at(-1);
  if (step === undefined) throw new SopsError('config', 'the whole file cannot be taken out', { hint: 'name a key' });
  const way = path.slice(0, -1);
  const at = valueAt(root, way);
  if (childOf(at, step, way) === undefined) throw notThere(path);
  if (at instanceof Mapping) at.entries = at.entries.filter((entry) => entry.kind === 'comment' || entry.key !== step);
  else if (at instanceof Sequence) {
    const gone = elementsOf(at)[Number(step)];
    at.elements = at.elements.filter((element) => element !== gone);
  }
}

function childOf(value: Value, step: string | number, way: TreePath): Value | undefined {
  if (value instanceof Mapping && typeof step === 'string') return value.get(step);
  if (value instanceof Sequence && typeof step === 'number') return elementsOf(value)[step]?.value;
  const kind = value instanceof Mapping ? 'a map' : value instanceof Sequence ? 'a list' : 'a single value';
  throw new SopsError('config', `${pathText(way)} is ${kind}, so there is no ${pathText([step])} in it`, {
    hint: 'look at the keys of the file; they are not encrypted',
  });
}

function elementsOf(sequence: Sequence): Element[] {
  return sequence.elements.filter((element) => element.kind === 'element');
}

function setElement(sequence: Sequence, index: number, value: Value, way: TreePath): void {
  const elements = elementsOf(sequence);
  const found = elements[index];
  if (found !== undefined) found.value = value;
  else if (index === elements.length) sequence.elements.push({ kind: 'element', value });
  else {
    throw new SopsError('config', `${pathText(way)} has ${elements.length} elements: the next is [${elements.length}]`);
  }
}

function notThere(path: TreePath): SopsError {
  return new SopsError('not-found', `there is no ${pathText(path)}`, {
    hint: 'look at the keys of the file; they are not encrypted',
  });
}
