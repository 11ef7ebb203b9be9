import { CommandError, ConfigMap, Deployment, exitCodes, type Client } from '@slipway/kube';
import type { OperatorDescription } from '@slipway/runtime';
import { parse } from 'yaml';

import {
  defaultReplicas,
  imageName,
  settingsFile,
  versionLabel,
  workloadName,
  type PodSettings,
} from './install-objects.ts';
import { runFlags } from './run-flags.ts';
import type { SettingsFile } from './settings.ts';
import type { OperatorChoice } from './slipway-command.ts';

/** Flags of `run` that an installation decides itself. */
const decided: ReadonlySet<string> = new Set([
  'install-crds',
  'leader-elect',
  'leader-election-namespace',
  'health-port',
  'metrics-port',
  'bind-address',
  'webhook-service',
  'webhook-url',
  'webhook-port',
]);
const passedOn: ReadonlySet<string> = new Set(Object.keys(runFlags).filter((flag) => !decided.has(flag)));

/** What the user says about pods, besides the operators' own flags. */
export interface SaidSettings {
  /** `NAME=VALUE`, by flag name; an empty value takes the setting back. */
  readonly set: readonly string[];
  /** `NAME=VALUE`, environment variables; an empty value takes the variable back. */
  readonly env: readonly string[];
  /** What the file of `--config` says. */
  readonly file: SettingsFile;
}

type Values = Readonly<Record<string, string>>;

/** What the pods of each chosen operator are told: what an earlier install told them, with what is said now over it. */
export function podSettings(
  choice: OperatorChoice,
  said: SaidSettings,
  before: ReadonlyMap<string, PodSettings>,
): (operator: OperatorDescription) => PodSettings {
  const set = pairs('set', said.set);
  for (const name of Object.keys(set)) refuseUnknown(name, choice.operators);
  const env = pairs('env', said.env);
  const fromFile = Object.fromEntries(Object.entries(said.file).filter(([name]) => passedOn.has(name)));
  return (operator) => {
    const known = before.get(operator.name) ?? { config: {}, env: {} };
    const own = prefixed(operator, choice.givenTo(operator));
    const setHere = Object.fromEntries(
      Object.entries(set).flatMap(([name, value]) => {
        const key = keyFor(name, operator);
        return key === undefined ? [] : [[key, value]];
      }),
    );
    return {
      config: merged(known.config, { ...fromFile, ...own, ...setHere }),
      env: merged(known.env, env),
      ...keptPods(known, imageName(choice.packageOf(operator))),
    };
  };
}

function keptPods({ image, version, replicas }: PodSettings, ours: string): Omit<PodSettings, 'config' | 'env'> {
  return {
    ...(image === undefined || isOwnImage(image, ours) ? {} : { image, ...(version === undefined ? {} : { version }) }),
    ...(replicas === undefined || replicas === defaultReplicas ? {} : { replicas }),
  };
}

/** An image that has the name of ours comes with the version of the command; any other is where somebody has put it. */
export function isOwnImage(image: string, ours: string): boolean {
  return image.replace(/[:@][^/]*$/, '') === ours;
}

function merged(before: Values, now: Values): Values {
  return Object.fromEntries(Object.entries({ ...before, ...now }).filter(([, value]) => value !== ''));
}

function prefixed(operator: OperatorDescription, flags: Values): Values {
  return Object.fromEntries(Object.entries(flags).map(([flag, value]) => [`${operator.name}-${flag}`, value]));
}

/** The key of a setting in the file of an operator's pods; `undefined` when it is not about them. */
function keyFor(name: string, operator: OperatorDescription): string | undefined {
  if (passedOn.has(name)) return name;
  const flag = (operator.flags ?? []).find((each) => name === each.name || name === `${operator.name}-${each.name}`);
  return flag && `${operator.name}-${flag.name}`;
}

function refuseUnknown(name: string, operators: readonly OperatorDescription[]): void {
  if (operators.some((operator) => keyFor(name, operator) !== undefined)) return;
  throw new CommandError(`--set: there is no setting '${name}' for ${operators.map((each) => each.name).join(', ')}`, {
    hint: decided.has(name)
      ? 'install decides it itself'
      : 'slipway run --help lists the settings; --env sets environment variables',
    exitCode: exitCodes.usage,
  });
}

function pairs(flag: string, texts: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    texts.map((text) => {
      const at = text.indexOf('=');
      if (at > 0) return [text.slice(0, at), text.slice(at + 1)];
      throw new CommandError(`--${flag} must be NAME=VALUE, not '${text}'`, { exitCode: exitCodes.usage });
    }),
  );
}

/** What an earlier install told the pods of these operators. */
export async function readPodSettings(
  client: Client,
  operators: readonly OperatorDescription[],
  namespace: string,
  signal: AbortSignal,
): Promise<Map<string, PodSettings>> {
  const found = new Map<string, PodSettings>();
  for (const operator of operators) {
    const name = workloadName(operator);
    const config = await client.get(ConfigMap, { namespace, name: `${name}-config` }, { signal });
    const deployment = await client.get(Deployment, { namespace, name }, { signal });
    const { replicas } = deployment?.spec ?? {};
    const version = deployment?.metadata.labels?.[versionLabel];
    const { image, env: variables = [] } = deployment?.spec?.template.spec?.containers[0] ?? {};
    found.set(operator.name, {
      ...(image === undefined ? {} : { image }),
      ...(replicas === undefined ? {} : { replicas }),
      ...(version === undefined ? {} : { version }),
      config: textMap(config?.data?.[settingsFile]),
      // What comes from a Secret or a field was put there by somebody else, and stays his.
      env: Object.fromEntries(
        variables.flatMap(({ name: each, value }) => (value === undefined ? [] : [[each, value]])),
      ),
    });
  }
  return found;
}

/** A file of ours, as it was written. Anything else counts as nothing: it is written anew. */
function textMap(text: string | undefined): Values {
  const content: unknown = text === undefined ? undefined : parse(text);
  if (typeof content !== 'object' || content === null) return {};
  return Object.fromEntries(Object.entries(content).map(([name, value]) => [name, String(value)]));
}
