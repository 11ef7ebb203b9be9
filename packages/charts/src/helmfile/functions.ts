import { isAbsolute, join } from 'node:path';
import type { FunctionEnvironment } from '../functions/environment.ts';
import { helmFunctions } from '../functions/index.ts';
import { GoObject, isMap, strings, typeOf, type GoFunction, type GoMap, type Value } from '../go/values.ts';
import type { FunctionTable, Run, TemplateFunction } from '../template/run.ts';
import { fn, inRun, variadic, walking } from '../template/signature.ts';
import { readJson } from '../yaml/json.ts';
import { readYaml } from '../yaml/read.ts';
import { writeYaml } from '../yaml/write.ts';
import { HelmfileError } from './helmfile-error.ts';
import type { TreeEntry, TreeFiles } from './tree-files.ts';
import { helmfileYaml } from './timestamp.ts';

/** Runs a program for `exec` and answers what it wrote. Synchronous, because templates are. */
export type ExecProgram = (call: {
  readonly command: string;
  readonly args: readonly string[];
  readonly input: string;
  readonly directory: string;
  readonly env: Readonly<Record<string, string>>;
}) => string;

/** What helmfile's functions need besides what every template function needs. */
export interface HelmfileEnvironment extends FunctionEnvironment {
  readonly files: TreeFiles;
  /** Where relative paths begin. */
  readonly directory: string;
  readonly variables: Readonly<Record<string, string | undefined>>;
  readonly exec: ExecProgram | undefined;
  /** Renders a text in a template of its own. */
  readonly render: (text: string, data: Value) => string;
  /** Called with every path that is looked at, so that a cached result can be checked. */
  readonly touched: (path: string) => void;
}

function environmentOf(run: Run): HelmfileEnvironment {
  return run.environment as HelmfileEnvironment;
}

function located(run: Run, path: string, caller: string): string {
  const { files, directory, touched } = environmentOf(run);
  const absolute = isAbsolute(path) ? path : join(directory, path);
  files.guard(absolute, caller);
  touched(absolute);
  return absolute;
}

function readFile(run: Run, path: string): string {
  const absolute = located(run, path, 'readFile');
  const text = environmentOf(run).files.find(absolute);
  if (text === undefined) throw new HelmfileError('NotFound', `open ${absolute}: no such file or directory`);
  return text;
}

function entriesOf(run: Run, path: string, caller: string): TreeEntry[] {
  const absolute = located(run, path, caller);
  const entries = environmentOf(run).files.list(absolute);
  if (!entries) throw new HelmfileError('NotFound', `${caller} "${absolute}": no such directory`);
  return entries;
}

/** What `readDirEntries` answers. */
class DirectoryEntry extends GoObject {
  override readonly goType = '*os.unixDirent';
  override readonly goKind = 'ptr';
  readonly #entry: TreeEntry;

  constructor(entry: TreeEntry) {
    super();
    this.#entry = entry;
  }

