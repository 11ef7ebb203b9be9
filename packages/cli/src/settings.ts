import type { OperatorDescription, OperatorSettings } from '@slipway/runtime';

/** Values from a configuration file, by flag name. */
export type SettingsSource = Readonly<Record<string, string | undefined>>;

export interface ResolvedSettings extends OperatorSettings {
  /** Where each value came from, for `--verbose`. */
  readonly origins: readonly { readonly name: string; readonly value: string; readonly from: string }[];
}

/** The environment variable of a flag. */
export function environmentName(flag: { name: string; env?: string }): string {
  return flag.env ?? `SLIPWAY_${flag.name.toUpperCase().replaceAll('-', '_')}`;
}

/** Flags win over the environment, the environment over the file, the file over the default. */
export function operatorSettings(
  operators: readonly OperatorDescription[],
  sources: { flags: SettingsSource; env: SettingsSource; config: SettingsSource },
): ResolvedSettings {
  const values: Record<string, string | undefined> = {};
  const origins: { name: string; value: string; from: string }[] = [];
  for (const flag of operators.flatMap((operator) => operator.flags ?? [])) {
    const variable = environmentName(flag);
    const candidates = [
      { value: sources.flags[flag.name], from: `--${flag.name}` },
      { value: sources.env[variable], from: variable },
      { value: sources.config[flag.name], from: 'configuration file' },
      { value: flag.default, from: 'default' },
    ];
    const chosen = candidates.find((candidate) => candidate.value !== undefined);
    if (!chosen) continue;
    values[flag.name] = chosen.value;
    origins.push({ name: flag.name, value: chosen.value!, from: chosen.from });
  }
  return { flags: values, env: sources.env, origins };
}
