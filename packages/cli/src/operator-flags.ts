import type { OperatorDescription, OperatorFlag, OperatorSettings, PermissionVariant } from '@slipway/runtime';
import { Option } from 'commander';

import { operatorFlagValue } from './flag-values.ts';
import { environmentName, withSources } from './settings.ts';

/** A flag of an operator as a command takes it. */
export interface OperatorOption<T> {
  readonly operator: OperatorDescription;
  readonly flag: T;
  readonly option: Option;
}

/** What a flag of an operator is called: `--<operator>-<flag>` always, the bare name where nothing else claims it. */
interface NamedFlag<T> {
  readonly operator: OperatorDescription;
  readonly flag: T;
  readonly full: string;
  readonly bare: string | undefined;
}

function nameFlags<T extends { readonly name: string }>(
  operators: readonly OperatorDescription[],
  flagsOf: (operator: OperatorDescription) => readonly T[],
  taken: ReadonlySet<string>,
): NamedFlag<T>[] {
  const rows = operators.flatMap((operator) =>
    flagsOf(operator).map((flag) => ({ operator, flag, full: `${operator.name}-${flag.name}` })),
  );
  const claims = new Map<string, number>();
  for (const name of [...taken, ...rows.flatMap(({ flag, full }) => [flag.name, full])])
    claims.set(name, (claims.get(name) ?? 0) + 1);
  return rows.map((row) => ({ ...row, bare: claims.get(row.flag.name) === 1 ? row.flag.name : undefined }));
}

/** Options for the settings of operators. `taken` are the command's own flags. */
export function settingOptions(
  operators: readonly OperatorDescription[],
  taken: ReadonlySet<string>,
): OperatorOption<OperatorFlag>[] {
  return nameFlags(operators, (operator) => operator.flags ?? [], taken).map(({ operator, flag, full, bare }) => {
    const variable = flag.env ?? environmentName(bare ?? full);
    const fallback = flag.default === undefined ? '' : `, default: ${flag.default}`;
    const option = new Option(
      `${flagsText(full, bare)} <${flag.type}>`,
      `${flag.description} (${variable}${fallback})`,
    ).argParser(operatorFlagValue(flag));
    withSources(option, { variables: [...new Set([environmentName(full), variable])], keys: named(full, bare) });
    return { operator, flag, option };
  });
}

/** Options for the permission variants of operators. `taken` are the command's own flags. */
export function variantOptions(
  operators: readonly OperatorDescription[],
  taken: ReadonlySet<string>,
): OperatorOption<PermissionVariant>[] {
  return nameFlags(operators, (operator) => operator.permissionVariants ?? [], taken).map(
    ({ operator, flag, full, bare }) => {
      const value = flag.value === undefined ? '' : ` <${flag.value}>`;
      const option = new Option(`${flagsText(full, bare)}${value}`, `${operator.title}: ${flag.description}`);
      withSources(option, { variables: [], keys: [] });
      return { operator, flag, option };
    },
  );
}

function flagsText(full: string, bare: string | undefined): string {
  return named(full, bare)
    .toReversed()
    .map((name) => `--${name}`)
    .join(', ');
}

function named(full: string, bare: string | undefined): string[] {
  return bare === undefined ? [full] : [full, bare];
}

/** What somebody said about an operator's flags, as text. */
export function givenSettings(
  operator: OperatorDescription,
  options: readonly OperatorOption<OperatorFlag>[],
  valueOf: (option: Option) => unknown,
): Record<string, string> {
  const flags: Record<string, string> = {};
  for (const { operator: owner, flag, option } of options) {
    const value = owner === operator ? valueOf(option) : undefined;
    if (value !== undefined) flags[flag.name] = String(value);
  }
  return flags;
}

/** Those, and the defaults of what nobody said. */
export function withDefaults(
  operator: OperatorDescription,
  given: Readonly<Record<string, string>>,
): OperatorSettings['flags'] {
  const defaults = (operator.flags ?? []).flatMap((flag) =>
    flag.default === undefined ? [] : [[flag.name, flag.default] as const],
  );
  return { ...Object.fromEntries(defaults), ...given };
}