  override method(name: string): GoFunction<unknown> | undefined {
    if (name === 'Name') return fn([], () => this.#entry.name);
    if (name === 'IsDir') return fn([], () => this.#entry.isDirectory);
    return undefined;
  }

  override text(): string {
    return `${this.#entry.isDirectory ? 'd' : '-'} ${this.#entry.name}${this.#entry.isDirectory ? '/' : ''}`;
  }
}

/** A path that leads nowhere; `getOrNil` makes nil of it. helmfile prints the whole map; it may hold secrets. */
class NoValueError extends Error {}

function get(path: string, args: Value[]): Value {
  if (args.length < 1 || args.length > 2)
    throw new Error(
      `unexpected number of args passed to the template function get(path, [def, ]obj): expected 1 or 2, got ${args.length}`,
    );
  const hasDefault = args.length === 2;
  let value = args.at(-1);
  if (path === '') return value;
  for (const key of path.split('.')) {
    if (isMap(value)) {
      if (value.has(key)) value = value.get(key);
      else if (hasDefault) return args[0];
      else throw new NoValueError(`no value exist for key "${key}"`);
    } else if (value instanceof GoObject && value.goKind === 'struct') {
      const field = value.field(key);
      if (field === undefined) {
        if (hasDefault) return args[0];
        throw new NoValueError(`no field named "${key}" exist`);
      }
      value = field;
    } else {
      const type = value === null || value === undefined ? '<nil>' : typeOf(value);
      throw new NoValueError(
        `unexpected type(${type}) of value for key "${key}": it must be either map[string]any or any struct`,
      );
    }
  }
  return value;
}

function getOrNil(path: string, object: Value): Value {
  try {
    return get(path, [object]);
  } catch (error) {
    if (error instanceof NoValueError) return null;
    throw error;
  }
}

function setValueAtPath(path: string, value: Value, values: GoMap | null): Value {
  const keys = path.split('.');
  const last = keys.pop()!;
  const fail = (key: string, what: string) => {
    throw new Error(`failed to set value at path "${path}": value for key "${key}" ${what}`);
  };
  let current: Value = values;
  for (const key of keys) {
    if (!isMap(current) || !current.has(key)) fail(key, 'does not exist');
    current = (current as GoMap).get(key);
    if (!isMap(current)) fail(key, 'was not a map');
  }
  if (!isMap(current)) fail(last, 'was not a map');
  (current as GoMap).set(last, value);
  return values;
}

function exec(run: Run, env: GoMap | null, command: string, list: Value[] | null, inputs: Value[]): string {
  const { exec: program, directory } = environmentOf(run);
  if (!program)
    throw new HelmfileError('Forbidden', `exec ${JSON.stringify(command)}: templates may not run programs`, {
      hint: 'write the result into a values file, or allow exec',
    });
  const text = (value: Value, what: string): string => {
    if (typeof value === 'string') return value;
    throw new Error(`unexpected type of ${what} "${typeOf(value)}"`);
  };
  return program({
    command,
    args: (list ?? []).map((argument) => text(argument, 'arg')),
    input: inputs.length > 0 ? text(inputs[0], 'input') : '',
    directory,
    env: Object.fromEntries([...(env ?? [])].map(([name, value]) => [name, text(value, 'env')])),
  });
}

function requiredEnv(run: Run, name: string): string {
  const value = environmentOf(run).variables[name];
  if (value === undefined || value === '') throw new Error(`required env var \`${name}\` is not set`);
  return value;
}

/** As Go's `os.Expand` has it: a character of a shell's own is a name, and braces around nothing go away. */
function expandEnvironment(run: Run, text: string): string {
  const { variables } = environmentOf(run);
  return text.replace(
    /\$(?:\{([^}]*)\}|\{|([*#$@!?\-0-9])|([A-Za-z_][A-Za-z0-9_]*))/g,
    (_, braced?: string, special?: string, bare?: string) => variables[braced ?? special ?? bare ?? ''] ?? '',
  );
}

function refused(name: string, why = 'it reads secrets from elsewhere'): TemplateFunction {
  return variadic([], 'any', () => {
    throw new HelmfileError('Unsupported', `function "${name}" is not supported: ${why}`);
  });
}

const map = 'map[string]interface {}';

/** Functions Helm added to sprig; helmfile does not have them. */
const onlyInHelm = [
  'mustToYaml',
  'toYamlPretty',
  'fromYamlArray',
  'fromJsonArray',
  'toToml',
  'mustToToml',
  'fromToml',
  'lookup',
];

const sprig = [...helmFunctions].filter(([name]) => !onlyInHelm.includes(name));

/** Every function a helmfile template can call besides Go's own. */
export const helmfileFunctions: FunctionTable = new Map<string, TemplateFunction>([
  ...sprig,
  ['sprigGet', helmFunctions.get('get')!],
  ['env', inRun(['string'], (run, name) => environmentOf(run).variables[name] ?? '')],
  ['expandenv', inRun(['string'], expandEnvironment)],
  ['requiredEnv', inRun(['string'], requiredEnv)],
  ['get', variadic(['string'], 'any', (path, ...args) => get(path, args))],
  ['getOrNil', fn(['string', 'any'], getOrNil)],
  ['setValueAtPath', fn(['string', 'any', map], setValueAtPath)],
  ['readFile', inRun(['string'], readFile)],
  [
    'readDir',
    inRun(['string'], (run, path) =>
      strings(
        entriesOf(run, path, 'readDir')
          .filter((entry) => !entry.isDirectory)
          .map((entry) => join(path, entry.name)),
      ),
    ),
  ],
  [
    'readDirEntries',
    inRun(['string'], (run, path) => entriesOf(run, path, 'readDirEntries').map((entry) => new DirectoryEntry(entry))),
  ],
  ['isFile', inRun(['string'], (run, path) => environmentOf(run).files.isFile(located(run, path, 'isFile')))],
  ['isDir', inRun(['string'], (run, path) => environmentOf(run).files.isDirectory(located(run, path, 'isDir')))],
  ['toYaml', walking(fn(['any'], (value) => writeYaml(value, { dialect: 'v3' })))],
  ['fromYaml', fn(['string'], (text) => readYaml(text, helmfileYaml))],
  ['fromJson', fn(['string'], lenientJson)],
  ['tpl', inRun(['string', 'any'], (run, text, data) => environmentOf(run).render(text, data))],
  [
    'exec',
    {
      params: ['string', '[]interface {}'],
      rest: 'string',
      call: ([command, list, ...inputs], run: Run) => exec(run, null, command as string, list as Value[], inputs),
    },
  ],
  [
    'envExec',
    {
      params: [map, 'string', '[]interface {}'],
      rest: 'string',
      call: ([env, command, list, ...inputs], run: Run) =>
        exec(run, env as GoMap, command as string, list as Value[], inputs),
    },
  ],
  ['fetchSecretValue', refused('fetchSecretValue')],
  ['expandSecretRefs', refused('expandSecretRefs')],
  ['getHostByName', refused('getHostByName', 'templates ask no name server')],
]);

/** sprig's `fromJson` answers nil to what is no JSON. */
function lenientJson(text: string): Value {
  try {
    return readJson(text);
  } catch {
    return null;
  }
}
