import { readFile } from 'node:fs/promises';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { RE2JS } from 're2js';
import { parse, YAMLParseError } from 'yaml';

import type { FormatName } from './formats/format.ts';
import { ruleFields, type SelectionRule } from './selection.ts';
import { SopsError } from './sops-error.ts';

/** What `.sops.yaml` says about a new file. */
export interface CreationRule {
  /** Age recipients. */
  readonly recipients: readonly string[];
  readonly rule: SelectionRule;
  readonly macOnlyEncrypted: boolean;
}

const maxDepth = 100;
const maxIndent = 100;

/** Keys that are not age: a file for which they were left out would be closed to their holders. */
const otherKeys = ['kms', 'gcp_kms', 'hckms', 'azure_keyvault', 'hc_vault_transit_uri', 'hc_vault', 'pgp'];

/**
 * The nearest `.sops.yaml` in the folder of the path or above it. The sops command, and `slipway sops`, begin in the folder they are
 * called in, wherever the file is.
 */
export async function findConfigFile(path: string): Promise<string | undefined> {
  let folder = dirname(resolve(path));
  for (let depth = 0; depth < maxDepth; depth += 1) {
    const candidate = join(folder, '.sops.yaml');
    if (await exists(candidate)) return candidate;
    const above = dirname(folder);
    if (above === folder) return undefined;
    folder = above;
  }
  return undefined;
}

/** What counts besides the file. */
export interface CreationRuleOptions {
  /** Recipients that are used instead of those of the rule, whatever keys it names. */
  readonly recipients?: readonly string[];
}

/** The first creation rule of a configuration file whose `path_regex` matches; undefined when the file has no rules at all. */
export async function creationRuleFor(
  path: string,
  configFile: string,
  options: CreationRuleOptions = {},
): Promise<CreationRule | undefined> {
  const rules = rulesIn(await readConfig(configFile), configFile);
  if (rules === undefined) return undefined;
  const tried = pathForRules(path, configFile);
  for (const [index, rule] of rules.entries()) {
    const where = `${configFile}: creation_rules[${index}]`;
    const pattern = rule['path_regex'];
    if (!isAbsent(pattern) && !matches(pattern, tried, where)) continue;
    return {
      recipients: options.recipients ?? recipientsOf(rule, where),
      rule: selectionIn(rule, where),
      macOnlyEncrypted: flag(rule, 'mac_only_encrypted', where),
    };
  }
  throw new SopsError('config', `${configFile}: no creation rule matches ${tried}`, {
    hint: 'add one, or a last rule without path_regex for all other files',
  });
}

/** Relative to the configuration file when the file is below it. */
function pathForRules(path: string, configFile: string): string {
  const below = relative(dirname(resolve(configFile)), resolve(path)).split(sep);
  return below[0] === '..' ? resolve(path) : below.join('/');
}

async function readConfig(configFile: string): Promise<Record<string, unknown>> {
  const text = await readFile(configFile, 'utf8').catch((cause: NodeJS.ErrnoException) => {
    throw new SopsError('config', `cannot read ${configFile} (${cause.code})`, { cause });
  });
  try {
    const content: unknown = parse(text, { merge: true });
    return isRecord(content) ? content : {};
  } catch (cause) {
    const at = cause instanceof YAMLParseError ? cause.linePos?.[0] : undefined;
    const place = at === undefined ? '' : ` at line ${at.line}, column ${at.col}`;
    throw new SopsError('config', `${configFile}: not valid YAML${place}`, { cause });
  }
}

/** How many blanks `stores` of a configuration file wants for each level of a format; undefined where it says nothing. */
export async function indentOf(configFile: string, format: FormatName): Promise<number | undefined> {
  const content = await readConfig(configFile);
  const store = format === 'binary' ? 'json_binary' : format;
  const stores = content['stores'];
  const settings = isRecord(stores) ? stores[store] : undefined;
  const indent = (isRecord(settings) ? settings['indent'] : undefined) ?? undefined;
  if (indent === undefined || (format === 'yaml' && indent === 0) || (format !== 'yaml' && indent === -1))
    return undefined;
  if (typeof indent === 'number' && Number.isInteger(indent) && indent >= 0 && indent <= maxIndent) return indent;
  throw new SopsError(
    'config',
    `${configFile}: stores.${store}.indent: expected a number of blanks up to ${maxIndent}`,
  );
}

function rulesIn(content: Record<string, unknown>, configFile: string): Record<string, unknown>[] | undefined {
  const rules = content['creation_rules'];
  if (rules === undefined || rules === null) return undefined;
  if (!Array.isArray(rules) || !rules.every(isRecord)) {
    throw new SopsError('config', `${configFile}: creation_rules has to be a list of maps`);
  }
  rules.forEach((rule, index) => {
    refuseUnknown(rule, ruleKeys, `${configFile}: creation_rules[${index}]`);
  });
  return rules;
}

