import { readFile, stat } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { isAbsolute, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { CommandError, exitCodes } from '@slipway/kube/command';
import type { OperatorDescription } from '@slipway/runtime';

/** The flag that names packages of operators that did not come with this command. */
export const operatorFlag = 'operator';

/** An operator from a package outside this command's own. */
export interface OutsideOperator {
  readonly operator: OperatorDescription;
  /** Of its package. Together with the version it names the image it runs from. */
  readonly packageName: string;
  readonly version: string;
}

interface OutsideManifest {
  readonly name?: unknown;
  readonly version?: unknown;
  readonly main?: unknown;
  readonly exports?: unknown;
  readonly slipway?: { readonly operator?: unknown };
}

/** What stands behind each `--operator`. It is read before the flags are known: the operator brings some. */
export function operatorArguments(argv: readonly string[]): string[] {
  const flag = `--${operatorFlag}`;
  const end = argv.indexOf('--');
  const words = end === -1 ? argv : argv.slice(0, end);
  return words.flatMap((word, index) => {
    if (word.startsWith(`${flag}=`)) return [word.slice(flag.length + 1)];
    const value = words[index + 1];
    return word === flag && value !== undefined ? [value] : [];
  });
}

/** Loads the operator of a package, given as a folder (`./my-operator`) or as the name of an installed package. */
export async function loadOutsideOperator(given: string, cwd: string): Promise<OutsideOperator> {
  const folder = isPath(given) ? resolve(cwd, given) : await installedFolder(given, cwd);
  const manifest = await readManifest(given, folder);
  const { operator: exported } = manifest.slipway ?? {};
  if (typeof exported !== 'string' || exported === '')
    throw unusable(
      `${given}: its package.json does not say which operator it brings`,
      'add "slipway": { "operator": "NAME" }, where NAME is what its main module exports',
    );
  const module = await mainModule(given, folder, manifest);
  const content = await load(given, module);
  const value = content[exported];
  if (value === undefined)
    throw unusable(
      `${given}: its package.json names ${exported}, which ${module} does not export`,
      `it exports ${Object.keys(content).join(', ') || 'nothing'}; export the OperatorDescription, or name another one under slipway.operator`,
    );
  // Loaded when there is something to look at: it knows all kinds.
  const { descriptionProblem } = await import('./description-problem.ts');
  const problem = descriptionProblem(value);
  if (problem !== undefined)
    throw unusable(
      `${given}: ${exported} is no OperatorDescription: ${problem}`,
      'docs/operator-description.md lists what it has; `satisfies OperatorDescription` lets the compiler say it',
    );
  return {
    operator: value as OperatorDescription,
    packageName: typeof manifest.name === 'string' ? manifest.name : (value as OperatorDescription).name,
    version: typeof manifest.version === 'string' ? manifest.version : '0.0.0',
  };
}

function isPath(given: string): boolean {
  return given === '' || given.startsWith('.') || isAbsolute(given) || !packageName.test(given);
}

const packageName = /^(@[a-z0-9~-][a-z0-9._~-]*\/)?[a-z0-9~-][a-z0-9._~-]*$/;

async function installedFolder(name: string, cwd: string): Promise<string> {
  for (const folder of createRequire(join(cwd, 'package.json')).resolve.paths(name) ?? [])
    if (await exists(join(folder, name, 'package.json'))) return join(folder, name);
  throw unusable(
    `there is no package '${name}' to load an operator from`,
    (await exists(join(cwd, name, 'package.json')))
      ? `a folder begins with a dot: --operator ./${name}`
      : `install it with npm install ${name}, or name the folder of a package: --operator ./FOLDER`,
  );
}

async function readManifest(given: string, folder: string): Promise<OutsideManifest> {
  const file = join(folder, 'package.json');
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    throw unusable(
      `${given}: there is no ${file}`,
      'name the folder that holds the package.json of the operator',
      error,
    );
  }
  try {
    return JSON.parse(text) as OutsideManifest;
  } catch (error) {
    throw unusable(
      `${given}: ${file} is not JSON: ${messageOf(error)}`,
      'correct it, then run the command again',
      error,
    );
  }
}

/** The file `import` of the package would read. */
async function mainModule(given: string, folder: string, { exports, main }: OutsideManifest): Promise<string> {
  const entry = exportedFile(exports) ?? (typeof main === 'string' ? main : 'index.js');
  const file = join(folder, entry);
  if (await exists(file)) return file;
  throw unusable(
    `${given}: its main module ${file} does not exist`,
    'build the package, or correct "exports" in its package.json',
  );
}

/** The target of `.` in the `exports` of a package, by the conditions an `import` has. */
function exportedFile(exports: unknown): string | undefined {
  if (typeof exports === 'string') return exports;
  if (Array.isArray(exports)) return exports.map(exportedFile).find((file) => file !== undefined);
  if (typeof exports !== 'object' || exports === null) return undefined;
  for (const [condition, target] of Object.entries(exports)) {
    const found = ['.', 'node', 'import', 'module-sync', 'default'].includes(condition)
      ? exportedFile(target)
      : undefined;
    if (found !== undefined) return found;
  }
  return undefined;
}

async function load(given: string, module: string): Promise<Readonly<Record<string, unknown>>> {
  try {
    return (await import(pathToFileURL(module).href)) as Record<string, unknown>;
  } catch (error) {
    throw unusable(`${given}: ${module} cannot be loaded: ${messageOf(error)}`, loadingHint(error), error);
  }
}

function loadingHint(error: unknown): string {
  switch ((error as { code?: unknown } | null)?.code) {
    case 'ERR_MODULE_NOT_FOUND':
      return 'run npm install in the folder of the package';
    case 'ERR_UNSUPPORTED_NODE_MODULES_TYPE_STRIPPING':
      return 'Node reads no TypeScript below node_modules: build the package to JavaScript, or name its own folder';
    case 'ERR_UNKNOWN_FILE_EXTENSION':
      return `Node ${process.versions.node} reads no TypeScript: take 22.18 or newer, or build the package to JavaScript`;
    default:
      return 'mend the module; --verbose shows where it failed';
  }
}

async function exists(file: string): Promise<boolean> {
  return (await stat(file).catch(() => undefined)) !== undefined;
}

function messageOf(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).split('\n')[0]!;
}

function unusable(message: string, hint: string, cause?: unknown): CommandError {
  return new CommandError(message, { hint, exitCode: exitCodes.usage, cause });
}
