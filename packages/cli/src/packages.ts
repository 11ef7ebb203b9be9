import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { CommandError } from '@slipway/kube/command';
import type { OperatorDescription } from '@slipway/runtime';

import type { FoundCommand, SlipwayCommand } from './slipway-command.ts';

/** A package that brings an operator, commands or both. */
export interface SlipwayPackage {
  readonly name: string;
  /** Its folder. */
  readonly folder: string;
  readonly operator?: {
    /** Its main module. */
    readonly module: string;
    /** What it exports its description as. */
    readonly exported: string;
  };
  readonly commands: readonly CommandModule[];
  /** Folders with files it reads at run time, which lie beside its modules. */
  readonly folders: readonly string[];
}

/** A command as the `package.json` of its package names it. */
export interface CommandModule {
  readonly name: string;
  readonly summary: string;
  /** Exports the command as `command`. */
  readonly module: string;
  /** Subcommands that end within moments, and have a program of their own for it (brief-program.ts). */
  readonly brief: readonly string[];
}

interface PackageManifest {
  readonly name: string;
  /** `.` is the main module: the source here, the built file in what is published. */
  readonly exports?: Readonly<Record<string, string>>;
  readonly slipway?: {
    readonly operator?: string;
    /** Folders with files it reads at run time. Default: `manifests`. */
    readonly folders?: readonly string[];
    readonly commands?: Readonly<
      Record<string, { readonly summary: string; readonly module: string; readonly brief?: readonly string[] }>
    >;
  };
}

const ownFolder = join(import.meta.dirname, '..');
const besideThis = join(ownFolder, '..');

/**
 * The packages in a folder whose `package.json` has a `slipway` part: `operator` names the exported description, `commands`
 * has a module and a summary for each subcommand. The command's own come first. Adding a package changes nothing here.
 */
export async function findPackages(packages = besideThis): Promise<SlipwayPackage[]> {
  const found: SlipwayPackage[] = [];
  for (const entry of (await readdir(packages)).sort()) {
    const folder = join(packages, entry);
    const text = await readFile(join(folder, 'package.json'), 'utf8').catch(() => undefined);
    if (text === undefined) continue;
    const { name, exports, slipway } = JSON.parse(text) as PackageManifest;
    if (slipway === undefined) continue;
    const { operator, commands = {}, folders = ['manifests'] } = slipway;
    found.push({
      name,
      folder,
      folders,
      ...(operator === undefined
        ? {}
        : { operator: { module: join(folder, exports?.['.'] ?? 'index.js'), exported: operator } }),
      commands: Object.entries(commands).map(([called, { summary, module, brief = [] }]) => ({
        name: called,
        summary,
        module: join(folder, module),
        brief,
      })),
    });
  }
  return found.sort((a, b) => Number(b.folder === ownFolder) - Number(a.folder === ownFolder));
}

/** All commands there are. The bundle has a list made by the same rule when it is built. */
export async function findCommands(packages?: string): Promise<FoundCommand[]> {
  const found = await findPackages(packages);
  return found.flatMap(({ name: from, commands }) =>
    commands.map(({ name, summary, module }) => ({
      name,
      summary,
      load: async () => exported<SlipwayCommand>(await load(module), 'command', from),
    })),
  );
}

/** All operators there are. */
export async function findOperators(packages?: string): Promise<OperatorDescription[]> {
  const found: OperatorDescription[] = [];
  for (const { name, operator } of await findPackages(packages)) {
    if (operator === undefined) continue;
    found.push(exported<OperatorDescription>(await load(operator.module), operator.exported, name));
  }
  return inOrder(found);
}

async function load(module: string): Promise<Record<string, unknown>> {
  return (await import(pathToFileURL(module).href)) as Record<string, unknown>;
}

function exported<T>(module: Readonly<Record<string, unknown>>, name: string, from: string): T {
  const value = module[name];
  if (value === undefined) throw new CommandError(`${from}: its package.json names ${name}, which it does not export`);
  return value as T;
}

/** Operand first: the others build on what it shows. Then by name. */
export function inOrder(operators: readonly OperatorDescription[]): OperatorDescription[] {
  return [...operators].sort((a, b) => rank(a) - rank(b) || (a.name < b.name ? -1 : 1));
}

function rank(operator: OperatorDescription): number {
  return operator.name === 'operand' ? 0 : 1;
}
