import { readFile } from 'node:fs/promises';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { RE2JS } from 're2js';
import { parse, YAMLParseError } from 'yaml';

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
  const text = await readFile(configFile, 'utf8').catch((cause: NodeJS.ErrnoException) => {
    throw new SopsError('config', `cannot read ${configFile} (${cause.code})`, { cause });
  });
  const rules = rulesOf(text, configFile);
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

function rulesOf(text: string, configFile: string): Record<string, unknown>[] | undefined {
  let content: unknown;
  try {
    content = parse(text, { merge: true });
  } catch (cause) {
    const at = cause instanceof YAMLParseError ? cause.linePos?.[0] : undefined;
    const place = at === undefined ? '' : ` at line ${at.line}, column ${at.col}`;
    throw new SopsError('config', `${configFile}: not valid YAML${place}`, { cause });
  }
  const rules = isRecord(content) ? content['creation_rules'] : undefined;
  if (rules === undefined || rules === null) return undefined;
  if (!Array.isArray(rules) || !rules.every(isRecord)) {
    throw new SopsError('config', `${configFile}: creation_rules has to be a list of maps`);
  }
  rules.forEach((rule, index) => {
    refuseUnknown(rule, `${configFile}: creation_rules[${index}]`);
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

function refuseUnknown(rule: Record<string, unknown>, where: string): void {
  const unknown = Object.keys(rule).find((key) => !ruleKeys.has(key));
  if (unknown === undefined) return;
  throw new SopsError('config', `${where}.${unknown}: a rule has no such key`, {
    hint: `known keys: ${[...ruleKeys].join(', ')}`,
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
  if (!Array.isArray(groups) || groups.length !== 1 || !isRecord(groups[0])) {
    throw new SopsError('unsupported', `${where}.key_groups: several groups (Shamir) are not supported`, {
      hint: 'use the sops command for these files, or one group',
    });
  }
  return inGroup(groups[0], `${where}.key_groups[0]`);
}

function inGroup(group: Record<string, unknown>, where: string): string[] {
  const other = otherKeys.find((key) => !isAbsent(group[key]));
  if (other !== undefined) {
    throw new SopsError('unsupported', `${where}.${other}: only age keys can be used here`, {
      hint: 'use the sops command for these files, or name recipients with --age',
    });
  }
  const merged: unknown[] = Array.isArray(group['merge']) ? group['merge'] : [];
  return [
    ...merged.filter(isRecord).flatMap((part, index) => inGroup(part, `${where}.merge[${index}]`)),
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
