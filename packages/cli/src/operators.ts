import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Controller, OperatorDescription, OperatorSettings } from '@slipway/runtime';

import { CliError, exitCodes } from './cli-error.ts';

/**
 * The operators there are: every package beside this one whose `package.json` names its description under
 * `slipway.operator`. The bundle has a list made by the same rule when it is built. Adding an operator changes nothing here.
 */
export async function findOperators(packages = join(import.meta.dirname, '..', '..')): Promise<OperatorDescription[]> {
  const found: OperatorDescription[] = [];
  for (const { name, entry, exported } of await operatorPackages(packages)) {
    const module = (await import(pathToFileURL(entry).href)) as Record<string, unknown>;
    const description = module[exported];
    if (description === undefined)
      throw new CliError(`${name}: its package.json names ${exported}, which it does not export`);
    found.push(description as OperatorDescription);
  }
  return inOrder(found);
}

/** Operand first: the others build on what it shows. Then by name. */
export function inOrder(operators: readonly OperatorDescription[]): OperatorDescription[] {
  return [...operators].sort((a, b) => rank(a) - rank(b) || (a.name < b.name ? -1 : 1));
}

function rank(operator: OperatorDescription): number {
  return operator.name === 'operand' ? 0 : 1;
}

export interface OperatorPackage {
  readonly name: string;
  /** Its folder. */
  readonly folder: string;
  /** Its main module. */
  readonly entry: string;
  /** What it exports its description as. */
  readonly exported: string;
}

/** Packages that bring an operator. */
export async function operatorPackages(packages: string): Promise<OperatorPackage[]> {
  const found: OperatorPackage[] = [];
  for (const folder of (await readdir(packages)).sort()) {
    const text = await readFile(join(packages, folder, 'package.json'), 'utf8').catch(() => undefined);
    if (text === undefined) continue;
    const manifest = JSON.parse(text) as { name: string; slipway?: { operator?: string } };
    if (manifest.slipway?.operator === undefined) continue;
    found.push({
      name: manifest.name,
      folder: join(packages, folder),
      entry: join(packages, folder, 'src', 'index.ts'),
      exported: manifest.slipway.operator,
    });
  }
  return found;
}

/** The named operators, or all. An unknown name is an error that lists the known ones. */
export function chooseOperators(
  all: readonly OperatorDescription[],
  names: readonly string[],
): readonly OperatorDescription[] {
  for (const name of names) {
    if (!all.some((operator) => operator.name === name)) {
      throw new CliError(`there is no operator '${name}'`, {
        hint: `known operators: ${all.map((operator) => operator.name).join(', ')}`,
        exitCode: exitCodes.usage,
      });
    }
  }
  return names.length === 0 ? all : all.filter((operator) => names.includes(operator.name));
}

/** The controllers of an operator. It refuses settings it cannot work with; that is the user's to mend. */
export function controllersOf(operator: OperatorDescription, settings: OperatorSettings): readonly Controller[] {
  try {
    return operator.controllers(settings);
  } catch (error) {
    throw new CliError(error instanceof Error ? error.message : String(error), {
      hint: 'slipway run --help lists the settings; name operators to run only those',
      exitCode: exitCodes.usage,
      cause: error,
    });
  }
}