/** What a rule can say. A word that is none of these would be a rule that is not followed. */
const ruleKeys = new Set<string>([
  'path_regex',
  'age',
  'key_groups',
  'mac_only_encrypted',
  ...Object.values(ruleFields),
  ...otherKeys,
  // Of use with other keys only.
  'aws_profile',
  'shamir_threshold',
]);

const groupKeys = new Set(['merge', 'age', 'kms', 'gcp_kms', 'hckms', 'azure_keyvault', 'hc_vault', 'pgp']);

function refuseUnknown(part: Record<string, unknown>, known: ReadonlySet<string>, where: string): void {
  const unknown = Object.keys(part).find((key) => !known.has(key));
  if (unknown === undefined) return;
  throw new SopsError('config', `${where}.${unknown}: a rule has no such key`, {
    hint: `known keys: ${[...known].join(', ')}`,
  });
}

/** As YAML 1.1 has it, and with it the sops command. */
function flag(rule: Record<string, unknown>, key: string, where: string): boolean {
  const value = rule[key] ?? false;
  if (typeof value === 'boolean') return value;
  if (typeof value === 'string' && /^(y|yes|on)$/i.test(value)) return true;
  if (typeof value === 'string' && /^(n|no|off)$/i.test(value)) return false;
  throw new SopsError('config', `${where}.${key}: expected true or false`);
}

function selectionIn(rule: Record<string, unknown>, where: string): SelectionRule {
  const named: Record<string, string> = {};
  for (const [field, name] of Object.entries(ruleFields)) {
    const text = rule[name];
    if (isAbsent(text)) continue;
    if (typeof text !== 'string') throw new SopsError('config', `${where}.${name}: expected a string`);
    named[field] = text;
  }
  if (Object.keys(named).length > 1) {
    throw new SopsError('config', `${where}: only one of ${Object.values(ruleFields).join(', ')} can be used`);
  }
  return named;
}

function recipientsOf(rule: Record<string, unknown>, where: string): string[] {
  const groups = rule['key_groups'];
  if (isAbsent(groups)) return inGroup(rule, where);
  if (!Array.isArray(groups) || !groups.every(isRecord)) {
    throw new SopsError('config', `${where}.key_groups: expected a list of maps`);
  }
  const [group, ...others] = groups;
  if (group === undefined || others.length > 0) {
    throw new SopsError('unsupported', `${where}.key_groups: several groups (Shamir) are not supported`, {
      hint: 'use the sops command for these files, or one group',
    });
  }
  refuseUnknown(group, groupKeys, `${where}.key_groups[0]`);
  return inGroup(group, `${where}.key_groups[0]`);
}

function inGroup(group: Record<string, unknown>, where: string): string[] {
  const other = otherKeys.find((key) => !isAbsent(group[key]));
  if (other !== undefined) {
    throw new SopsError('unsupported', `${where}.${other}: only age keys can be used here`, {
      hint: 'use the sops command for these files, or name recipients with --age',
    });
  }
  const merged = group['merge'] ?? [];
  if (!Array.isArray(merged) || !merged.every(isRecord)) {
    throw new SopsError('config', `${where}.merge: expected a list of maps`);
  }
  return [
    ...merged.flatMap((part, index) => {
      refuseUnknown(part, groupKeys, `${where}.merge[${index}]`);
      return inGroup(part, `${where}.merge[${index}]`);
    }),
    ...ageList(group['age'], `${where}.age`),
  ];
}

function ageList(value: unknown, where: string): string[] {
  if (isAbsent(value)) return [];
  const parts: unknown[] = Array.isArray(value) ? value : [value];
  if (!parts.every((part) => typeof part === 'string')) {
    throw new SopsError('config', `${where}: expected recipients, as a list or separated by commas`);
  }
  return parts
    .flatMap((part) => part.split(','))
    .map((part) => part.trim())
    .filter((part) => part !== '');
}

/** As sops sees it: empty is as good as not there. */
function isAbsent(value: unknown): value is undefined | null | '' {
  return value === undefined || value === null || value === '' || (Array.isArray(value) && value.length === 0);
}

function matches(pattern: unknown, path: string, where: string): boolean {
  if (typeof pattern !== 'string') throw new SopsError('config', `${where}.path_regex: expected a string`);
  try {
    return RE2JS.compile(pattern).matcher(path).find();
  } catch (cause) {
    throw new SopsError('config', `${where}.path_regex: '${pattern}' is not a regular expression (RE2)`, { cause });
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

async function exists(path: string): Promise<boolean> {
  return await readFile(path).then(
    () => true,
    () => false,
  );
}
